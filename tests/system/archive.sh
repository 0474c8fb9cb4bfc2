#!/bin/bash
# The archive in other tools: otf2-print, the invariants through OTF2's Python reader, ViTE.
. "$(dirname "$0")/../lib/sh.sh"

observe cg 2 "$PROGRAMS/cg" -n 32 -t 1 -s 0 -w 20
check "the solver converges under the library" ran_well cg
check "its calls are in the archive once" archive_agrees cg.trace cg.out
check "otf2-print reads it, and nesting, order and counts are sound" archive_sound cg.trace

# Without an archive ViTE draws only the background, and reports no error.
rectangles() { grep -o '<rect' "$1.svg" | wc -l; }
draw() { "$ROOT/tests/lib/draw.sh" "$1/traces.otf2" "$1.svg" >vite.out 2>&1; }
draw none.trace && draw cg.trace
if [ $? -eq 77 ]; then
    skip "ViTE draws rectangles for each rank" "$(tail -n 1 vite.out)"
else
    check "ViTE draws nothing without an archive" is 1 "$(rectangles none.trace)"
    check "ViTE draws rectangles for each rank" within 20 100000000 "$(rectangles cg.trace)"
fi

check "the logs are removed, the archive and the configuration stay" all 'absent cg.trace/rank-000000.log' \
    '[ -s cg.trace/traces.otf2 ]' '[ -s cg.trace/traces.def ]' '[ -s cg.trace/stagger.conf ]'

observe four 4 "$PROGRAMS/counts_c"
check "an archive of four ranks is sound" \
    all 'ran_well four' 'archive_agrees four.trace four.out' 'archive_sound four.trace'

# The report reads the archive's contents.
report_json cg.trace cg.json
check "the report has its version, ranks and completeness" is "1 2 False" \
    "$(json cg.json '" ".join(map(str, (d["version"], d["ranks"], d["partial"])))')"
check "each rank's time blocked lies within the run" is "True" \
    "$(json cg.json 'all(0 < r["blocked_ns"] < r["run_ns"] for r in d["per_rank"])')"
check "the text and CSV reports have at least one line for each call site" all \
    '"$STAGGER" report --all cg.trace >cg.txt' '"$STAGGER" report --csv cg.trace >cg.csv' \
    'has cg.txt "cg\.c:[0-9]+"' 'has cg.csv "cg\.c"' \
    'within 2 1000 "$(wc -l <cg.csv)"'
most=$(json cg.json '"{op} +{function}".format(**max(d["sites"], key=lambda s: s["wait_ns"]))')
check "--sort wait --top 1 shows the call site with the most wait" all \
    '"$STAGGER" report --all --top 1 --sort wait cg.trace >top.txt' \
    'has_lines top.txt "^ +(allreduce|reduce|barrier) " 1' 'has top.txt "^ +$most cg\.c:"'

# An archive can be read through its anchor's directory from anywhere.
mv cg.trace moved.trace
check "a moved archive reads as before" all \
    'report_json moved.trace moved.json' \
    'is "$(json cg.json "d[\"sites\"], d[\"per_rank\"]")" \
         "$(json moved.json "d[\"sites\"], d[\"per_rank\"]")"'
