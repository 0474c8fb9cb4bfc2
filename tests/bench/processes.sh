#!/bin/bash
# stagger-bench on a subset of the ranks, for collectives that only MPICH has, with cold caches,
# with the median over ranks, and while processors change their clock speed. Asserts no figure.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"

OTHERS=gather,scatter,allgather,alltoall,reduce_scatter,scan
quick=(--time 0.02 --iterations 3)

# said NAME EXPRESSION: the expression of each row r, in order
said() { json "$1.out" "\" \".join(str($2) for r in d[\"results\"])"; }

# ---- numbers of processes ----------------------------------------------------------------------------
STAGGER_TRACE=stats observe loop 4 "$BENCH" latency --json --scheme loop --time 0.02 --ops barrier,bcast --processes powers,3
check "each number of processes has its rows, in the requested order" all 'is 0 "$status"' 'says_nothing loop.err' \
    'is "2 2 4 4 3 3" "$(said loop "r[\"processes\"]")"' \
    'is "barrier bcast barrier bcast barrier bcast" "$(said loop "r[\"op\"]")"' \
    'is 4 "$(json loop.out "d[\"ranks\"]")"'
report_json loop.trace report.json
check "the other ranks make none of the calls" is "{2, 3}" "$(json report.json "set(s[\"comm_size\"] for s in d[\"sites\"]
    if s[\"op\"] == \"barrier\" and s[\"comm\"].startswith(\"comm \"))")"
observe one 3 "$BENCH" latency --json "${quick[@]}" --ops barrier,allreduce --processes 1-3
check "one, two and three ranks are measured, call by call" all 'is 0 "$status"' 'says_nothing one.err' \
    'is "1 1 2 2 3 3" "$(said one "r[\"processes\"]")"' \
    'is True "$(json one.out "all(r[\"time_us\"] > 0 for r in d[\"results\"])")"'
command=cpu
nodes cpu 3 --json "${quick[@]}" --processes 2-3 --algorithms bypass --elements 4
check "two and three nodes have rows of processor time" all 'is 0 "$status"' 'says_nothing cpu.err' \
    'is "2 3" "$(said cpu "r[\"processes\"]")"' 'is "2 3" "$(said cpu "r[\"ranks\"]")"'
command=delay
STAGGER_RANKS_PER_NODE=2 observe delay 3 "$BENCH" delay --json "${quick[@]}" --ops barrier --processes 2-3 \
    --algorithms tree
check "when all ranks are on one node, one line says that algorithms between nodes have no rows" all 'is 0 "$status"' \
    'has_lines delay.err "" 1' 'has delay.err "2 processes are on one node: no rows for tree"' \
    'is "2:mpich 3:tree 3:mpich" "$(said delay "\"%d:%s\" % (r[\"processes\"], r[\"algorithm\"])")"' \
    'is None "$(json delay.out "d[\"late_rank\"]")"'

# ---- collectives that the library does not route -----------------------------------------------------
for scheme in loop window; do
    observe others 3 "$BENCH" latency --json --scheme $scheme "${quick[@]}" --ops $OTHERS --bytes 8,4k --root 1
    check "collectives that only MPICH runs are measured ($scheme)" all 'is 0 "$status"' 'says_nothing others.err' \
        'is 12 "$(json others.out "len(d[\"results\"])")"' \
        'is True "$(json others.out "all(r.get(\"ratio\") is None for r in d[\"results\"])")"'
done
check "their rows name MPICH" is "mpich None" "$(json others.out '"%s %s" % (d["results"][0]["algorithm"], d["results"][0]["vs"])')"
command=latency
build_wrong_library
finds PMPI_Alltoall "PMPI_Alltoall of 64 bytes by mpich" --ops alltoall --bytes 64
other=
observe nonblocking 1 "$BENCH" overlap --json "${quick[@]}" --ops $OTHERS,bcast --bytes 1k --test-bytes 0
check "their nonblocking forms overlap with computation" all 'is 0 "$status"' 'says_nothing nonblocking.err' \
    'is 8 "$(json nonblocking.out "len(d[\"results\"])")"'
observe waiting 2 "$BENCH" delay --json "${quick[@]}" --ops allgather,alltoall,reduce_scatter
check "collectives in which all ranks wait have a delay" all 'is 0 "$status"' \
    'is "allgather alltoall reduce_scatter" "$(said waiting "r[\"op\"]")"'
observe processor 2 "$BENCH" cpu --json "${quick[@]}" --ops gather,scan --elements 4
check "all of them have processor times" all 'is 0 "$status"' 'is "gather scan" "$(said processor "r[\"op\"]")"'

# ---- over ranks, and cold caches -----------------------------------------------------------------------
observe median 3 "$BENCH" latency --json "${quick[@]}" --ops reduce --reduce median
check "the median over ranks lies between the least and the greatest" all 'is 0 "$status"' \
    'is "median True" "$(json median.out "\"%s %s\" % (d[\"results\"][0][\"reduction\"], all(r[\"time_us\"] == r[\"median_us\"]
        and r[\"min_us\"] <= r[\"median_us\"] <= r[\"max_us\"] for r in d[\"results\"]))")"'
for way in $(modes mean median min root max); do
    observe blocks 3 "$BENCH" latency --json --scheme loop --time 0.02 --ops barrier --reduce $way
    check "ranks call in blocks by $way" all 'is 0 "$status"' 'is "$way" "$(said blocks "r[\"reduction\"]")"' \
        'is True "$(json blocks.out "all(r[\"ours_us\"] > 0 for r in d[\"results\"])")"'
done
check "caches are warm" all 'is warm "$(said median "r[\"caches\"]")"' 'is False "$(json median.out "\"cold\" in d")"'
observe cold 2 "$BENCH" latency --json --samples "${quick[@]}" --ops bcast --bytes 64k --processes 1-2 --cold
check "otherwise they are emptied before each call, and results are right" all 'is 0 "$status"' 'says_nothing cold.err' \
    'is "cold cold" "$(said cold "r[\"caches\"]")"' \
    'is True "$(json cold.out "d[\"cold\"][\"sweep_bytes\"] >= 64 << 20")"'
observe figure 2 "$BENCH" latency "${quick[@]}" --ops bcast --bytes 8,4k --processes 1-2 --plot figure.svg
check "a figure is drawn over the number of ranks" all 'is 0 "$status"' 'has figure.svg ">processes<"'
check "the table begins with the number of ranks" all 'has figure.out "^ranks  operation "' \
    'has_lines figure.out "^    [12]  bcast  " 4'

cp cold.out again.out && "$STAGGER" bench-merge --json cold.out again.out >runs.json
check "launches are pooled for each number of processes" all "is 0 $?" \
    'is "1:cold:2 2:cold:2" "$(json runs.json "\" \".join(\"%d:%s:%d\" % (r[\"processes\"], r[\"caches\"], r[\"launches\"])
        for r in d[\"results\"])")"' 'is True "$(json runs.json "all(0 <= r[\"speed_changed\"] <= 2 for r in d[\"results\"])")"'

# ---- speed -----------------------------------------------------------------------------------------------
slower=$WORK/libslower.so
check "a library that makes processors look slower is built" \
    "$("$ROOT/.ci/find-mpi" cc)" -O2 -fPIC -shared "$ROOT/tests/bench/slower.c" -o "$slower" -ldl
other=$slower
plainly slow 2 latency --json --scheme loop --time 0.05 --ops barrier,allreduce
check "a row during which processors became slower is marked" all 'is 0 "$status"' \
    'is True "$(json slow.out "d[\"results\"][1][\"speed_changed\"]")"' \
    'is True "$(json slow.out "d[\"results\"][1][\"speed_low\"] < 0.7")"' \
    'is True "$(json slow.out "d[\"results\"][1][\"counter_rate\"] is None or d[\"results\"][1][\"counter_rate\"] < 0.95")"'
other=

# ---- usage ------------------------------------------------------------------------------------------------
command=latency
refuses "--processes wants numbers of ranks from 1 to 2, ranges such as 2-8 or 2-8.2, or powers, not '3'" --processes 3
refuses "--root 1 is not among the ranks of --processes 1" --processes 1,2 --root 1
refuses "--cold measures single calls" --cold --scheme loop
command=noise
refuses "--processes is not an option of noise" --processes 2
