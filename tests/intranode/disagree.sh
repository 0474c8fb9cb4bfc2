#!/bin/bash
# Ranks that reach one instance in different ways: another call site is legal; another operation,
# size or root is not, and the others wait for a rank that does not arrive.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

program=$PROGRAMS/disagree

# ---- two call sites with two rules in one instance -----------------------------------------------------
site_rules() {
    echo "allreduce@first_site=$1; allreduce@second_site=$2"
}

for pair in 'srm handoff' 'handoff srm' 'srm mpich' 'mpich handoff'; do
    # shellcheck disable=SC2086 # two words
    STAGGER_RULES=$(line_rules $pair) observe sites 3 "$program" sites 300
    check_sites sites "$pair"
    rm -rf sites.trace
done
# shellcheck disable=SC2046
STAGGER_RULES=$(site_rules srm srm) observe alike 3 "$program" sites 300
check "two call sites with equal rules give no warning" gave alike

# ---- ranks that disagree ---------------------------------------------------------------------------------
disagrees() { # NAME ALGORITHM RANKS WAY...
    until_printed "$1.err" '^stagger: .* disagree' run_by "$1" "$2" "$3" "$program" "${@:4}"
}
for algorithm in srm handoff; do
    in_turn 2 3
    for ranks in "${turn[@]}"; do
        disagrees operation "$algorithm" "$ranks" operation
        check "another operation ends the job ($algorithm, $ranks ranks)" all \
            'within 1 123 "$status"' 'lacks operation.out finished'
        check "the message names both call sites ($algorithm, $ranks ranks)" has operation.err \
            '^stagger: .*(MPI_Barrier at [a-z_]+ disagree\.c:[0-9]+ #.*MPI_Allreduce of 8 bytes at [a-z_]+ disagree\.c:[0-9]+ #|MPI_Allreduce of 8 bytes at [a-z_]+ disagree\.c:[0-9]+ #.*MPI_Barrier at [a-z_]+ disagree\.c:[0-9]+ #)'

        disagrees bytes "$algorithm" "$ranks" bytes
        check "another size ends the job ($algorithm, $ranks ranks)" all \
            'within 1 123 "$status"' 'lacks bytes.out finished'
        check "the message names both sizes and call sites ($algorithm, $ranks ranks)" has bytes.err \
            '^stagger: .*of (8|16) bytes at [a-z_]+ disagree\.c:[0-9]+ #.*of (8|16) bytes at [a-z_]+ disagree\.c:[0-9]+ #'

        disagrees root "$algorithm" "$ranks" root
        check "another root ends the job, and the message names it ($algorithm, $ranks ranks)" all \
            'within 1 123 "$status"' 'lacks root.out finished' \
            'has root.err "^stagger: .*to root [01] at [a-z_]+ disagree\.c:[0-9]+ #.*to root [01] at [a-z_]+ disagree\.c:[0-9]+ #"'

        for count in 1 1000 8192 200000; do
            disagrees place "$algorithm" "$ranks" place "$count"
            check "MPI_IN_PLACE on one rank ends the job, and the message names it ($algorithm, $ranks ranks, $count)" \
                all 'within 1 123 "$status"' 'lacks place.out finished' \
                'has place.err "^stagger: .*(bytes at [a-z_]+ disagree.*bytes in place at [a-z_]+ disagree|bytes in place at [a-z_]+ disagree.*bytes at [a-z_]+ disagree)"'
        done
    done
done

# ---- non-fatal errors --------------------------------------------------------------------------------------
ways=(bcast:10,5 bcast:5,10 allreduce:1,2 allreduce:2,1 root operation)
for sizes in 3000,10 10,3000 3000,2000 200000,1 1,200000; do
    ways+=(bcast:$sizes allreduce:$sizes)
done
for run in '2 return' '3 call' '3 jump'; do
    read -r ranks handler <<<"$run"
    in_turn srm handoff
    for algorithm in "${turn[@]}"; do
        run_by errors "$algorithm" "$ranks" "$PROGRAMS/disagree_errors" "$handler" "${ways[@]}"
        check "when errors are not fatal, the call fails and later calls are right ($algorithm, $ranks ranks, $handler)" \
            all 'is 0 "$status"' 'has_lines errors.out "is done" $ranks' \
            'lacks errors.err disagree' 'archive_sound errors.trace'
    done
done

# ---- a missing rank ------------------------------------------------------------------------------------
# The rank arrives once the stall has been reported.
# seconds CONDITION COLUMN: the sum of a column of late.calls (see calls.py) where it holds
seconds() { awk "$1 { sum += \$$2 } END { printf \"%d\", sum / 1e9 }" late.calls; }
for algorithm in srm handoff; do
    STAGGER_STALL_S=1 STAGGER_RULES="*=$algorithm" release_after 'rank 2: ' late \
        mpirun_stagger 3 "$program" late "$WORK/released"
    check "a wait for a rank that is absent is reported once ($algorithm)" has_lines \
        late.err '^stagger: waiting for more than 1 s in MPI_Allreduce, instance #0 on MPI_COMM_WORLD, 3 ranks, at [a-z_]+ disagree\.c:[0-9]+:$' 1
    check "the report says in which collective every rank is ($algorithm)" all \
        'has late.err "^stagger:   rank 0: MPI_Allreduce of 8 bytes at [a-z_]+ disagree\.c:[0-9]+ #"' \
        'has late.err "^stagger:   rank 1: MPI_Allreduce of 8 bytes at [a-z_]+ disagree\.c:[0-9]+ #"' \
        'has late.err "^stagger:   rank 2: outside MPI, after MPI_Init, for [0-9]+ s$"'
    check "the program goes on when the rank arrives ($algorithm)" all 'is 0 "$status"' \
        'has late.out finished' 'archive_sound late.trace'
    calls_of late
    check "the others' time in the call is the time lost to the late rank ($algorithm)" \
        [ "$(seconds '$1 < 2' 11)" -ge 1 ]
    [ "$algorithm" = handoff ] || check "ranks that see all arrivals know the late rank's skew during the run" \
        [ "$(seconds '$1 == 2' 7)" -ge 1 ]
done
