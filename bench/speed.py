#!/usr/bin/python3
"""Prints the speed table from stagger-bench's results: speed.py DIRECTORY.

DIRECTORY holds files LABEL.ROUND.json, one per run: LABEL is the run's name below, with the prefix
"openmpi-" if the same program was built with Open MPI. A figure is the median over the rounds; an
interval extends from the lowest to the highest bound of any round.
"""
import glob
import json
import os
import statistics
import sys

# Run, operation, bytes, class of ranks (processor time), trace, goal as ratio to MPICH, and whether
# Open MPI's time is also a goal.
CASES = [
    ("small-off", "barrier", 0, None, "off", 0.2, False),
    ("small-otf2", "barrier", 0, None, "otf2", 0.3, False),
    ("small-off", "allreduce", 8, None, "off", 0.2, False),
    ("small-otf2", "allreduce", 8, None, "otf2", 0.3, False),
    ("small-off", "reduce", 8, None, "off", 0.35, False),
    ("small-otf2", "reduce", 8, None, "otf2", 0.5, False),
    ("large", "allreduce", 65536, None, "off", 0.7, False),
    ("large", "allreduce", 1048576, None, "off", 0.6, False),
    ("large", "allreduce", 8388608, None, "off", 0.6, False),
    ("bcast", "bcast", 8, None, "off", 0.6, True),
    ("bcast", "bcast", 4096, None, "off", 0.6, True),
    ("bcast", "bcast", 65536, None, "off", 0.6, True),
    ("bcast", "bcast", 1048576, None, "off", 0.6, True),
    ("four", "barrier", 0, None, "off", 1 / 500, True),
    ("four", "allreduce", 8, None, "off", 1 / 500, True),
    ("eight", "barrier", 0, None, "off", 1 / 500, True),
    ("eight", "allreduce", 8, None, "off", 1 / 500, True),
    ("late", "reduce", 8, "root", "off", 1 / 2, False),
    ("late", "reduce", 8, "non-root", "off", 1 / 50, False),
]
# Open MPI has no trace.
FOREIGN_RUN = {"small-off": "small", "small-otf2": "small"}


def load(directory):
    """The results of each run, in the order of the rounds."""
    runs = {}
    for path in sorted(glob.glob(os.path.join(directory, "*.json"))):
        with open(path, encoding="utf-8") as file:
            runs.setdefault(os.path.basename(path).split(".")[0], []).append(json.load(file))
    return runs


def rows_of(runs, label, operation, size, ranks_class):
    """The run's rows of one case, one per round."""
    found = []
    for result in runs.get(label, []):
        rows = result["results"] if ranks_class is None else result["late"]["results"]
        found += [row for row in rows
                  if (row["op"], row["bytes"], row.get("class")) == (operation, size, ranks_class)]
    return found


def median(rows, field):
    """None if no round has the value."""
    values = [row[field] for row in rows if row[field] is not None]
    return statistics.median(values) if values else None


def limit_us(runs, label, operation, size, ranks_class):
    """The machine's limit, if it is simple: one transfer of a cache line, or one read of every operand and
    one write of every result."""
    limits = [run["limits"] for run in runs.get(label, [])]
    ranks = [run["ranks"] for run in runs.get(label, [])]
    if ranks_class is not None or not limits or ranks[0] != 2 or operation == "reduce":
        return None
    if size <= 8:
        line_ns = median(limits, "line_ns")
        return None if line_ns is None else line_ns / 1e3
    copy_gbs = median(limits, "copy_gbs")
    # A broadcast reads its operand once and writes its result once.
    copied = size if operation == "bcast" else 2 * size * ranks[0]
    return None if copy_gbs is None else copied / copy_gbs / 1e3


def shown(value, decimals=2):
    """Three digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:.{decimals if abs(value) < 100 else 0}f}"


def ratio_shown(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.1 else f"{value:.5f}"


def size_shown(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def name_of(runs, label, operation, size, ranks_class):
    ranks = runs[label][0]["ranks"]
    name = operation if operation == "barrier" else f"{operation} {size_shown(size)}"
    if ranks_class is None:
        return f"{name}, {ranks} ranks"
    late = runs[label][0]["late"]
    return f"{name}, {ranks} ranks, {ranks_class}, rank {late['rank']} late"


def print_case(runs, case):
    label, operation, size, ranks_class, trace, goal, against_foreign = case
    rows = rows_of(runs, label, operation, size, ranks_class)
    if not rows:
        return
    foreign_label = "openmpi-" + FOREIGN_RUN.get(label, label)
    foreign = median(rows_of(runs, foreign_label, operation, size, ranks_class), "mpich_us")
    ours, stock, ratio = (median(rows, field) for field in ("ours_us", "mpich_us", "ratio"))
    lows = [row["ratio_low"] for row in rows if row["ratio_low"] is not None]
    highs = [row["ratio_high"] for row in rows if row["ratio_high"] is not None]
    interval = f"{ratio_shown(min(lows, default=None))} to {ratio_shown(max(highs, default=None))}"
    met = ratio is not None and ratio <= goal
    if against_foreign and foreign is not None:
        met = met and ours <= foreign
    print(f"{name_of(runs, label, operation, size, ranks_class):42} {trace:5} {shown(ours, 3):>8} "
          f"{shown(stock, 3):>8} {ratio_shown(ratio):>8} {interval:20} {ratio_shown(goal):>7} "
          f"{'yes' if met else 'no':4} {shown(foreign, 3):>8} "
          f"{shown(limit_us(runs, label, operation, size, ranks_class), 3):>8}")


def main():
    runs = load(sys.argv[1])
    known = {case[0] for case in CASES}
    mine = [run for label in known for run in runs.get(label, [])]
    if not mine:
        sys.exit("speed: no results")
    rounds = max(len(runs.get(label, [])) for label in known)
    lines = [run["limits"] for run in mine]
    print(f"ours against stock MPICH in the same run ({mine[0]['mpi']}), medians over "
          f"{rounds} rounds; us a call,")
    print("of processor time where a rank is late by 1 ms; interval: 95 % in each round")
    print(f"limits here: cache line one way {shown(median(lines, 'line_ns'), 0)} ns, memory copy "
          f"{shown(median(lines, 'copy_gbs'), 1)} GB/s")
    print()
    print(f"{'case':42} {'trace':5} {'ours':>8} {'MPICH':>8} {'ratio':>8} {'interval':20} "
          f"{'goal':>7} {'met':4} {'Open MPI':>8} {'limit':>8}")
    for case in CASES:
        print_case(runs, case)
    print()
    print("Of bcast, and with more ranks than processors, the goal is Open MPI's time, too, where it is")
    print("known. limit: a cache line's way; of large operands 2 x bytes x ranks (bcast: its bytes) at the")
    print("speed of copying 8 MiB, below which operands that stay in caches may be.")
    changed = sum(row.get("speed_changed", False) for label in known for run in runs.get(label, [])
                  for row in run["results"] + run.get("late", {}).get("results", []))
    if changed:
        print(f"Processors changed their speed in {changed} measured rows (docs/measuring.md): see "
              "speed_low and speed_high there.")


if __name__ == "__main__":
    main()
