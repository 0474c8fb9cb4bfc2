#!/bin/bash
# Reductions whose calls have a given order: the trace's counts of early contributions (received
# before the call) and late ones (received after it returned) are those that the order forces.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# early_late NAME: "rank:early/late" of every rank with nonzero counts, from NAME.calls
early_late() {
    awk '$6 == "reduce" { late[$1] += $8; early[$1] += $9; ranks[$1] }
        END { for (r in ranks) if (late[r] + early[r]) print r ":" early[r] "/" late[r] }' \
        "$1.calls" | sort -n | paste -sd ' '
}

scenario() {
    local sentence=$1 expected=$2 mode
    shift 2
    for mode in $modes; do
        run_across scenario "$mode" 1 'reduce=bypass;*=mpich' 8 "$PROGRAMS/internode_scenarios" "$@"
        calls_of scenario
        early_late scenario >scenario.counts
        check "$sentence: results are right ($mode)" all 'gave scenario' \
            'ran_by scenario bypass reduce'
        check "$sentence: early and late contributions are in the trace ($mode)" \
            has scenario.counts "^$expected\$"
    done
}

. "$ROOT/tests/internode/scenarios.bash"

# ---- messages, or reading ------------------------------------------------------------------------

# copies RULE: data copies by root and leaf, in two reduces to which the leaf is early
copies() {
    run_across copies thread 1 "reduce=$1;*=mpich" 2 "$PROGRAMS/internode_scenarios" 1 1 0 0
    calls_of copies
    gave copies >&2 && ran_by copies bypass reduce >&2 &&
        awk '$6 == "reduce" { copies[$1] += $12 } END { print copies[0] "/" copies[1] }' copies.calls
}
check "an early contribution of up to eager= bytes is a message, and the root keeps it" \
    is 2/0 "$(copies bypass)"
check "a larger contribution stays with its sender, and the root reads it from there" \
    is 0/2 "$(copies 'bypass(eager=64)')"
