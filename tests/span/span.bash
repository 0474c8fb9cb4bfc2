# Shared by the scripts of tests/span, sourced after sh.sh and engine.bash: runs between virtual
# nodes.
# shellcheck shell=bash

# The progress modes there are. A mode that is not there is told of.
MODES=poll
if "$STAGGER" info | grep -q '^  STAGGER_PROGRESS='; then
    MODES='poll thread signal'
else
    skip "asynchronous progress between nodes" "there is no STAGGER_PROGRESS"
fi

# in_mode MODE COMMAND...: with that progress mode
in_mode() {
    local mode=$1
    shift
    if [ "$MODES" = poll ]; then
        "$@"
    else
        STAGGER_PROGRESS=$mode "$@"
    fi
}

# run_across NAME MODE RANKS-PER-NODE RULES N PROGRAM ARG...
run_across() {
    local name=$1 mode=$2 each=$3 rules=$4
    shift 4
    rm -rf "$name.trace"
    STAGGER_RANKS_PER_NODE=$each STAGGER_RULES=$rules in_mode "$mode" observe "$name" "$@"
}

# algorithms_of NAME FUNCTION: those that ran the calls from that function, from NAME.calls
algorithms_of() { awk -v name="$2" '$6 == name { print $5 }' "$1.calls" | sort -u | paste -sd ' '; }

# Protocols by rules, so that every operation has one: all of them, and parameters far apart.
SPAN_RULES=(
    '*=adaptive;*=bypass'
    '*=tree'
    'barrier=dissemination;allreduce=pairwise;*=bypass(deterministic=0)'
    '*=adaptive(degree=2,tokens=3);*=bypass(linger=20)'
    '*=adaptive(tokens=2,predict=1,deterministic=0);*=tree(degree=1)'
    '*=tree(degree=2);*=bypass'
)
