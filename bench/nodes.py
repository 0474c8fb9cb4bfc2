#!/usr/bin/python3
"""Prints stagger-bench's measurements between virtual nodes: nodes.py DIRECTORY.

DIRECTORY holds files LABEL.RANKS.json, written by bench/nodes.bash; missing inputs have no line.
"""
import glob
import json
import os
import sys

# Goals for the ratio of MPICH's processor time to stagger's, by ranks, elements and us of skew.
FACTOR_GOAL, FACTOR_RANKS, FACTOR_ELEMENTS, FACTOR_SKEW_US = 5.1, 32, 4, 1000
DELAY_GOAL, DELAY_RANKS = 0.5, range(4, 17)  # of the tree's
LATENCY_GOAL = 1.2  # of the tree's


def load(directory):
    """Results by label, in the order of ranks."""
    runs = {}
    for path in glob.glob(os.path.join(directory, "*.json")):
        label = os.path.basename(path).split(".")[0]
        with open(path, encoding="utf-8") as file:
            runs.setdefault(label, []).append(json.load(file))
    return {label: sorted(found, key=lambda run: run["ranks"]) for label, found in runs.items()}


def rows_of(runs, label):
    return [dict(row, ranks=run["ranks"]) for run in runs.get(label, []) for row in run["results"]]


def shown(value, decimals=1):
    return "-" if value is None else f"{value:.{decimals}f}"


def answer(met):
    return "yes" if met else "no"


def print_cpu(runs):
    labels = ("cpu-together", "cpu-skewed", "cpu-signal", "cpu-poll", "cpu-handoff",
              "cpu-control")
    rows = [row for label in labels for row in rows_of(runs, label)]
    if not rows:
        return
    print("processor time of a reduce, us a call, average over the ranks; factor: MPICH's to ours")
    print(f"{'skew us':>7} {'elements':>8} {'progress':9} {'ranks':>5} {'ours':>8} {'tree':>8} "
          f"{'MPICH':>10} {'factor':>8} {'interval':17} {'goal':>5} met")
    for row in sorted(rows, key=lambda r: (r["skew_us"], r["elements"], str(r["progress"]),
                                           r["ranks"])):
        goal = (row["ranks"], row["elements"], row["skew_us"]) == \
            (FACTOR_RANKS, FACTOR_ELEMENTS, FACTOR_SKEW_US)
        met = row["factor_low"] is not None and row["factor_low"] >= FACTOR_GOAL
        interval = f"{shown(row['factor_low'], 2)} to {shown(row['factor_high'], 2)}"
        print(f"{row['skew_us']:7.0f} {row['elements']:8} {row['progress'] or 'control':9} "
              f"{row['ranks']:5} {shown(row['cpu_us']):>8} {shown(row['tree_cpu_us']):>8} "
              f"{shown(row['mpich_cpu_us']):>10} {shown(row['factor'], 2):>8} {interval:17} "
              f"{FACTOR_GOAL if goal else '':>5} {answer(met) if goal else ''}".rstrip())
    print("control: no library, so that both sides are MPICH's; 1 but for noise. Below what it spans a "
          "factor says nothing.")
    print(f"goal: {FACTOR_GOAL}, by the low end, at {FACTOR_RANKS} ranks (make bench FULL=1), growing with the ranks. "
          "With more ranks than")
    print(f"processors (here {os.cpu_count()}) MPICH's waiting also costs those that are waited for: "
          "2 ranks show the factor")
    print("without that, where there are 2 processors.")
    print()


def print_delay(runs):
    rows = rows_of(runs, "delay")
    if not rows:
        return
    print("synchronization delay, us, last rank late by 1 ms; ratio: adaptive's to the tree's")
    others = ("dissemination", "pairwise")
    print(f"{'operation':10} {'ranks':>5} {'adaptive':>9} {'tree':>9} {'other':>9} {'MPICH':>10} "
          f"{'ratio':>7} {'goal':>5} met")
    for operation, ranks in sorted({(row["op"], row["ranks"]) for row in rows}):
        by = {row["algorithm"]: row["delay_us"] for row in rows
              if (row["op"], row["ranks"]) == (operation, ranks)}
        known = by["adaptive"] is not None and by["tree"] is not None
        ratio = by["adaptive"] / by["tree"] if known else None
        goal = ranks in DELAY_RANKS
        print(f"{operation:10} {ranks:5} {shown(by['adaptive']):>9} {shown(by['tree']):>9} "
              f"{shown(next((by[name] for name in others if name in by), None)):>9} "
              f"{shown(by['mpich']):>10} {shown(ratio, 2):>7} {DELAY_GOAL if goal else '':>5} "
              f"{answer(known and ratio <= DELAY_GOAL) if goal else ''}".rstrip())
    counted = sum(row["calls"] for row in rows)
    print("other: dissemination of a barrier, pairwise of an allreduce. Calls to which the late rank came "
          "last, and")
    print(f"which count: {counted} of {sum(row['rounds'] for row in rows)}")
    print()


def print_latency(runs):
    tree = {row["ranks"]: row["ours_us"] for row in rows_of(runs, "latency-tree")}
    rows = [row for row in rows_of(runs, "latency-bypass") if row["ranks"] in tree]
    if not rows:
        return
    print("latency of a reduce of 4 doubles without skew, us, of two runs")
    print(f"{'ranks':>5} {'bypass':>9} {'tree':>9} {'ratio':>7} {'goal':>5} met")
    for row in rows:
        ratio = row["ours_us"] / tree[row["ranks"]]
        print(f"{row['ranks']:5} {shown(row['ours_us']):>9} {shown(tree[row['ranks']]):>9} "
              f"{ratio:7.2f} {LATENCY_GOAL:5} {answer(ratio <= LATENCY_GOAL)}")
    print()


def main():
    runs = load(sys.argv[1])
    if not runs:
        sys.exit("nodes: no results")
    print("between nodes: each rank a virtual node of this machine (STAGGER_RANKS_PER_NODE=1)")
    print()
    print_cpu(runs)
    print_delay(runs)
    print_latency(runs)


if __name__ == "__main__":
    main()
