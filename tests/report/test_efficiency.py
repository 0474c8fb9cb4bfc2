"""POP's efficiencies of real runs: their identities, and their values against what the program measured itself and what
a reader of OTF2 computes from the events.
"""
import functools
import math
import os
import re

import otf2
import pytest
from lib.runs import has, lacks, ran, report, stagger

NEAR = functools.partial(math.isclose, rel_tol=0.01)
# There useful time is time on a processor.
CROWDED = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks need two processors")
FACTORS = ["load_balance", "serialization", "transfer", "communication", "parallel"]


def known(*words, **variables):
    return ran(2, "known_useful", *words, **variables)


def measured(run):
    """The program's own figures: when each rank began, the longest run up to MPI_Finalize, and the time outside of MPI by
    rank and round."""
    lines = [[int(word) for word in line.split()] for line in run.out.splitlines()]
    assert [line[0] for line in lines] == [0, 1]
    return [line[1] for line in lines], max(line[2] for line in lines), [line[3:] for line in lines]


def agrees(claims, **variables):
    """Some launch of five agrees: a busy machine may take the processor away between a stamp of the program and that of the
    library."""
    failed = []
    for launch in range(5):
        run = known(f"launch {launch}", **variables)
        failed += [[claim for claim, holds in claims(run.report["efficiency"], *measured(run)).items() if not holds]]
        if not failed[-1]:
            return True
    return pytest.fail(f"in each launch some claims fail: {failed}")


def test_runs():
    """the program runs, and its archive is sound"""
    assert known().ran_well() and known().is_sound()


@pytest.mark.parametrize("program, ranks", [("known_useful", 2), ("cg", 4), ("known_between", 4), ("threads", 2),
                                            ("brief_threads", 2), ("on_processor", 3)])
def test_identities(program, ranks):
    """the factors multiply to the efficiencies, and the parts of rank time and of the run add up"""
    whole = ran(ranks, program).report
    of = whole["efficiency"]
    same = functools.partial(math.isclose, rel_tol=1e-6)
    assert all(0 <= of[factor] <= 1 for factor in FACTORS)
    assert same(of["parallel"], of["load_balance"] * of["serialization"] * of["transfer"])
    assert same(of["communication"], of["serialization"] * of["transfer"])
    assert same(of["communication"], of["useful_max_ns"] / of["run_ns"])
    assert same(of["transfer"], of["ideal_ns"] / of["run_ns"])
    assert same(of["load_balance"], of["useful_ns"] / of["threads"] / of["useful_max_ns"])
    assert same(of["load_balance"], of["between_machines"] * of["inside_machines"]) and of["machines"] == 1
    assert of["useful_max_ns"] <= of["ideal_ns"] <= of["run_ns"] == whole["run_ns"]
    processor_ns = sum(rank["thread_ns"] for rank in whole["per_rank"])
    assert of["work_ns"] + of["off_processor_ns"] + of["waiting_ns"] + of["mpi_ns"] + of["ends_ns"] == processor_ns
    assert same(of["threads"], sum(rank["thread_ns"] / rank["run_ns"] for rank in whole["per_rank"]))
    assert processor_ns == whole["mpi"]["processor_ns"]
    assert sum(site["time_ns"] for site in of["by_site"]) + whole["mpi"]["init_finalize_ns"] == whole["mpi"]["time_ns"]
    slices = of["over_time"]
    if all(rank["threads"] == 1 for rank in whole["per_rank"]):
        useful_ns = sum(part["parallel"] * (part["end_ns"] - part["begin_ns"]) for part in slices) * of["threads"]
        assert NEAR(useful_ns, of["useful_ns"])
    assert all(before["end_ns"] == after["begin_ns"] for before, after in zip(slices, slices[1:]))
    assert all(part["parallel"] is None or same(part["parallel"], part["load_balance"] * part["communication"])
               for part in slices if part["load_balance"] is not None)


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def amount(text):
    """A time or a share of the text, which has three digits."""
    figure, unit = re.fullmatch(r"([0-9.]+)(.*)", text).groups()
    return float(figure) * (UNITS[unit] if unit != "%" else 0.01)


def table(text, title):
    """The lines of a table, split at blanks, its header first."""
    return [line.split() for line in text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()]


def test_text():
    """the text has the waiting part of each call site's time, and the efficiencies over time"""
    found = ran(4, "cg")
    text, of = stagger("report", "--calls", "--ranks", found.trace), found.report["efficiency"]
    near = functools.partial(math.isclose, rel_tol=0.01, abs_tol=0.001)
    header, *rows = table(text, "Calls of MPI functions by call site")
    waiting = [amount(row[header.index("waiting") - len(header)]) for row in rows]
    assert len(waiting) == len(of["by_site"]) and sum(waiting) > 0
    assert all(near(shown, site["waiting_ns"]) for shown, site in zip(waiting, of["by_site"]))
    _, *rows = table(text, "How efficiencies change over the run")
    assert len(rows) == len(of["over_time"])
    assert all(near(amount(row[2]), part["parallel"]) for row, part in zip(rows, of["over_time"]))


@CROWDED
def test_measured():
    """the report's values are those that the program measured"""
    def claims(of, began_ns, run_ns, outside_ns):
        useful_ns = [sum(rounds) for rounds in outside_ns]
        # Without cost of communication each round, and MPI_Init, take as long as their slowest rank.
        ideal_ns = max(began_ns) - min(began_ns) + sum(map(max, zip(*outside_ns)))
        return {"useful": NEAR(of["useful_ns"], sum(useful_ns)), "longest": NEAR(of["useful_max_ns"], max(useful_ns)),
                "balance": NEAR(of["load_balance"], sum(useful_ns) / 2 / max(useful_ns)),
                "run": of["run_ns"] > 0.99 * run_ns, "ideal": NEAR(of["ideal_ns"], ideal_ns),
                "serialization": NEAR(of["serialization"], max(useful_ns) / ideal_ns)}
    assert agrees(claims)


def outside_of_mpi(archive):
    """By location, the time outside of MPI from the begin of MPI_Init to the end of MPI_Finalize, by OTF2's reader; and
    the longest of these times."""
    begun, depth, entered, inside, ended = {}, {}, {}, {}, {}
    with otf2.reader.open(str(archive)) as trace:
        for location, event in trace.events:
            if not hasattr(event, "region") or event.region.paradigm != otf2.Paradigm.MPI:
                continue
            name = location.group.name + location.name
            if isinstance(event, otf2.events.Enter):
                begun.setdefault(name, event.time)
                depth[name] = depth.get(name, 0) + 1
                if depth[name] == 1:
                    entered[name] = event.time
            else:
                depth[name] -= 1
                if depth[name] == 0:
                    inside[name] = inside.get(name, 0) + event.time - entered[name]
                    ended[name] = event.time
    runs = {name: ended[name] - begun[name] for name in begun}
    return [runs[name] - inside[name] for name in runs], max(runs.values())


@pytest.mark.parametrize("program, ranks", [("known_useful", 2), ("cg", 2)])
@CROWDED
def test_reader(program, ranks):
    """load balance is what an OTF2 reader computes"""
    of = ran(ranks, program).report["efficiency"]
    useful_ns, run_ns = outside_of_mpi(ran(ranks, program).archive)
    assert len(useful_ns) == of["threads"] == ranks
    assert math.isclose(of["load_balance"], sum(useful_ns) / ranks / max(useful_ns), rel_tol=1e-6)
    assert of["useful_ns"] == sum(useful_ns) and of["run_ns"] == run_ns


def test_switched_off():
    """the report says for how long recording was off"""
    run = ran(2, "switched_off")
    least_ns, most_ns = map(int, run.out.split())
    assert 0.9 * least_ns < run.report["off_ns"] <= most_ns
    note = r"^note: recording was off for .* of .* \(MPI_Pcontrol\)"
    assert has(stagger("report", run.trace), note) and has(stagger("report", "--all", run.trace), note)
    stats = ran(2, "switched_off", STAGGER_TRACE="stats")
    least_ns, most_ns = map(int, stats.out.split())
    assert 0.9 * least_ns < stats.report["off_ns"] <= most_ns
    assert ran(2, "brief_threads").report["off_ns"] == 0


def test_on_processor():
    """with more ranks than processors useful time is time on a processor, and the rest is named"""
    run = ran(3, "on_processor", STAGGER_CAUSES="all")
    outside_ns, cpu_ns = map(sum, zip(*(map(int, line.split()) for line in run.out.splitlines())))
    of = run.report["efficiency"]
    assert math.isclose(of["useful_ns"], cpu_ns, rel_tol=0.1) and of["parallel"] <= 1 / 3
    assert outside_ns - cpu_ns < 1.1 * of["off_processor_ns"]
    assert has(stagger("report", run.trace), r"^ +off the processor \d+ %: outside MPI, asleep, in files or ready to run$")


def test_brief_threads():
    """a thread counts from its first call to its last, in all figures of its rank"""
    run = ran(2, "brief_threads")
    main_ns, threads_ns = map(int, run.out.split())
    rank, of = run.report["per_rank"][0], run.report["efficiency"]
    assert rank["threads"] == 6
    assert 0.9 * threads_ns < rank["thread_ns"] - rank["run_ns"] <= threads_ns
    waiting_ns = sum(site["waiting_ns"] for site in of["by_site"] if site["mpi_function"] == "MPI_Recv")
    assert 0.5 * (main_ns + threads_ns) < waiting_ns <= main_ns + threads_ns
    assert rank["compute_ns"] <= rank["thread_ns"] and of["useful_max_ns"] <= rank["run_ns"]


@CROWDED
def test_statistics():
    """without events load balance and communication are known, the ideal run time is not"""
    def claims(of, _, run_ns, outside_ns):
        useful_ns = [sum(rounds) for rounds in outside_ns]
        return {"run": of["run_ns"] > 0.99 * run_ns, "communication": NEAR(of["communication"], max(useful_ns) / of["run_ns"]),
                "balance": NEAR(of["load_balance"], sum(useful_ns) / 2 / max(useful_ns)),
                "parallel": NEAR(of["parallel"], of["load_balance"] * of["communication"])}
    assert agrees(claims, STAGGER_TRACE="stats")
    of = known(STAGGER_TRACE="stats").report["efficiency"]
    assert [of[name] for name in ("ideal_ns", "transfer", "serialization", "waiting_ns", "over_time")] == [None] * 5
    assert has(stagger("report", known(STAGGER_TRACE="stats").trace),
               r"^  parallel efficiency +\d+ %   = load balance \d+ % x serialization - x transfer -$")


def test_parts():
    """a filter makes all unknown"""
    assert report("--rank", "1", known().trace)["efficiency"] is None
    assert lacks(stagger("report", "--rank", "1", known().trace), "parallel efficiency")
