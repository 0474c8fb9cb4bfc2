#!/bin/bash
# Reductions within a node write only values to the program's memory, nothing between or around
# them, in every form and at every size.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# values_by NAME ALGORITHM: it ran every call with elements; MPICH ran those without.
values_by() {
    awk -v algorithm="$2" '$6 == "call" && $5 != ($4 > 0 ? algorithm : "mpich") { print; bad = 1 }
        $6 == "call" { calls++ } END { exit bad || !calls }' "$1.calls"
}

for rule in srm handoff 'srm(form=climb)' 'srm(form=chunks)'; do
    in_turn 2 3
    for ranks in "${turn[@]}"; do
        run_by holes "$rule" "$ranks" "$PROGRAMS/holes"
        check "reductions write only values, and the right ones ($rule, $ranks ranks)" gave holes
        calls_of holes
        check "the library runs calls with elements ($rule, $ranks ranks)" \
            values_by holes "${rule%(*}"
    done
done
