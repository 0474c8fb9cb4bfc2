#!/bin/bash
# bcs: where it runs, the lines printed for unusable settings, and programs' results compared with
# runs without the library. results.sh checks its results bit for bit.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"
. "$ROOT/tests/internode/internode.bash"

steps() { grep '^step ' "$1"; }
# solves NAME RULE RANKS RANKS-PER-NODE: the solver reaches the same residuals as without the
# library
solves() {
    run_across "$1" "${MODE:-thread}" "$4" "$2" "$3" "$PROGRAMS/cg" -n 16 -t 2 -s 1 -w 20
    is 0 "$status" && same <(steps plain.out) <(steps "$1.out")
}
# ran NAME: the algorithms of its collectives, each once; MPICH runs the first on a communicator
ran() {
    "$STAGGER" report -j "$1.trace" | "$PYTHON" -c '
import json, sys
names = {a for s in json.load(sys.stdin)["sites"] for a in s["algorithm"].split("+")}
print(*sorted(names - {"mpich"}))'
}

for ranks in $(modes 3 2); do
    compare plain "$ranks" "$PROGRAMS/cg" -n 16 -t 2 -s 1 -w 20
    mv plain.plain.out plain.out
    for parameters in slice=200 slice=100,restart=slice slice=200,strobe=always \
        slice=100,microphases=separate,budget=4,degree=2; do
        check "a solver has the same result as without the library ($parameters, $ranks ranks)" \
            solves solver "*=bcs($parameters)" "$ranks" 1
        check "... bcs runs its calls" is bcs "$(ran solver)"
    done
done
check "... the archive is sound" archive_sound solver.trace
export STAGGER_TRACE=stats

# ---- where bcs does not run ----------------------------------------------------------------------

check "several ranks a node solve it, too" solves several '*=bcs(slice=200)' 3 2
check "... bcs runs the calls between nodes" is bcs "$(ran several)"
check "inside a node the rule is skipped" solves inside '*=bcs' 3 3
check "... other rules hold inside a node" all '[ -n "$(ran inside)" ]' '! ran inside | grep -qw bcs'

# ---- unusable settings ---------------------------------------------------------------------------

for mode in poll signal; do
    check "without a thread strobes come on demand, and one line says so ($mode)" all \
        'MODE=$mode solves $mode "*=bcs(slice=200,strobe=always)" 3 1' \
        'has_lines $mode.err "^stagger: bcs.strobe=always. requires progress=thread; using strobe=demand$" 1'
done
check "... strobes come always with a rule's own thread" all \
    'MODE=poll solves thread "*=bcs(slice=200,strobe=always,progress=thread)" 3 1' 'lacks thread.err "strobe=demand"'
wrong=(slice=99 slice=1000001 budget=3 restart=never strobe=1 degree=1 credits=4)
rules=("${wrong[@]/#/*=bcs(}")
run_across wrong thread 1 "$(IFS=';'; echo "${rules[*]/%/)}")" 2 "$PROGRAMS/cg" -n 16 -t 2 -s 1 -w 20
check "the program runs without the rules that are refused" all 'is 0 "$status"' '! ran wrong | grep -qw bcs'
for name in "${wrong[@]}"; do
    check "a rule with $name is refused in one line" has_lines wrong.err "^stagger: .*$name" 1
done
unset STAGGER_TRACE

# ---- a slice too short for the machine -----------------------------------------------------------

# told ERR: the line is printed if, and only if, the machine's measured wake-up time calls for it
told() {
    local wake
    wake=$(otf2-print -I "$1.trace/traces.otf2" | grep -o 'wake_us=[0-9.]*' | cut -d = -f 2)
    # A busy machine may not have measured it in time.
    if "$PYTHON" -c "import sys; sys.exit(not $2 < 4 * ${wake:-0})"; then
        has_lines "$1.err" "^stagger: bcs.slice=$2.: slices are shorter than four wake-ups" 1
    else
        lacks "$1.err" wake-ups
    fi
}
for slice in 100 1000000; do
    run_across short thread 1 "bcast=mpich;barrier=bcs(slice=$slice)" 2 "$PROGRAMS/cg" -n 16 -t 2 -s 1 -w 20
    check "a slice of $slice us is reported when shorter than four wake-ups" told short "$slice"
done

check "nothing of the library is left in /dev/shm" no_shared_memory
