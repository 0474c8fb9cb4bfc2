#!/bin/bash
# stagger sim lines as users run it: the cost of shapes of small collectives among many ranks of a
# node.
. "$(dirname "$0")/../lib/sh.sh"

lines() { timeout "$PROGRAM_SECONDS" "$STAGGER" sim lines "$@"; }
# best FILE RANKS: the fastest shape when one rank is late, and its group size
best() {
    "$PYTHON" -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["ranks"] == int(sys.argv[2])]
row = min(rows, key=lambda r: (r["late_ns"], r["group"]))
print(row["shape"], row["group"])' "$@"
}

lines --json >milan.json 2>err
check "the output has one row for each number of ranks, shape and group" all 'empty err' 'is 42 "$(json milan.json "len(d[\"rows\"])")"' \
    'is "machine ranks shape group at_once_ns late_ns serve_ns overlap" "$(json milan.json "\" \".join(d[\"rows\"][0])")"'
check "CSV and the table have the same rows" all 'lines -n 8 --csv >rows.csv' 'has_lines rows.csv "^milan,8," 7' \
    'lines -n 8 >rows.txt' 'has_lines rows.txt "^milan " 7' 'lacks rows.txt network'
check "a cluster of eight cores is flat" is "flat 0" "$(best milan.json 8)"
for ranks in 16 32 64 128; do
    check "on more clusters, groups are one cluster each ($ranks ranks)" is "groups 8" "$(best milan.json $ranks)"
done
for how in '--serve 5' '--serve 20' '--overlap 8'; do
    # shellcheck disable=SC2086 # words
    lines -n 32 $how --json >how.json
    check "... groups stay the same under other assumptions about a line's service ($how)" is "groups 8" "$(best how.json 32)"
done
check "a machine that serves one line at a time has other groups" all 'lines -n 32 --overlap 1 --json >one.json' \
    'is True "$(json one.json "all(a[\"at_once_ns\"] >= b[\"at_once_ns\"] for a, b in zip(d[\"rows\"], [r for r in __import__(\"json\").load(open(\"milan.json\"))[\"rows\"] if r[\"ranks\"] == 32]))")"'
check "a machine without clusters has other groups, too" all 'lines -m icelake -n 16,64 --json >icelake.json' \
    'is icelake "$(json icelake.json "d[\"rows\"][0][\"machine\"]")"'
check "more ranks than a machine has threads are refused" all 'lines -n 257 2>err; is 1 $?' \
    'is "stagger: sim: milan has threads for at most 256 ranks" "$(cat err)"'
