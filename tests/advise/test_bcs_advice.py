"""stagger advise --bcs: runs replayed with nonblocking calls and in slices, compared with answers worked
out by hand, and a real run.
"""
import os

import pytest
from lib.runs import Run, STAGGER, checked, has, lacks, refuses, run, stagger, writer

COSTS = "latency_us = 5\noverhead_us = 1\ngap_ns_per_byte = 1\nlocal_us = 2\ncopy_ns_per_byte = 0.5\n"
USUAL = None  # the slice of the run as usual


@pytest.fixture(scope="module", autouse=True)
def archives():
    make = writer("report/make_messages")
    for words in ("exchange 2 100", "sends 2 50", "ring 4 50", "known"):
        make(*words.split(), words.split()[0])
    writer("advise/make_planted")("pair", "pair")
    os.mkdir("statistics")
    writer("report/make_archive")("statistics", "statistics")
    with open("net.conf", "w", encoding="utf-8") as file:
        file.write(COSTS)


def replayed(*words):
    """The replay, and its rows by messages and slice."""
    found = checked("advise", stagger("advise", "--bcs", "--json", "--network", "./net.conf", *words))["coscheduling"]
    return found, {(row["messages"], row["slice_us"]): row for row in found["rows"]}


def text(*words):
    return run(STAGGER, "advise", "--bcs", "--network", "./net.conf", *words).stdout


def test_model():
    """a run that follows the model is replayed without an error"""
    found, rows = replayed("exchange")
    assert (found["measured_ns"], found["error_ns"], found["calls"]) == (100200800, 0, 400)
    assert rows["as recorded", USUAL]["run_ns"] == 100200800
    # Each of 100 rounds posts a send (2 us) and receives a message (2 us); the last round takes 2004 us more.
    assert rows["nonblocking", USUAL]["run_ns"] == 99402004


def test_slices():
    """in slices, each of two blocking calls waits for a boundary, or for the next slice; nonblocking calls do not"""
    rows = replayed("--slice", "100,500", "exchange")[1]
    # Strobes interrupt the computation, so 1 ms of it may end in an eleventh slice.
    assert 118000000 < rows["as recorded", 100]["run_ns"] < 131000000
    assert 198000000 < rows["as recorded", 500]["run_ns"]
    # The remaining cost is the interrupting strobes: two a round, a few us each.
    assert rows["nonblocking", 500]["run_ns"] < 102000000
    restart, later = replayed("--slice", 100, "--restart", "slice", "exchange")
    assert restart["restart"] == "slice" and later["as recorded", 100]["run_ns"] > rows["as recorded", 100]["run_ns"]


def test_kinds():
    """blocking sends that all come first deadlock in slices; requests and collectives are replayed as recorded"""
    rows = replayed("sends")[1]
    assert not rows["as recorded", 100]["ends"] and rows["as recorded", 100]["run_ns"] is None
    assert rows["nonblocking", 100]["ends"] and rows["as recorded", USUAL]["ends"]
    found, rows = replayed("ring")
    assert (found["calls"], len(rows)) == (600, 6)
    found, rows = replayed("pair")
    assert found["calls"] == 42 and rows["as recorded", USUAL]["run_ns"] == rows["nonblocking", USUAL]["run_ns"]


def test_text():
    """the text reports the error, deadlocks and why a run cannot be replayed, and gives no advice"""
    exchange = text("exchange")
    assert has(exchange, "^replayed as usual 100ms: the error of the model is 0ns .0.0%.$", "^no advice: ")
    assert exchange.count("\n    as usual ") == 2 and exchange.count("\n    slices of ") == 4 and lacks(exchange, "=bcs")
    assert text("sends").count(" deadlock: its blocking sends need buffers") == 2
    assert replayed("known")[0]["why_not"] and has(text("known"), "^The run cannot be replayed: ")
    assert has(text("statistics"), "^The run cannot be replayed: its events contain no messages")


@pytest.mark.parametrize("words, line", [
    ("--bcs -o rules exchange", "bcs cannot be combined with --output"), ("--slice 100 exchange", "slice needs --bcs"),
    ("--bcs --slice 0 exchange", "slice wants"),
    ("--bcs --restart soon exchange", "restart wants phase or slice, not 'soon'")])
def test_bad_usage(words, line):
    """an invalid option is bad usage"""
    assert refuses(2, line, "advise", *words.split())


@pytest.mark.parametrize("ranks", [2, 4])
def test_real(ranks):
    """a real run is replayed, and nonblocking calls make it shorter"""
    real = Run(ranks, "exchanges", 1, 20)
    assert real.ran_well()
    found = checked("advise", stagger("advise", "--bcs", "--json", real.trace))["coscheduling"]
    rows = {(row["messages"], row["slice_us"]): row["run_ns"] for row in found["rows"]}
    assert found["why_not"] is None and found["calls"] == 20 * 4 * (ranks - 1) + ranks
    assert 0 < rows["nonblocking", USUAL] < rows["as recorded", USUAL]
