"""Compares a line of `stagger watch --json` with JSON reports on the same logs.

    agrees.py WATCH STATISTICS EVENTS

STATISTICS is `stagger report` on the running job, EVENTS on an archive made of the logs at that moment.
Prints the differences; exits with 1 if there is one.
"""
import collections
import json
import sys

watch, statistics, events = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:4])
faults = []


def compare(what, left, right):
    if left != right:
        faults.append(f"{what}: watch has {left}, the report {right}")


def place_of(row):
    return row["mpi_function"], row["id"], row["function"], row["file"], row["line"]


FIGURES = ["calls", "failed_calls", "time_ns", "sent_bytes", "received_bytes", "completed_calls"]
sums = collections.defaultdict(collections.Counter)
for row in statistics["calls"]:
    sums[place_of(row)].update({figure: row[figure] for figure in FIGURES})
shown = {place_of(row): row for row in watch["calls"] if row["calls"] > 0}
compare("call sites", sorted(map(str, shown)), sorted(map(str, sums)))
for place, row in shown.items():
    compare(place, {figure: row[figure] for figure in FIGURES}, dict(sums[place]))
compare("mpi", watch["mpi"], statistics["mpi"])
compare("ranks", watch["ranks"], statistics["ranks"])
compare("time of ranks", sum(rank["time_ns"] for rank in watch["per_rank"]), statistics["mpi"]["time_ns"])

# For the rank that arrives last, or has the least time, the intervals before the call that exceed
# the others' the most; these rows come first.
befores = (statistics["intervals"] or {"rows": []})["rows"]
told = 0
for place, row in shown.items():
    late = row["last_rank"] if row["last_rank"] is not None else row["least_rank"]
    why = [{field: value for field, value in before.items() if field != "until"} for before in befores
           if before["rank"] == late and before["cause"] is not None and before["until"] is not None
           and place_of(before["until"]) == place]
    compare(("why", place), row["why"], why[0] if why else None)
    told += bool(why)
if befores and not told:
    faults.append("nothing is told of why")

ARRIVALS = ["wait_ns", "instances", "skew_ns", "last_rank", "last_rank_share"]
NAMES = {"MPI_" + op.capitalize(): op
         for op in ["barrier", "reduce", "allreduce", "bcast", "ibarrier", "ireduce", "iallreduce", "ibcast"]}
sites = {(row["op"], row["id"]): row for row in events["by_site"]}
seen = {(NAMES[row["mpi_function"]], row["id"]): row
        for row in watch["calls"] if row["instances"] > 0}
compare("call sites with arrivals", sorted(seen), sorted(sites))
for key in seen.keys() & sites.keys():
    compare(key, {figure: seen[key][figure] for figure in ARRIVALS},
            {figure: sites[key][figure] for figure in ARRIVALS})
if not sums or not sites:
    faults.append("nothing to compare")
print("\n".join(faults))
sys.exit(bool(faults))
