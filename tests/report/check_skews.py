"""Computes the skew of MPICH's collectives by call site from the archive, with OTF2's own reader, and
compares it with the report: python3 check_skews.py traces.otf2 REPORT.json.
"""
import collections
import json
import statistics
import sys

import otf2


def calls_of(archive):
    """(comm, order, rank, begin, function, call site) of each member's part in a collective."""
    entered, begun = {}, {}
    orders = collections.Counter()
    with otf2.reader.open(archive) as trace:
        for location, event in trace.events:
            kind = type(event).__name__
            rank = location.group.name
            if kind == "Enter" and event.region.paradigm == otf2.Paradigm.MPI:
                texts = {a.name: v for a, v in (event.attributes or {}).items()}
                entered[location] = (event.time, event.region.name, texts.get("call site"), "seq" in texts)
            elif kind == "NonBlockingCollectiveRequest":
                begun[rank, event.request_id] = entered[location]
            elif kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
                call = entered[location] if kind == "MpiCollectiveEnd" else begun[rank, event.request_id]
                if call[3]:
                    continue
                name = event.communicator.name
                order = {a.name: v for a, v in (event.attributes or {}).items()}.get("number", orders[name, rank])
                orders[name, rank] += 1
                yield name, order, int(rank.split()[-1]), *call[:3]


def main(archive, report):
    instances = collections.defaultdict(list)
    for comm, order, rank, begin, function, site in calls_of(archive):
        instances[comm, order].append((rank, begin, function, site))
    skews, lasts = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for members in instances.values():
        members.sort()
        assert len({m[2:] for m in members}) == 1, members
        begins = [m[1] for m in members]
        key = members[0][2], members[0][3].rsplit("#", 1)[1]
        skews[key].append(max(begins) - min(begins))
        lasts[key][members[begins.index(max(begins))][0]] += 1
    expected = {
        key: [len(values), min(s for s in values if 2 * sum(t <= s for t in values) >= len(values)), max(values),
              round(float(f"{statistics.mean(values):.9g}"), 3), max(lasts[key].values())]
        for key, values in skews.items()
    }
    with open(report, encoding="utf-8") as file:
        rows = json.load(file)["collectives"]
    found = {
        (row["mpi_function"], row["id"]): [
            row["instances"], row["skew_ns"]["p50"], row["skew_ns"]["max"], round(row["skew_ns"]["mean"], 3),
            round(row["last_rank_share"] * row["instances"])]
        for row in rows if row["instances"]
    }
    wrong = [f"{key}: {found.get(key)} instead of {expected.get(key)}"
             for key in expected.keys() | found.keys() if found.get(key) != expected.get(key)]
    print("\n".join(wrong))
    return 1 if wrong or not found else 0


sys.exit(main(*sys.argv[1:]))
