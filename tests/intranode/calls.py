#!/usr/bin/python3
"""Prints the collective calls of an OTF2 archive, one per line, in global order.

    calls.py DIR/traces.otf2

Columns: rank, seq, region, bytes, algorithm, function of the call site, skew in ns, late messages,
early messages, slot stalls, ns in the call, copies.
"""
import re
import sys

import otf2
from otf2.events import Enter, Leave, Metric

REGIONS = {"MPI_Barrier", "MPI_Reduce", "MPI_Allreduce", "MPI_Bcast",
           "MPI_Ibarrier", "MPI_Ireduce", "MPI_Iallreduce", "MPI_Ibcast"}
METRICS = ("skew", "late messages", "early messages", "slot stalls")
FUNCTION = re.compile(r"^([^ ]+) \(")


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        resolution = trace.timer_resolution
        calls, metrics = {}, {}
        for location, event in trace.events:
            if isinstance(event, Enter) and event.region.name in REGIONS:
                calls[location] = event
                metrics[location] = {}
            elif isinstance(event, Metric) and location in calls:
                names = [member.name for member in event.metric.members]
                metrics[location] = dict(zip(names, event.values))
            elif isinstance(event, Leave) and event.region.name in REGIONS:
                enter = calls.pop(location)
                values = {a.name: v for a, v in (enter.attributes or {}).items()}
                measured = metrics.pop(location)
                if "seq" not in values:  # MPICH's, among all calls of MPI
                    continue
                function = FUNCTION.match(values["call site"])
                print(location._ref & 0xFFFFFFFF, values["seq"], event.region.name,
                      values["bytes"], values["algorithm"],
                      function.group(1) if function else "?",
                      *(measured.get(name, 0) for name in METRICS),
                      (event.time - enter.time) * 1000000000 // resolution,
                      measured.get("copies", 0))


main()
