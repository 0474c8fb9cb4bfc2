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
    'has_lines <("$STAGGER" report --all none.trace) "^note: causes computed without counters [(]unavailable" 1' \
    'lacks <("$STAGGER" report --all all.trace) "^note: causes computed without.* counters"'
# finds CAUSE NAME STEP...: in a run this is the largest cause of processor time, with its rank
finds() {
    rm -rf "$2.trace"
    observe "$2" 2 "$PROGRAMS/mixed_causes" 30 - "${@:3}"
    ran_well "$2" && report_json "$2.trace" "$2.json" && is "$1" "$(json "$2.json" 'next(c["cause"] + " %d" % c["rank"]
        for c in d["causes"]["sites"][0]["causes"] if c["cause"] in ("computing", "more work", "slower"))')"
}
export STAGGER_CAUSES=all STANDIN_INSTRUCTIONS=clock
check "a rank that executes twice the instructions has more work" \
    one_of_five finds "more work 1" work 0:work:4000 1:work:8000
check "... advise says to balance the work" has <("$STAGGER" advise work.trace 2>/dev/null) "balance the work"
STANDIN_INSTRUCTIONS=faults check "a rank that takes longer for the same number of instructions is slower" \
    one_of_five finds "slower 1" slower 0:faults:2000 1:faults:2000 1:work:8000
STAGGER_TRACE=stats observe sums 2 "$PROGRAMS/mixed_causes" 30 - 0:work:4000 1:work:8000
check "sums have the counters without events" all 'ran_well sums' '"$STAGGER" report --json sums.trace >sums.json' \
    'is True "$(json sums.json "max(r[\"instructions\"] or 0 for r in d[\"intervals\"][\"rows\"] if r[\"rank\"] == 1) >= 240000000")"'
