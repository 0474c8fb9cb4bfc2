#!/bin/bash
# Every run measures stagger's own overhead: each thread times one call in 128.
. "$(dirname "$0")/../lib/sh.sh"

for trace in otf2 stats; do
    STAGGER_TRACE=$trace observe "$trace" 2 "$PROGRAMS/cg"
    report_json "$trace.trace" "$trace.json"
    calls=$(own_counts "$trace.out" | head -n 1 | "$PYTHON" -c 'import json
d = json.loads(input())
print(d["barrier"] + d["reduce"] + d["allreduce"])')
    check "one call in 128 is timed ($trace)" all 'is 0 "$status"' \
        "is $((2 * ((calls - 1) / 128))) \$(json $trace.json 'd[\"overhead\"][\"timed_calls\"] + d[\"overhead\"][\"long_calls\"]')"
    check "the report has the time of these calls ($trace)" all \
        "within 1 10000 \$(json $trace.json 'd[\"overhead\"][\"timed_ns\"] // max(1, d[\"overhead\"][\"timed_calls\"])')" \
        "has <('$STAGGER' report --all $trace.trace) '^stagger itself: .* a call, .*% of rank time'"
done
