"""Waits for the last member in calls on files, in those that make communicators, in MPI_Init and MPI_Finalize,
and for a target that computes: the states, functions and ranks, whatever the number of rounds that waited.
"""
import re

import pytest
from lib.runs import Run, has, lacks, ran, stagger


def known():
    return ran(3, "known_members")


def pairs():
    return known().report["wait_states"]["pairs"]


def measured(what):
    """By rank, as the program printed it."""
    return {int(rank): float(value) for rank, value in re.findall(rf"^rank (\d): .*{what} ([0-9.]+)", known().out, re.M)}


def test_runs():
    """the program runs, and its archive is sound"""
    assert known().ran_well() and known().is_sound()


@pytest.mark.parametrize("state, call, place, rank", [
    ("wait at file", "MPI_File_open", "open_file", 2), ("wait at file", "MPI_File_write_at_all", "write_all", 1),
    ("wait at file", "MPI_File_read_at_all_begin", "split_read", 0), ("wait at file", "MPI_File_close", "close_file", 2),
    ("wait at file", "MPI_Wait", "begin_read", 1), ("wait at communicator", "MPI_Wait", "begin_dup", 2),
    ("wait at communicator", "MPI_Comm_dup", "dup_comm", 1), ("wait at communicator", "MPI_Comm_split", "split_comm", 2),
    ("wait at communicator", "MPI_Cart_create", "make_grid", 0), ("wait at init", "MPI_Init", None, 1),
    ("wait at finalize", "MPI_Finalize", None, 2)])
def test_last_member(state, call, place, rank):
    """the others wait for the last member, whom the critical path blames"""
    assert [(pair["rank"], pair["for"]["function"]) for pair in pairs()
            if (pair["state"], pair["mpi_function"], pair["function"]) == (state, call, place)] == [(rank, place)]
    assert rank in {row["rank"] for row in known().report["critical_path"]["rows"]
                    if row["kind"] == "interval" and row["until"]["function"] == place and
                    (place is not None or row["until"]["mpi_function"] == call)}


def test_target():
    """a lock or an unlock waits for a target that makes no call, until it makes one"""
    found = [pair for pair in pairs() if pair["state"] == "late target"]
    assert {(pair["function"], pair["rank"], pair["for"]["function"]) for pair in found} == {
        ("add_there", 1, "late_target")}
    assert {pair["mpi_function"] for pair in found} <= {"MPI_Win_lock", "MPI_Accumulate", "MPI_Win_unlock"}


def test_amounts():
    """ranks wait no longer than their calls last, and their split reads have bytes"""
    waited = sum(pair["wait_ns"] for pair in pairs() if pair["function"] == "write_all")
    assert 0 < waited <= 1e9 * sum(measured("write_all").values())
    received = {row["mpi_function"]: row["received_bytes"] for row in known().report["functions"]}
    assert received["MPI_File_read_at_all_end"] == sum(measured("split_read").values()) == 3 * 10 * 4096


@pytest.mark.parametrize("trace", ["otf2", "stats"])
def test_ends(trace):
    """the time in MPI_Init and MPI_Finalize is part of the run, and of the time in MPI"""
    mpi = (known() if trace == "otf2" else Run(3, "known_members", STAGGER_TRACE="stats")).report["mpi"]
    calls = mpi["time_ns"] - mpi["init_finalize_ns"]
    assert calls > 0 and mpi["init_finalize_ns"] > 2 * 2 * 0.3e9 * 0.9 and mpi["share"] <= 1
    assert mpi["time_ns"] <= mpi["processor_ns"]


def test_left_out():
    """calls on files that some functions' filter leaves out are numbered all the same"""
    fewer = Run(3, "known_members", STAGGER_CALLS="File_write_at_all,Comm_dup")
    states = {(pair["state"], pair["function"], pair["rank"]) for pair in fewer.report["wait_states"]["pairs"]}
    assert fewer.is_sound() and ("wait at communicator", "dup_comm", 1) in states
    assert ("wait at file", "write_all", 1) in states
    assert lacks(stagger("report", "--waits", "--top", 100, fewer.trace), "MPI_File_open")
    assert has(stagger("report", "--waits", "--top", 100, fewer.trace), "^ +wait at file +MPI_File_write_at_all +write_all ")
