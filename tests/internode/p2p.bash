# Shared by the tests of messages in slices, sourced after internode.bash.
# shellcheck shell=bash disable=SC2034,SC2154 # what scripts use and set

CARRIED='p2p=bcs(slice=200,progress=thread)'

# Keeps only the program's own lines: MPICH warns of leaks.
lines() { grep "^[0-9]" "$1" | sort; }

# as_without NAME RULES RANKS RANKS-PER-NODE CASE...: the program prints the same lines as without
# the library; on a communicator of its own, as when MPICH carries the messages, because MPICH's
# ranks spin while they wait
as_without() {
    local name=$1 rules=$2 ranks=$3 each=$4 plain run=plain
    shift 4
    plain=plain-$ranks-$(tr ' ' - <<<"$*").out
    [ "$1" = on ] && run=mpirun_stagger
    [ -s "$plain" ] || STAGGER_TRACE=off $run "$ranks" "$PROGRAMS/sliced" "$@" >"$plain" 2>plain.err || return
    STAGGER_EMDS=on run_across "$name" thread "$each" "$rules" "$ranks" "$PROGRAMS/sliced" "$@"
    is 0 "$status" && lacks "$name.err" 'p2p=bcs:' && same <(lines "$plain") <(lines "$name.out")
}

# went_in_slices NAME: its slices matched messages
went_in_slices() {
    "$STAGGER" report --slices -j "$1.trace" | "$PYTHON" -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["slices"] if r["metric"] == "NP2PMSM"]
sys.exit(not rows or not all(r["max"] > 0 for r in rows))'
}
not_in_slices() { ! went_in_slices "$1"; }
