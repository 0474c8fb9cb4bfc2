#!/usr/bin/python3
"""Prints the summary of `make bench`: one line per goal, with the measured value, and the limit if the
machine sets one: goals.py DIRECTORY.

DIRECTORY holds calls.json, speed/, nodes/ and instrument/, written by bench/bench.sh; missing inputs have
no line. Also writes goals.json there.
"""
import json
import os
import sys

import nodes
import speed


def line(name, goal, measured, met, limit=None, unit="ratio"):
    return {"goal": name, "at_most": goal, "measured": measured, "unit": unit, "limit": limit,
            "met": met}


def load(*path):
    path = os.path.join(*path)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def of_calls(directory):
    for row in load(directory, "calls.json") or []:
        yield line(f"ns a call costs, trace {row['mode']}", row["goal_ns"], row["added_ns"],
                   row["added_ns"] <= row["goal_ns"], unit="ns")


def of_speed(directory):
    runs = speed.load(os.path.join(directory, "speed"))
    for label, operation, size, ranks_class, trace, goal, against_foreign in speed.CASES:
        rows = speed.rows_of(runs, label, operation, size, ranks_class)
        ratio = speed.median(rows, "ratio")
        if ratio is None:
            continue
        foreign = speed.median(speed.rows_of(runs, "openmpi-" + speed.FOREIGN_RUN.get(label, label),
                                             operation, size, ranks_class), "mpich_us")
        ours, limit_us = speed.median(rows, "ours_us"), speed.limit_us(runs, label, operation, size,
                                                                       ranks_class)
        stock = speed.median(rows, "mpich_us")
        met = ratio <= goal
        if against_foreign and foreign is not None:
            met = met and ours <= foreign
        name = speed.name_of(runs, label, operation, size, ranks_class)
        yield line(f"{name}, trace {trace}: to MPICH's", goal, ratio, met,
                   limit_us / stock if limit_us and stock else None)


def of_nodes(directory):
    runs = nodes.load(os.path.join(directory, "nodes"))
    for row in nodes.rows_of(runs, "cpu-skewed"):
        if (row["ranks"], row["elements"]) == (nodes.FACTOR_RANKS, nodes.FACTOR_ELEMENTS):
            low = row["factor_low"]
            yield line(f"bypass reduce, {row['ranks']} nodes: MPICH's processor time to ours, at least",
                       nodes.FACTOR_GOAL, low, low is not None and low >= nodes.FACTOR_GOAL)
    delays = nodes.rows_of(runs, "delay")
    for operation, ranks in sorted({(row["op"], row["ranks"]) for row in delays}):
        by = {row["algorithm"]: row["delay_us"] for row in delays
              if (row["op"], row["ranks"]) == (operation, ranks)}
        if ranks in nodes.DELAY_RANKS and by.get("adaptive") and by.get("tree"):
            ratio = by["adaptive"] / by["tree"]
            yield line(f"adaptive {operation}, {ranks} nodes: delay to the tree's", nodes.DELAY_GOAL,
                       ratio, ratio <= nodes.DELAY_GOAL)
    tree = {row["ranks"]: row["ours_us"] for row in nodes.rows_of(runs, "latency-tree")}
    for row in nodes.rows_of(runs, "latency-bypass"):
        if tree.get(row["ranks"]):
            ratio = row["ours_us"] / tree[row["ranks"]]
            yield line(f"bypass reduce, {row['ranks']} nodes: latency to the tree's",
                       nodes.LATENCY_GOAL, ratio, ratio <= nodes.LATENCY_GOAL)


def of_instrument(directory):
    clock = load(directory, "instrument", "clock.json")
    for row in clock["results"] if clock else []:
        if row["kind"] == "audit":
            room = row["trip_us"] + row["bound_us"]
            yield line(f"clocks of ranks {row['peer']} and {row['rank']}: difference within the bounds",
                       room, abs(row["difference_us"]), row["within"], unit="us")


def shown(value):
    if value is None:
        return "-"
    return f"{value:.4g}"


def main():
    directory = sys.argv[1]
    lines = [*of_calls(directory), *of_speed(directory), *of_nodes(directory),
             *of_instrument(directory)]
    with open(os.path.join(directory, "goals.json"), "w", encoding="utf-8") as file:
        json.dump({"version": 1, "goals": lines}, file, indent=1)
    print(f"{'goal':72} {'goal':>8} {'measured':>9} {'limit':>8}  met")
    for each in lines:
        print(f"{each['goal']:72} {shown(each['at_most']):>8} {shown(each['measured']):>9} "
              f"{shown(each['limit']):>8}  {'yes' if each['met'] else 'no'}")
    print(f"\n{sum(each['met'] for each in lines)} of {len(lines)} met. limit: what the machine allows, "
          "as the goal is measured")


if __name__ == "__main__":
    main()
