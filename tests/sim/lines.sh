#!/bin/bash
# stagger sim lines as users run it: the cost of shapes of small collectives among many ranks of a
# node.
. "$(dirname "$0")/../lib/sh.sh"

lines() { timeout "$PROGRAM_SECONDS" "$STAGGER" sim lines "$@"; }
# best FILE RANKS: the fastest shape when one rank is late, and the sizes of its groups
best() {
    "$PYTHON" -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["ranks"] == int(sys.argv[2])]
row = min(rows, key=lambda r: (r["late_ns"], r["group"], r["outer"]))
print(row["shape"], row["group"], row["outer"])' "$@"
}
# chosen FILE RANKS: the same of the library's shape
chosen() {
    "$PYTHON" -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["ranks"] == int(sys.argv[2]) and r["chosen"] == "yes"]
print(*("{shape} {group} {outer}".format(**r) for r in rows))' "$@"
}

lines --json >milan.json 2>err
check "the output has one row for each number of ranks, shape and group" all 'empty err' 'is 52 "$(json milan.json "len(d[\"rows\"])")"' \
    'is "machine ranks shape group outer bytes at_once_ns late_ns chosen serve_ns overlap" "$(json milan.json "\" \".join(d[\"rows\"][0])")"'
check "CSV and the table have the same rows" all 'lines -n 8 --csv >rows.csv' 'has_lines rows.csv "^milan,8," 4' \
    'lines -n 8 >rows.txt' 'has_lines rows.txt "^milan " 4' 'lacks rows.txt network'
check "a cluster of eight cores is flat" all 'is "flat 0 0" "$(best milan.json 8)"' 'is "flat 0 0" "$(chosen milan.json 8)"'
for ranks in 16 32 64; do
    check "on more clusters, groups are one cluster each, and the library chooses them ($ranks ranks)" \
        all "is 'groups 8 0' '$(best milan.json $ranks)'" "is 'groups 8 0' '$(chosen milan.json $ranks)'"
done
check "on two sockets, groups form outer groups" all 'is "groups 8 32" "$(best milan.json 128)"' \
    'is "groups 8 32" "$(chosen milan.json 128)"'
lines -n 128 --numa 4 --json >numa.json
check "outer groups of four NUMA nodes a socket have one node each" is "groups 8 16" "$(chosen numa.json 128)"
lines -n 64 --order dealt --json >dealt.json
check "ranks that are not in order take longer in every shape, and the library still finds groups" all \
    'is True "$(json dealt.json "all(a[\"late_ns\"] >= b[\"late_ns\"] for a, b in zip(d[\"rows\"], [r for r in __import__(\"json\").load(open(\"milan.json\"))[\"rows\"] if r[\"ranks\"] == 64]))")"' \
    'has <(chosen dealt.json 64) "^groups "'
lines -n 64 --bytes 4096 --json >large.json
check "with large operands the library climbs" is "climb 0 0" "$(chosen large.json 64)"
check "a machine is not split unevenly" all 'lines --numa 3 2>err; is 1 $?' 'has_lines err "^stagger: sim: milan cannot be split" 1'
for how in '--serve 5' '--serve 20' '--overlap 8'; do
    # shellcheck disable=SC2086 # words
    lines -n 32 $how --json >how.json
    check "... groups stay the same under other assumptions about a line's service ($how)" is "groups 8 0" "$(best how.json 32)"
done
check "a machine that serves one line at a time has other groups" all 'lines -n 32 --overlap 1 --json >one.json' \
    'is True "$(json one.json "all(a[\"at_once_ns\"] >= b[\"at_once_ns\"] for a, b in zip(d[\"rows\"], [r for r in __import__(\"json\").load(open(\"milan.json\"))[\"rows\"] if r[\"ranks\"] == 32]))")"'
check "a machine without clusters has other groups, too" all 'lines -m icelake -n 16,64 --json >icelake.json' \
    'is icelake "$(json icelake.json "d[\"rows\"][0][\"machine\"]")"'
check "more ranks than a machine has threads are refused" all 'lines -n 257 2>err; is 1 $?' \
    'is "stagger: sim: milan has threads for at most 256 ranks" "$(cat err)"'
