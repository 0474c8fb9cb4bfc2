#!/bin/bash
# Skew by call site of the collectives that MPICH runs, for a program with known late ranks. Ignores
# the amount of lateness and requires the last rank only in most rounds: the machine may be slow.
. "$(dirname "$0")/../lib/sh.sh"

observe skews 3 "$PROGRAMS/known_skews"
check "the program runs" ran_well skews
report_json skews.trace skews.json
cat >expected <<'END'
MPI_Allgather allgather MPI_COMM_WORLD 3 calls 30 instances 10 last 1
MPI_Alltoall alltoall MPI_COMM_WORLD 3 calls 30 instances 10 last 0
MPI_Ibarrier ibarrier pair 2 calls 20 instances 10 last 0
MPI_Scatter scatter MPI_COMM_WORLD 3 calls 30 instances 10 last 2
END
check "each call site has its communicator, calls, instances and last rank" same expected \
    <(json skews.json '"\n".join("%s %s %s %d calls %d instances %d last %d" % tuple(r[f] for f in ("mpi_function",
        "function", "comm", "comm_size", "calls", "instances", "last_rank")) for r in
        sorted(d["collectives"], key=lambda r: r["mpi_function"]))')
check "the last ranks waited for nobody, and the others for them" json skews.json \
    'all(r["wait_ns"] > 0 for r in d["collectives"] if r["mpi_function"] != "MPI_Scatter") or exit(1)'
check "skews equal those of the archive's events" \
    "$PYTHON" "$ROOT/tests/report/check_skews.py" skews.trace/traces.otf2 skews.json
check "collectives that the library ran are listed separately, with skews of their own" is "barrier 10" \
    "$(json skews.json '" ".join("%s %d" % (r["op"], sum(s["instances"] for s in d["by_site"])) for r in d["by_site"][:1])')"
check "the text has the skews" has <("$STAGGER" report skews.trace) \
    '^  MPI_Allgather +allgather known_skews.c:[0-9]+ +WORLD\(3\) +30 +10 .* 1 +[0-9]+% '
check "CSV has the skews" has <("$STAGGER" report --csv=collectives skews.trace) \
    '^MPI_Ibarrier,[0-9a-f]{8},ibarrier,.*,pair,2,1,20,10,'
