#!/bin/bash
# The trace shows the effects of skew in arrivals of known order: the algorithm that ran, and which
# ranks were late, early, or waited for a slot.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# total NAME COLUMN [CONDITION]: the sum of a column of NAME.calls (see calls.py) where it holds
total() { awk "${3:-1} { sum += \$$2 } END { printf \"%.0f\", sum }" "$1.calls"; }
# seconds NAME COLUMN [CONDITION]: whole ones
seconds() { echo $(($(total "$@") / 1000000000)); }
LATE=8 EARLY=9 STALLS=10 IN_CALL=11

for algorithm in srm handoff; do
    in_turn 4 3 2
    for ranks in "${turn[@]}"; do
        run_by chain "$algorithm" "$ranks" "$PROGRAMS/arrival" chain 5
        calls_of chain
        of="($algorithm, $ranks ranks)"
        check "the root is last in every reduce of a chain $of" all 'gave chain' \
            'has chain.out finished' 'archive_sound chain.trace'
        check "the trace names the algorithm that ran $of" ran_by chain "$algorithm" reduce
        check "every operand but the root's was folded after its owner had left $of" \
            is $((5 * (ranks - 1))) "$(total chain $LATE)"
        check "every operand was there before it was needed $of" \
            is $((5 * (ranks - 1))) "$(total chain $EARLY)"
        check "nobody waited for a slot $of" is 0 "$(total chain $STALLS)"
        report_json chain.trace chain.json
        check "the report has the same numbers $of" \
            is "$algorithm $((5 * (ranks - 1))) $((5 * (ranks - 1)))" \
            "$(json chain.json '"%s %d %d" % tuple(d["sites"][0][k] for k in ("algorithm", "late", "early"))')"
    done

    # Its box exceeds this memory.
    STAGGER_MEMORY=1m STAGGER_STALL_S=1 STAGGER_RULES="*=$algorithm" release_after 'waiting for more than 1 s in MPI_Reduce, instance #8 ' ahead \
        mpirun_stagger 2 "$PROGRAMS/arrival" ahead "$WORK/released"
    calls_of ahead
    check "a rank runs eight reduces ahead and waits in the ninth ($algorithm)" all 'is 0 "$status"' \
        'has ahead.out finished' 'is 1 "$(total ahead $STALLS "\$1 == 1 && \$2 == 8")"' \
        'is 0 "$(total ahead $STALLS "\$1 == 0 || \$2 < 8")"'
    check "the stall line says that the root is outside MPI ($algorithm)" all \
        'has ahead.err "^stagger:   rank 0: outside MPI, after MPI_"' \
        'has_lines ahead.err "^stagger: waiting for more than 1 s in MPI_Reduce, instance #8 " 1'
    check "the root finds eight operands whose owner has left ($algorithm)" \
        within 8 12 "$(total ahead $LATE '$1 == 0')"
    check "the rank lost more than a second there ($algorithm)" \
        [ "$(seconds ahead $IN_CALL '$1 == 1 && $2 == 8')" -ge 1 ]
done
