#!/bin/bash
# The library sets up a communicator after some barriers and allreduces, never after a reduce or a
# broadcast, which do not synchronise all ranks.
. "$(dirname "$0")/../lib/sh.sh"

. "$ROOT/tests/intranode/intranode.bash"

ended() { # NAME RANKS
    is 0 "$status" && has_lines "$1.out" finished "$2"
}

for after in 1 16; do
    for each in 0 1; do
        export STAGGER_SETUP_AFTER=$after STAGGER_RANKS_PER_NODE=$each
        of="(set-up after $after, $each ranks a node)"
        in_turn 2 3 4
        for ranks in "${turn[@]}"; do
            rm -rf new.trace
            observe new "$ranks" "$PROGRAMS/ahead" new
            check "first reduces and broadcasts wait only for ranks that wait for them, $ranks ranks $of" \
                ended new "$ranks"
        done
        rm -rf orders.trace
        observe orders 2 "$PROGRAMS/ahead" orders
        check "first reduces and broadcasts of two communicators may come in two orders $of" ended orders 2
    done
done

# ran NAME: the number of allreduces on the new communicator by algorithm, over all ranks
ran() {
    awk '$6 == "run_together" { calls[$5]++ } END { for (name in calls) print name, calls[name] }' "$1.calls" |
        sort | paste -sd ' '
}

export STAGGER_RANKS_PER_NODE=0
for after in 1 16; do
    if [ "$after" = 16 ]; then unset STAGGER_SETUP_AFTER; else export STAGGER_SETUP_AFTER=$after; fi
    rm -rf together.trace
    STAGGER_RULES='*=srm' observe together 2 "$PROGRAMS/ahead" together 20
    calls_of together
    check "the library runs a communicator's calls after its allreduce number $after" all 'gave together' \
        'archive_sound together.trace' \
        'is "mpich 2 srm $((2 * (20 - after)))" "$(ran together)"'
done

# own_collectives RANKS [NAME=VALUE...]: MPICH's collectives that the library runs in MPI_Init and MPI_Finalize
own_collectives() {
    (export "${@:2}" PRELOAD=$LIB:$PROGRAMS/libown_collectives.so && rm -rf own.trace &&
        observe own "$1" "$PROGRAMS/three_calls" 0 && exit "$status") && sed -n 's/^own //p' own.out
}
two=$(own_collectives 2) eight=$(own_collectives 8)
check "the ranks of a machine agree by few collectives of MPICH, however many ranks there are" all \
    'within 4 9 "$two"' 'is "$two" "$eight"' 'archive_sound own.trace'

exit $((failures > 0))
