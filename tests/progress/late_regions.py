#!/usr/bin/python3
"""Counts the late contributions of an OTF2 archive by their attributes.

    late_regions.py DIR/traces.otf2

A line: NUMBER x LOCATION ITS NAME: FUNCTION OPERATION COMMUNICATOR from CHILD[, wait avoided]
"""
import collections
import sys

import otf2
from otf2.events import Enter


def main():
    counts = collections.Counter()
    with otf2.reader.open(sys.argv[1]) as trace:
        for location, event in trace.events:
            if not isinstance(event, Enter) or event.region.name != "late contribution":
                continue
            values = {a.name: v for a, v in event.attributes.items()}
            counts[f"{location._ref} {location.name}: {values['call site'].split(' ')[0]}"
                   f" {values['operation'].name} {values['communicator'].name}"
                   f" from {values['child']}"
                   + (", wait avoided" if values["wait avoided"] > 0 else "")] += 1
    for kind, count in sorted(counts.items()):
        print(count, "x", kind)


main()
