#!/bin/bash
# Live runs make the simulator's decisions: replaying each endpoint's events in their order of
# arrival causes the same actions. Covers reductions in given orders, and in any order that occurs.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

telling=$BUILD/variant-decisions
check "a library that prints its decisions builds" \
    make -C "$ROOT" --no-print-directory -j2 B="$telling" CPPFLAGS=-DSG_INTERNODE_DECISIONS=1 \
    "$telling/libstagger.so" "$telling/libstagger-otf2.so"
PRELOAD=$telling/libstagger.so
export STAGGER_TRACE=stats

# replayed PROTOCOL INSTANCES: the last run's decisions match the simulator's, with INSTANCES (a
# regular expression) instances on the world
replayed() {
    "$BUILD/tests/internode/replay" decisions-* >replay.out 2>&1 &&
        has replay.out "^$1 among [0-9]+: $2 instances, [0-9]+ events as in the simulator" && return
    cat replay.out
    return 1
}
# decide SENTENCE PROTOCOLS INSTANCES MODE RANKS-PER-NODE RULES RANKS PROGRAM ARG...
decide() {
    local sentence=$1 protocols=$2 instances=$3 protocol
    shift 3
    rm -f decisions-* words
    run_across decide "$@"
    check "$sentence: it runs to its end ($1)" is 0 "$status"
    for protocol in $protocols; do
        check "$sentence: $protocol decides the same as in the simulator ($1)" \
            replayed "$protocol" "$instances"
    done
}

scenario() { # SENTENCE EXPECTED STEP...
    local sentence=$1 mode instances
    shift 2
    instances=$(printf '%s\n' "$@" | grep -c '^7')
    for mode in $modes; do
        decide "$sentence" bypass "$instances" "$mode" 1 'reduce=bypass;*=mpich' 8 \
            "$PROGRAMS/internode_scenarios" "$@"
    done
}
. "$ROOT/tests/internode/scenarios.bash"

for mode in $(modes signal thread poll); do
    way=async
    [ $mode = poll ] && way=blocked
    decide "reduces with a late leaf" bypass 20 "$mode" 1 '*=adaptive;*=bypass' 4 \
        "$PROGRAMS/late" $way "$WORK/words" 20
    decide "communicators within and across" 'adaptive bypass' '[1-9][0-9]*' "$mode" 2 \
        '*=adaptive(degree=2,tokens=2);*=bypass(deterministic=0)' 4 "$PROGRAMS/virtual_nodes"
    decide "communicators of two" 'dissemination pairwise tree' '[1-9][0-9]*' "$mode" 1 \
        'barrier=dissemination;allreduce=pairwise;*=tree' 4 "$PROGRAMS/virtual_nodes"
    for protocol in handoff srm; do
        decide "communicators of two" $protocol '[1-9][0-9]*' "$mode" 1 \
            "barrier=$protocol;reduce=$protocol;*=$protocol" 4 "$PROGRAMS/virtual_nodes"
        # A parent of srm never leaves before its children arrive.
        decide "reduces of eight" $protocol 2 "$mode" 1 "reduce=$protocol;*=mpich" 8 \
            "$PROGRAMS/internode_scenarios" 7 6 5 4 3 2 1 0 7 6 5 4 3 2 1 0
    done
    [ $mode = poll ] && continue
    decide "posts ahead of others" 'adaptive bypass' '[1-9][0-9]*' "$mode" 1 \
        '*=adaptive;*=bypass' 3 "$PROGRAMS/posts" few-ahead
    for protocol in handoff srm; do
        STAGGER_SLOTS=2 decide "posts of one-sided protocols" $protocol '[1-9][0-9]*' "$mode" 1 \
            "*=$protocol" 3 "$PROGRAMS/posts" few-ahead
    done
done

# One-sided accesses take effect in orders that occur rarely in a run.
for round in $(seq 100); do
    decide "communicators of two, round $round" handoff '[1-9][0-9]*' signal 1 \
        "barrier=handoff;reduce=handoff;*=handoff" 4 "$PROGRAMS/virtual_nodes"
done

# ---- the comparison itself -----------------------------------------------------------------------
decide "reduces to be changed" bypass 20 thread 1 '*=adaptive;*=bypass' 4 \
    "$PROGRAMS/late" async "$WORK/words" 20
file=$(find . -maxdepth 1 -name 'decisions-*' -size +4k | sort | head -n 1)
changed() { # a byte of a decision's hash: the last of the record
    "$PYTHON" - "$file" <<'END'
import sys
with open(sys.argv[1], "r+b") as decisions:
    data = bytearray(decisions.read())
    data[-1] ^= 1
    decisions.seek(0)
    decisions.write(data)
END
}
check "a different decision is reported" all changed \
    '! "$BUILD/tests/internode/replay" decisions-* >differs.out' 'has differs.out "decides otherwise"'
check "an impossible event is reported" all 'truncate -s -4096 "$file"' \
    '! "$BUILD/tests/internode/replay" decisions-* >left.out' 'has left.out "events differ"'
