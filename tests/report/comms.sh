#!/bin/bash
# A call site that is used on many communicators is one row, and the headline counts it once.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive
./make_archive many-comms many-comms && ./make_archive known known || exit 1
report_json many-comms comms.json && report_json known known.json || exit 1

# 40 barriers of 100 ns each at A, one allreduce of 400 ns at B.
"$STAGGER" report many-comms >comms.txt
check "the headline names the call site with the largest wait over all its communicators" \
    has comms.txt '^most of it +90\.9% in barrier at solve_the_system solver\.c:88 on 40 comms, rank 1 last in 100% of 40$'
check "the worst instance belongs to one communicator" \
    has comms.txt '^worst instance +400ns of skew: allreduce at norm cg\+0x2000 on WORLD\(2\), #0'
check "a call site has one row" all 'has_lines comms.txt "^  barrier +solve" 1' \
    'has_lines comms.txt "^  allreduce +norm" 1' \
    'has comms.txt "^  barrier +solve_the_system solver.c:88 +40 comms +mpich\+srm +80 +40 "'
check "--comms has a row for each communicator" all \
    '"$STAGGER" report --comms many-comms >split.txt' 'has_lines split.txt "^  barrier +solve" 40' \
    'has split.txt "^  barrier +solve_the_system solver.c:88 +copy-7\(2\) +srm +2 +1 "' \
    'has split.txt "^most of it +90\.9% in barrier"'
check "--top counts call sites" has <("$STAGGER" report --top 1 many-comms) '^note: 1 of 2 call sites are shown$'
check "... --top counts rows with --comms" has <("$STAGGER" report --comms --top 1 many-comms) '^note: 1 of 41 rows are shown$'
check "call sites are sorted by their sums" is "barrier allreduce" \
    "$("$STAGGER" report --sort wait many-comms | awk '/call site/{on=1;next} !NF{on=0} on{print $1}' | head -2 | xargs)"

check "JSON has the rows by communicator" is "41 41" \
    "$(json comms.json '"%d %d" % (len(d["sites"]), d["site_count"])')"
check "... JSON has a sum for each call site and operation" is "2 2 40 None 2 80 40 4000 1 100 mpich+srm" \
    "$(json comms.json '" ".join(map(str, [len(d["by_site"]), d["by_site_count"]] + [d["by_site"][0][k] for k in
        ("comms", "comm", "comm_size", "calls", "instances", "wait_ns", "last_rank")] +
        [d["by_site"][0]["skew_ns"]["p95"], d["by_site"][0]["algorithm"]]))')"
sums_add_up='all(sum(r[k] or 0 for r in d["sites"] if all(r[n] == s[n] for n in ("id", "op"))) == (s[k] or 0)
    for s in d["by_site"] for k in ("calls", "bytes", "wait_ns", "blocked_ns", "instances", "late", "handler_ns"))'
check "a call site's sum equals that of its rows" is "True True" \
    "$(json comms.json "$sums_add_up") $(json known.json "$sums_add_up")"
check "a call site with one communicator has its name and size" is "MPI_COMM_WORLD 4 1" \
    "$(json known.json '"{comm} {comm_size} {comms}".format(**d["by_site"][0])')"
check "skews of several communicators are drawn together" is "[100, 100, 100, 100.0] [400, 400, 400, 400.0]" \
    "$(json comms.json '"%s %s" % tuple(list(s["skew_ns"].values()) for s in d["by_site"])')"
check "--top cuts the sums in JSON as well" is "1 2" \
    "$("$STAGGER" report --json --top 1 many-comms >top.json && json top.json '"%d %d" % (len(d["by_site"]), d["by_site_count"])')"
check "CSV has the rows by communicator" is 42 "$("$STAGGER" report --csv many-comms | wc -l)"
