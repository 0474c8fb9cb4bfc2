#!/bin/bash
# Collectives that ranks complete in opposite orders, and persistent ones that they start in
# opposite orders: each is one instance. In 10 rounds one rank leaves out one.
. "$(dirname "$0")/../lib/sh.sh"

observe orders 2 "$PROGRAMS/orders"
check "the program runs" ran_well orders
check "the archive has each call by its number" archive_sound orders.trace
report_json orders.trace orders.json
cat >expected <<'END'
MPI_Iallgather iallgather calls 18 instances 9
MPI_Ibcast another calls 18 instances 9
MPI_Ibcast ibcast calls 36 instances 18
MPI_Start start_alltoall calls 8 instances 4
MPI_Start start_gather calls 8 instances 4
END
check "each call site has its own calls and instances" same expected \
    <(json orders.json '"\n".join("%s %s calls %d instances %d" % tuple(r[f] for f in ("mpi_function", "function",
        "calls", "instances")) for r in sorted(d["collectives"], key=lambda r: (r["mpi_function"], r["function"])))')
check "skews equal those of the archive's events" \
    "$PYTHON" "$ROOT/tests/report/check_skews.py" orders.trace/traces.otf2 orders.json
