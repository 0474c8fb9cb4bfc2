#!/bin/bash
# MMDS: computation granularity and communication overhead add up to the run time; latencies and
# distributions match those of a program with known calls.
. "$(dirname "$0")/../lib/sh.sh"

KNOWN=$PROGRAMS/known_mmds

# kept DIR RANKS ALL BLOCKING: has figures of RANKS ranks out of ALL, each with BLOCKING blocking
# functions.
kept() {
    report_json "$1" kept.json && "$PYTHON" -c '
import json, sys
d = json.load(open("kept.json"))
ranks, world, blocking = map(int, sys.argv[1:])
m = d["mmds"]
assert m["ranks"] == ranks and d["ranks"] == world, m["ranks"]
assert m["overhead"]["count"] == ranks * blocking, m["overhead"]
assert m["granularity"]["count"] == ranks * (blocking + 1), m["granularity"]
assert m["sum_ns"] == m["granularity"]["total_ns"] + m["overhead"]["total_ns"]
assert m["run_ns"] == m["sum_ns"] + m["gap_ns"] and m["gap_ns"] >= 0, m["gap_ns"]
for p in d["primitives"]:
    assert p["min_ns"] <= p["mean_ns"] <= p["max_ns"], p
    assert abs(p["mean_ns"] * p["count"] - p["total_ns"]) <= p["count"], p
    assert p["min_ns"] * p["count"] <= p["total_ns"] <= p["max_ns"] * p["count"], p
for what in ("granularity", "overhead"):
    p = m[what]
    assert p["min_ns"] * p["count"] <= p["total_ns"] <= p["max_ns"] * p["count"], p
' "${@:2}"
}

# counts: the primitives and their counts, in their order
counts() { json kept.json '" ".join("%s:%d" % (p["primitive"], p["count"]) for p in d["primitives"])'; }

# binned PRIMITIVE WHAT COUNT TOTAL: ordered bins that do not overlap hold all values, whose sum is
# consistent with the bins' bounds.
binned() {
    "$PYTHON" -c '
import json, sys
primitive, what, count, total = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
bins = [b for b in json.load(open("kept.json"))["mmds"]["distributions"]
        if b["primitive"] == primitive and b["what"] == what and b["first_thread"] is not False]
assert sum(b["count"] for b in bins) == count, bins
for a, b in zip(bins, bins[1:]):
    assert a["from"] < a["below"] <= b["from"] < b["below"], (a, b)
low, high = (sum(b[end] * b["count"] for b in bins) for end in ("from", "below"))
assert low <= total <= high, (low, total, high)' "$@"
}
total_of() { json kept.json "next(p for p in d['primitives'] if p['primitive'] == '$1')['total_ns']"; }

# ---- counts and sums -----------------------------------------------------------------------------

every="MPI_Isend:12 MPI_Irecv:12 MPI_Waitall:12 MPI_Barrier:15 MPI_Bcast:21 MPI_Allreduce:18"
export STAGGER_MMDS=on STAGGER_MMDS_CALLS=MPI_Waitall,MPI_Irecv,MPI_Allreduce,MPI_Recv_init,MPI_Ibarrier
for trace in otf2 stats; do
    for nodes in 0 1; do
        run=$trace-$nodes
        STAGGER_TRACE=$trace STAGGER_RANKS_PER_NODE=$nodes observe "$run" 3 "$KNOWN"
        check "a known program runs ($run)" ran_well "$run"
        check "granularity, overhead and latencies are those of its calls, and add up ($run)" kept "$run.trace" 3 3 34
        check "the paper's functions come first, each with its calls ($run)" has <(counts) "^$every MPI_"
        check "other functions follow: the nonblocking calls, and waits ($run)" all 'has <(counts) " MPI_Wait:27( |$)"' \
            'has <(counts) " MPI_Recv_init:18( |$)"' 'has <(counts) " MPI_Sendrecv:9( |$)"' \
            'has <(counts) " MPI_Ibarrier:9( |$)"'
        check "distributions have all their calls and bytes ($run)" all \
            'binned "Comp Granularity" latency_ns 105 "$(json kept.json "d[\"mmds\"][\"granularity\"][\"total_ns\"]")"' \
            'binned "Comm Overhead" latency_ns 102 "$(json kept.json "d[\"mmds\"][\"overhead\"][\"total_ns\"]")"' \
            'binned MPI_Waitall latency_ns 12 "$(total_of MPI_Waitall)"' 'binned MPI_Waitall bytes 0 0' \
            'binned MPI_Irecv latency_ns 12 "$(total_of MPI_Irecv)"' 'binned MPI_Irecv bytes 12 480' \
            'binned MPI_Allreduce latency_ns 18 "$(total_of MPI_Allreduce)"' \
            'binned MPI_Allreduce bytes 18 576' 'binned MPI_Recv_init bytes 18 432' \
            'binned MPI_Ibarrier latency_ns 9 "$(total_of MPI_Ibarrier)"'
    done
done

# The program's own clock, over all ranks: times taken inside calls are no longer than those
# measured, and times taken around calls no shorter.
check "run time, overhead and granularity lie between the program's own measurements" "$PYTHON" -c '
import json, re
m = json.load(open("kept.json"))["mmds"]
seen = [list(map(int, line.split()[2:])) for line in open("stats-1.out") if line.startswith("rank ")]
inside, around, blocking, computed = map(sum, zip(*seen))
assert len(seen) == 3 and inside <= m["run_ns"] <= around, (inside, m["run_ns"], around)
assert m["overhead"]["total_ns"] <= blocking, (m["overhead"], blocking)
assert m["granularity"]["total_ns"] >= computed, (m["granularity"], computed)
assert m["granularity"]["max_ns"] >= max(one[3] for one in seen), seen'

# ---- the text ------------------------------------------------------------------------------------

check "the table has the paper's columns and rows" all \
    '"$STAGGER" report --calls otf2-0.trace >calls.txt 2>err' 'empty err' \
    'has calls.txt "^  Primitive +Min\(ms\) +Max\(ms\) +Total\(ms\) +Count +Average\(ms\)$"' \
    'has calls.txt "^  MPI_Isend +[0-9.]+ +[0-9.]+ +[0-9.]+ +12 +[0-9.]+$"' \
    'has calls.txt "^  Comp Granularity +[0-9.]+ +[0-9.]+ +[0-9.]+ +105 +[0-9.]+$"' \
    'has calls.txt "^  Comm Overhead +[0-9.]+ +[0-9.]+ +[0-9.]+ +102 +[0-9.]+$"' \
    'has calls.txt "^run time +[0-9]+\.[0-9]{3} ms$"' \
    'has calls.txt "^granularity and overhead +[0-9.]+ ms$"' 'has calls.txt "^gap +[0-9.]+ ms \(0%\)$"'
check "--rank shows that rank's figures" all \
    '"$STAGGER" report --calls --rank 1 stats-0.trace >rank.txt' 'has rank.txt "3 ranks, only ranks 1$"' \
    'has rank.txt "^  MPI_Waitall .* 4 +[0-9.]+$"' 'has rank.txt "^  Comm Overhead .* 34 +[0-9.]+$"'
check "a distribution's bins have their bounds" all \
    '"$STAGGER" report --distribution mpi_irecv otf2-0.trace >bins.txt' \
    'has bins.txt "^MPI_Irecv, latency: 12$"' 'has bins.txt "^MPI_Irecv, bytes: 12$"' \
    'has bins.txt "^ +40B +48B +12 +100%$"'
check "... CSV has the bins, too, and the summary" all \
    'is "MPI_Irecv,bytes,,40,48,12" "$("$STAGGER" report --csv --distribution MPI_Irecv otf2-0.trace |
        tr -d "\r" | grep bytes,)"' \
    'has <("$STAGGER" report --calls --csv otf2-0.trace) "^primitive,min_ns,max_ns,total_ns,count,mean_ns,open"' \
    'same <("$STAGGER" report --calls --csv otf2-0.trace) <("$STAGGER" report --csv=primitives otf2-0.trace)'
check "a distribution that was not kept is refused, with the names of the kept ones" all \
    '! "$STAGGER" report --distribution MPI_Bcast otf2-0.trace 2>err' \
    'has_lines err "no distribution of .MPI_Bcast. was kept .*; there are: Comp Granularity, Comm Overhead, MPI_" 1'
check "a page has neither" all '! "$STAGGER" report --calls --html x.html otf2-0.trace 2>err' \
    'has err "cannot be combined with --calls"' 'absent x.html'

# ---- bins, ranks, names --------------------------------------------------------------------------

STAGGER_MMDS_BINS=16 STAGGER_MMDS_RANKS=0,2-7 STAGGER_MMDS_CALLS=irecv STAGGER_TRACE=stats observe some 3 "$KNOWN"
check "ranks that are not selected keep no distributions" kept some.trace 2 3 34
check "... these ranks still count their calls" has <(counts) "^$every "
check "finer bins have their own bounds" all 'binned MPI_Irecv bytes 8 320' \
    'is "40 42" "$(json kept.json "next(\"%d %d\" % (b[\"from\"], b[\"below\"]) for b in d[\"mmds\"][\"distributions\"] if b[\"what\"] == \"bytes\" and b[\"from\"] == 40)")"'
STAGGER_MMDS_BINS=3 STAGGER_MMDS_RANKS=1- STAGGER_MMDS_CALLS=MPI_Watall STAGGER_TRACE=stats observe wrong 2 "$KNOWN"
check "wrong values get one line each, and are ignored" all 'kept wrong.trace 2 2 34' \
    'has_lines wrong.err "STAGGER_MMDS_BINS=3 is ignored: expected a power of two from 1 to 16" 1' \
    'has_lines wrong.err "STAGGER_MMDS_RANKS=1- is ignored: expected ranks such as 3 or 0-3,8" 1' \
    'has_lines wrong.err "STAGGER_MMDS_CALLS: MPI_Watall matches no function and is ignored; the nearest name is MPI_Waitall" 1'
STAGGER_MMDS=off STAGGER_TRACE=stats observe off 2 "$KNOWN"
check "without distributions there are latencies, and a note" all 'is null "$(report_json off.trace off.json &&
    json off.json "json.dumps(d[\"mmds\"])")"' '"$STAGGER" report --calls off.trace >off.txt' \
    'has off.txt "^  MPI_Irecv .* 8 +[0-9.]+$"' 'lacks off.txt "Granularity|run time"' \
    'has off.txt "^note: .* not kept \(STAGGER_MMDS=on\)$"'

# ---- threads, MPI_Pcontrol, a killed rank --------------------------------------------------------

STAGGER_TRACE=stats observe threads 2 "$KNOWN" threads
check "a second thread's calls are separate" all 'kept threads.trace 2 2 34' \
    'is "8 6" "$(json kept.json "\"%d %d\" % (d[\"mmds\"][\"other_overhead\"][\"count\"], d[\"mmds\"][\"other_granularity\"][\"count\"])")"' \
    'has <("$STAGGER" report --calls threads.trace) "^  Comm Overhead, other threads .* 8 +[0-9.]+$"'
STAGGER_TRACE=stats observe pcontrol 2 "$KNOWN" pcontrol
# The computation before MPI_Pcontrol(0) is one, that after MPI_Pcontrol(1) another.
check "a gap marks the time without recording" all 'report_json pcontrol.trace gap.json' \
    'is "68 72 True True" "$(json gap.json "\"%d %d %s %s\" % (d[\"mmds\"][\"overhead\"][\"count\"], d[\"mmds\"][\"granularity\"][\"count\"], d[\"mmds\"][\"gap_ns\"] > 0, d[\"mmds\"][\"gap_ns\"] == d[\"mmds\"][\"run_ns\"] - d[\"mmds\"][\"sum_ns\"])")"'
STAGGER_TRACE=stats observe reset 2 "$KNOWN" reset
check "MPI_Pcontrol(2) resets all figures" all 'kept reset.trace 2 2 2' 'is "MPI_Barrier:4" "$(counts)"' \
    'binned MPI_Irecv bytes 0 0'

# Its last computation did not end, so there are as many as blocking functions.
STAGGER_TRACE=stats observe killed 2 "$KNOWN" kill
STAGGER_TRACE=otf2 observe recovered 2 "$KNOWN" kill
"$STAGGER" recover recovered.trace >recover.out 2>&1
for run in killed recovered; do
    check "a killed rank's figures up to the kill are kept ($run)" all \
        '"$STAGGER" report --calls --rank 1 "$run.trace" >"$run.txt"' \
        'has "$run.txt" "^  MPI_Waitall .* 4 +[0-9.]+$"' 'has "$run.txt" "^  Comp Granularity .* 34 +[0-9.]+$"' \
        'has "$run.txt" "^  Comm Overhead .* 34 +[0-9.]+$"' 'has "$run.txt" "^gap +0.000 ms"'
done
