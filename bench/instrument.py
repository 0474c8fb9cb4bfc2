#!/usr/bin/python3
"""Prints the measuring instrument's results: instrument.py DIRECTORY (bench/instrument.bash)."""
import json
import os
import sys


def rows(directory, name):
    path = os.path.join(directory, name + ".json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["results"]


def print_clock(found):
    costs = [row for row in found if row["kind"] == "synchronisation"]
    if not costs:
        return
    print("clocks, every rank by itself")
    for row in costs:
        print(f"  {row['scheme']:7} {row['clocks']} clocks in {row['rounds']} rounds, "
              f"{row['time_us']:.0f} us")
    drifts = [row for row in found if row["kind"] == "drift" and row["rank"] != 0]
    if drifts:
        print(f"  bound, most: {max(row['bound_us'] for row in drifts):.2f} us; "
              f"drift, most: {max(abs(row['drift_ppm']) for row in drifts):.3f} ppm")
    audits = [row for row in found if row["kind"] == "audit"]
    print(f"  audit: {sum(row['within'] for row in audits)} of {len(audits)} within the bounds")
    print()


def print_noise(found):
    for row in found:
        print(f"noise of rank {row['rank']}: {100 * row['lost']:.1f} % of the time; quantum "
              f"{row['quantum_us']:.0f} us, most {row['quantum_max_us']:.0f} us")
    print()


def print_latency(found):
    print(f"one call at a time, windows, launches pooled; us{'':12} {'ours':>9} {'interval':>20} "
          f"{'MPICH':>9} {'ratio':>7}")
    for row in found:
        interval = f"{row['launch_low_us']:.2f} to {row['launch_high_us']:.2f}"
        print(f"  {row['op']:10} {row['bytes']:8} bytes, {row['launches']} launches {'':14} "
              f"{row['launch_us']:9.2f} {interval:>20} {row['vs_us']:9.2f} {row['ratio']:7.3f}")
    print()


def print_overlap(found):
    print("overlap of a nonblocking allreduce of 64 KiB: part hidden, paper 004 by time and work, OSU, IMB")
    for row in found:
        print(f"  {row['algorithm']:8} {row['tests']:3} tests   "
              f"{row['overlap']:6.2f} {row['overlap_work']:6.2f} {row['overlap_osu']:6.2f} "
              f"{row['overlap_imb']:6.2f}")
    print()


def main():
    directory = sys.argv[1]
    for print_rows, name in ((print_clock, "clock"), (print_noise, "noise"),
                             (print_latency, "latency"), (print_overlap, "overlap")):
        found = rows(directory, name)
        if found:
            print_rows(found)
    print(f"figures: {directory}/*.svg")


if __name__ == "__main__":
    main()
