#!/bin/bash
# If instructions are counted, the report distinguishes more instructions from slower ones. The
# kernel stands in for the processor's counters, so the counted quantity is known.
. "$(dirname "$0")/../lib/sh.sh"

PRELOAD=$BUILD/tests/causes/standin_counters.so:$LIB
if ! LD_PRELOAD=$PRELOAD "$STAGGER" info | grep -q '^ *counters: [0-9]'; then
    skip "counters tell more work from slower work" "the kernel has no events for this process"
    exit 0
fi
STANDIN_INSTRUCTIONS=none STAGGER_TRACE=stats observe none 2 "$PROGRAMS/known_causes" work 5
STAGGER_TRACE=stats observe all 2 "$PROGRAMS/known_causes" work 5
check "one line lists the unavailable counters" all 'ran_well none' 'ran_well all' \
    'has_lines <("$STAGGER" report none.trace) "^note: causes computed without counters [(]unavailable" 1' \
    'lacks <("$STAGGER" report all.trace) "^note: causes computed without.* counters"'
# computing NAME: the largest cause of processor time in the program, and its rank
computing() {
    ran_well "$1" && report_json "$1.trace" "$1.json" && json "$1.json" 'next(c["cause"] + " %d" % c["rank"]
        for c in d["causes"]["sites"][0]["causes"] if c["cause"] in ("computing", "more work", "slower"))'
}
export STAGGER_CAUSES=all
STANDIN_INSTRUCTIONS=clock observe work 2 "$PROGRAMS/mixed_causes" 30 - 0:work:4000 1:work:8000
check "a rank that executes twice the instructions has more work" is "more work 1" "$(computing work)"
check "... advise says to balance the work" has <("$STAGGER" advise work.trace 2>/dev/null) "balance the work"
STANDIN_INSTRUCTIONS=faults observe slower 2 "$PROGRAMS/mixed_causes" 30 - 0:faults:2000 1:faults:2000 1:work:8000
check "a rank that takes longer for the same number of instructions is slower" is "slower 1" "$(computing slower)"
STAGGER_TRACE=stats STANDIN_INSTRUCTIONS=clock observe sums 2 "$PROGRAMS/mixed_causes" 30 - 0:work:4000 1:work:8000
check "sums have the counters without events" all 'ran_well sums' '"$STAGGER" report --json sums.trace >sums.json' \
    'is True "$(json sums.json "max(r[\"instructions\"] or 0 for r in d[\"intervals\"][\"rows\"] if r[\"rank\"] == 1) >= 240000000")"'
