# Shared by the scripts of tests/trial, sourced after sh.sh.
# shellcheck shell=bash

program=$PROGRAMS/trial

# tried NAME N ARG...: runs the program under the library (STAGGER_TRIAL from the environment) and,
# the first time, also without it
tried() {
    rm -rf "$1.trace"
    observe "$1" "$2" "$program" "${@:3}"
    [ -s "stock-$2-${*:3}.out" ] || patient "$2" "$program" "${@:3}" >"stock-$2-${*:3}.out" 2>/dev/null
}

hashes() { grep -h '^rank' "$1" | sort; }

# like_stock NAME N ARG...: status 0, and the same results to the last bit as without the library
like_stock() {
    is 0 "$status" && is "$(hashes "stock-$2-${*:3}.out")" "$(hashes "$1.out")" &&
        is "$2" "$(hashes "$1.out" | wc -l)"
}

# arms NAME BLOCK: writes its blocks to NAME.arms; fails if ranks differ
arms() {
    "$PYTHON" "$ROOT/tests/trial/arms.py" "$1.trace/traces.otf2" "$2" >"$1.arms" && [ -s "$1.arms" ] &&
        return
    cat "$1.arms"
    return 1
}

# order NAME TRIAL: its candidates by block, on MPI_COMM_WORLD
order() { awk -v trial="$2" '$1 == trial && $2 == 2 { print $3 ":" $4 }' "$1.arms"; }

# says NAME TEXT: one line of the library contains the text, a fixed string
says() {
    is 1 "$(grep -cF -- "$2" "$1.err")" && return
    cat "$1.err"
    return 1
}

# of_trial FILE TRIAL FIELD: the sum over the candidates in the trial's reports
of_trial() {
    json "$1" "sum(a['$3'] for t in d['trials'] if t['trial'] == '$2' for a in t['arms'])"
}

# verdict FILE: the verdict of its only trial, by time blocked
verdict() {
    json "$1" '"%s %s" % tuple(d["trials"][0]["blocked"][field] for field in ("winner", "verdict"))'
}

# agree_on RANKS ITERATIONS: trials at call sites of one node's ranks
agree_on() {
    local ranks=$1 iterations=$2 name=on-$1
    STAGGER_TRIAL="allreduce@common=mpich|handoff|srm; reduce@to_root=srm|handoff; allreduce@from_one=mpich|srm; allreduce@of_half=handoff|srm; allreduce@own_operation=mpich|srm; bcast@told=mpich|srm" \
        STAGGER_TRIAL_BLOCK=10 tried "$name" "$ranks" "$iterations"
    check "$ranks ranks run a trial's algorithms with stock's results" \
        like_stock "$name" "$ranks" "$iterations"
    check "... all ranks choose the same candidate in each instance, from other call sites too" arms "$name" 10
    check "... the archive is sound" all "archive_agrees $name.trace $name.out" \
        "archive_sound $name.trace"
    check "... the order is the same for any number of ranks" \
        is "$(order on-2 allreduce@common | head -n "$(wc -l < <(order "$name" allreduce@common))")" \
        "$(order "$name" allreduce@common)"
}
