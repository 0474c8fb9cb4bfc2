"""Requests of every kind, from the call that makes them to their completion, in programs with known
completions, bytes and messages.
"""
import re

import pytest
from lib.runs import BUILD, ran

# Of each function: calls, completions of the requests that they made, bytes sent and received; of each pair
# of ranks: messages and bytes.
KNOWN = """\
MPI_Comm_idup 2 2 0 0
MPI_Ibcast 2 2 100 100
MPI_Imrecv 1 1 0 100
MPI_Irecv 24 23 0 2300
MPI_Isend 24 23 2400 0
MPI_Mrecv 1 0 0 100
MPI_Precv_init 1 2 0 400
MPI_Psend_init 1 2 0 0
MPI_Recv 1 0 0 100
MPI_Recv_init 1 5 0 500
MPI_Send 2 0 200 0
MPI_Send_init 1 5 0 0
MPI_Start 10 0 700 0
MPI_Startall 4 0 200 0
0 1 33 3500""".split("\n")


def counts(run):
    assert run.ran_well()
    functions = [[row[field] for field in ("mpi_function", "calls", "completed_calls", "sent_bytes", "received_bytes")]
                 for row in run.report["functions"]]
    pairs = run.report["messages"]["pairs"]
    assert all((pair["sent_messages"], pair["sent_bytes"]) == (pair["received_messages"], pair["received_bytes"])
               for pair in pairs)
    return [" ".join(map(str, row)) for row in sorted(row for row in functions if any(row[2:])) +
            [[pair[field] for field in ("from", "to", "messages", "bytes")] for pair in pairs]]


@pytest.mark.parametrize("variables", [
    {"STAGGER_TRACE": "stats"}, {"STAGGER_TRACE": "stats", "STAGGER_WAIT_HOOK": "none"}, {}])
def test_counts(variables):
    """completions, bytes and messages are the program's own, and all but two partitioned messages are in the archive"""
    known = ran(2, "known_requests", STAGGER_WAIT="yield", **variables)
    assert counts(known) == KNOWN
    if not variables:
        assert [known.report["wait_states"][field] for field in (
            "matched_messages", "unmatched_sends", "unmatched_receives")] == [31, 0, 0]


@pytest.mark.parametrize("mode", ["stats", "otf2"])
def test_memory(mode):
    """requests that nobody waits for, of which MPICH keeps nothing, use bounded memory"""
    dropped = ran(2, "known_requests", "dropped", STAGGER_TRACE=mode)
    assert dropped.ran_well() and len(re.findall(r"^grown by \d{1,3} KiB$", dropped.out, re.MULTILINE)) == 2


def test_fortran():
    """completions, bytes and messages of a program in Fortran 2008 are its own"""
    if not (BUILD / "mpi/known_requests_f08").exists():
        pytest.skip("no compiler for it was found")
    assert counts(ran(2, "known_requests_f08", STAGGER_TRACE="stats")) == [
        "MPI_Irecv 17 17 0 680", "MPI_Isend 17 17 680 0", "0 1 17 680"]


def test_errors():
    """receives of messages that are too long complete, whatever call finds it, and count no bytes"""
    rows = [row for row in ran(3, "all_calls", "file").report["calls"]
            if row["function"] == "try_truncated" and row["mpi_function"] in ("MPI_Irecv", "MPI_Isend")]
    assert all(row["calls"] == row["completed_calls"] for row in rows)
    assert sum(row["calls"] for row in rows) == 210 and any(row["received_bytes"] for row in rows)
    # Two of three receives of one call are long enough.
    assert sum(row["received_bytes"] for row in rows) * 3 == sum(
        2 * row["sent_bytes"] for row in rows if row["calls"] % 9 == 0 and row["mpi_function"] == "MPI_Isend")
