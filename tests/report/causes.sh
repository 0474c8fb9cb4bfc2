#!/bin/bash
# Causes in hand-written archives: as CSV, and when clocks cannot determine the late rank.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
golden_update=
. "$ROOT/tests/report/golden.bash"
fixtures report/make_messages
for kind in late uncertain ahead; do
    ./make_messages "$kind" 3 41 "$kind" || exit 1
    report_json "$kind" "$kind.json"
done

check "CSV has the causes" golden causes.csv --csv=causes late
check "... JSON has the same causes" is \
    "$(json late.json '"\n".join("%s,%s,%s" % (c["rank"], c["cause"], c["late_ns"]) for s in d["causes"]["sites"] for c in s["causes"])')" \
    "$("$PYTHON" -c 'import csv, sys; print("\n".join("%s,%s,%s" % (r["rank"], r["cause"], r["late_ns"]) for r in csv.DictReader(sys.stdin)))' <causes.csv)"

# told NAME: the number of sites with causes, of instances with and without
told() {
    json "$1.json" '(lambda c: "%d %d %d" % (len(c["sites"]), c["instances"], c["unsampled_instances"]))(d["causes"])'
}
check "with synchronised clocks the causes are reported" is "1 40 0" "$(told late)"
check "when clock errors exceed the ranks' lateness, nobody is blamed" all 'is "0 0 40" "$(told uncertain)"' \
    'is 1000 "$(json uncertain.json "d[\"clock\"][\"offset_error_ns\"]")"'
check "nobody is blamed when a rank leaves before a rank it waits for arrives" is "0 0 40" "$(told ahead)"
for kind in uncertain ahead; do
    "$STAGGER" report --csv=causes "$kind" >"$kind.csv" 2>"$kind.err"
    check "... CSV and text have no cause ($kind)" all 'is 1 "$(wc -l <"$kind.csv")"' 'empty "$kind.err"' \
        '"$STAGGER" report --all "$kind" >text' 'lacks text "^Why "'
done
