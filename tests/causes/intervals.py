#!/usr/bin/python3
"""Prints an archive's intervals between MPI calls: intervals.py DIR/traces.otf2

Prints a JSON list, one object per interval, in the order of their ends: rank, thread, end_ns,
interval (ns), call (ns, of the call before it), left, entered, its sampled interval, if any (comm,
stretch, bounds), and its figures.
"""
import json
import sys

import otf2
from otf2.events import Enter, Metric


def main():
    out = []
    latest, entered = {}, {}  # by location
    with otf2.reader.open(sys.argv[1]) as trace:
        for location, event in trace.events:
            if isinstance(event, Enter) and event.region.name.startswith("MPI_"):
                entered[location] = event.time
            if not isinstance(event, Metric):
                continue
            names = [member.name for member in event.metric.members]
            values = dict(zip(names, event.values))
            if names == ["interval"]:
                known = {a.name: v for a, v in event.attributes.items()}
                latest[location] = {"rank": location.group._ref, "thread": location._ref >> 32,
                                    "end_ns": event.time,
                                    "call": event.time - values["interval"] - entered.get(location, event.time), "left": known["left"],
                                    "entered": known["entered"], **values}
                if "stretch" in known:
                    latest[location].update(comm=known["communicator"].name,
                                            stretch=known["stretch"], bounds=known["bounds"])
                out.append(latest[location])
            elif location in latest and latest[location]["end_ns"] == event.time:
                latest[location].update(values)
    json.dump(out, sys.stdout)


main()
