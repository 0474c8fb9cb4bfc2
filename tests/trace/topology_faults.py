#!/usr/bin/python3
"""Plants faults into topologies and neighborhood collectives of a sound archive, one at a time, and
asks the checker (tests/lib/check_topologies.py) for each: it must find that rule broken, and that
rule must hold without the fault.

    topology_faults.py DIR/traces.otf2

Prints a line for each fault that is not found, and for each rule of the checker without a fault, and
exits 1 if there is one.
"""
import copy
import os
import sys
from types import SimpleNamespace

import otf2
from otf2.events import Enter, Leave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import check_archive  # noqa: E402
from check_topologies import BEGUN, COMPLETE, NEIGHBORHOODS, Topologies  # noqa: E402


class Named:
    """A stand-in for attributes and parameters, identified by name."""

    def __init__(self, name):
        self.name = name


def attributes_of(event):
    return {a.name: v for a, v in (event.attributes or {}).items()}


def is_parameter(name):
    return lambda event: isinstance(event, NEIGHBORHOODS) and event.parameter.name == name


def is_blocking(event):
    return isinstance(event, Enter) and {"number", "sources"} <= set(attributes_of(event))


def is_other(event):
    return isinstance(event, Enter) and event.region.name == "MPI_Init"


def is_on_grid(grids):
    def wanted(event):
        values = attributes_of(event)
        return "sources" in values and values["communicator"]._ref in grids
    return wanted


def fields_of(event, names):
    return SimpleNamespace(**{name: getattr(event, name) for name in names})


def altered(event, **changes):
    """A copy; Enters stay Enters, and parameters parameters."""
    other = copy.copy(event)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def with_attributes(change):
    """change: maps the attributes (names with their values) to those of the copy."""
    def apply(events, at):
        location, event = events[at]
        values = change(attributes_of(event))
        return events[:at] + [(location, altered(event, attributes={
            Named(name): value for name, value in values.items()}))] + events[at + 1:]
    return apply


def lacking(name):
    return with_attributes(lambda values: {n: v for n, v in values.items() if n != name})


def holding(**more):
    return with_attributes(lambda values: {**values, **more})


def of_all(values):
    return {**values, "sources": values["communicator"].group}


def without(events, at):
    return events[:at] + events[at + 1:]


def twice(events, at):
    return events[:at + 1] + events[at:]


def outside(events, at):
    """Moves an event to just after the Leave of its call."""
    location, event = events[at]
    left = min(i for i in range(at, len(events))
               if events[i][0] is location and isinstance(events[i][1], Leave))
    return events[:at] + events[at + 1:left + 1] + [(location, event)] + events[left + 1:]


def renamed(events, at):
    location, event = events[at]
    other = altered(event, parameter=Named("another"))
    return events[:at] + [(location, other)] + events[at + 1:]


EVENT_FAULTS = (
    (is_other, holding(number=1),
     "only a call that all members make without an operation has a number at Enter"),
    (is_blocking, lacking("number"), "sources come with a number of a neighborhood collective"),
    (is_parameter(BEGUN), renamed, "parameters belong to collectives without an operation"),
    (is_parameter(BEGUN), outside, "collectives without an operation begin and end in a call of MPI"),
    (is_parameter(COMPLETE), outside, "collectives without an operation begin and end in a call of MPI"),
    (is_parameter(BEGUN), twice, "a collective without an operation is begun once"),
    (is_parameter(BEGUN), without, "a collective without an operation that completes has begun"),
    (is_parameter(COMPLETE), twice, "a collective without an operation that completes has begun"),
    (is_parameter(COMPLETE), lacking("communicator"),
     "a call that all members make has a communicator and a number"),
    (is_parameter(COMPLETE), lacking("number"),
     "a call that all members make has a communicator and a number"),
    (is_blocking, with_attributes(of_all),
     "a call that all members make is on a member and has data of members"),
    (None, lacking("sources"), "on a grid neighborhood collectives receive the neighbors' data"),
    (is_parameter(COMPLETE), without,
     "all members have the same calls that all make, each once"),
    (is_blocking, holding(number=2**40),
     "all members have the same calls that all make, each once"),
    (is_blocking, twice, "all members have the same calls that all make, each once"),
)


def grown(topologies, coordinates):
    first = topologies[0]
    sizes = [SimpleNamespace(size=d.size + (i == 0), cart_periodicity=d.cart_periodicity)
             for i, d in enumerate(first.dimensions)]
    wrong = fields_of(first, ("_ref", "name", "communicator"))
    wrong.dimensions = sizes
    return [wrong] + topologies[1:], coordinates


def swapped(topologies, coordinates):
    """Swaps the first two positions of a topology."""
    a, b = [fields_of(c, ("topology", "rank", "coordinates")) for c in coordinates[:2]]
    a.coordinates, b.coordinates = b.coordinates, a.coordinates
    return topologies, [a, b] + coordinates[2:]


DEFINITION_FAULTS = (
    (lambda topologies, coordinates: (topologies, coordinates[:1] + coordinates),
     "a rank has one place in a topology"),
    (lambda topologies, coordinates: (topologies[:1] + topologies, coordinates),
     "a communicator has one topology"),
    (grown, "a topology has a place for each rank"),
    (lambda topologies, coordinates: (topologies, coordinates[1:]),
     "all ranks have their places in a topology, in row-major order"),
    (swapped, "all ranks have their places in a topology, in row-major order"),
)


def reasons_of(events, definitions, topologies, coordinates):
    check = check_archive.Checker()
    walker = Topologies(check, check_archive.ranks_of)
    walker.define(SimpleNamespace(cart_topologies=topologies, cart_coordinates=coordinates))
    stacks = {}
    for location, event in events:
        stack = stacks.setdefault(location._ref, [])
        if isinstance(event, Enter):
            stack.append(event.region)
            walker.enter(location.group._ref, event)
        elif isinstance(event, Leave):
            stack.pop()
        elif isinstance(event, NEIGHBORHOODS):
            walker.step(location.group._ref, event, stack[-1] if stack else None)
    walker.finish(definitions)
    return check.reasons


def broken(*arguments):
    """The rules that fail."""
    return {rule for rule, reason in reasons_of(*arguments).items() if reason is not None}


def main():
    missed = 0
    with otf2.reader.open(sys.argv[1]) as trace:
        definitions = trace.definitions
        grids = list(definitions.cart_topologies), list(definitions.cart_coordinates)
        events = list(trace.events)
        if broken(events, definitions, *grids):
            print("the archive is not sound:", broken(events, definitions, *grids))
            return 1
        on_grid = is_on_grid({topology.communicator._ref for topology in grids[0]})
        for wanted, plant, rule in EVENT_FAULTS:
            wanted = wanted or on_grid
            at = next((i for i, (_, event) in enumerate(events) if wanted(event)), None)
            if at is None or rule not in broken(plant(events, at), definitions, *grids):
                missed += 1
                print("not found in events" if at is not None else "nothing to plant:", rule)
        for plant, rule in DEFINITION_FAULTS:
            if rule not in broken(events, definitions, *plant(*grids)):
                missed += 1
                print("not found in definitions:", rule)
        known = {fault[-1] for fault in EVENT_FAULTS + DEFINITION_FAULTS}
        for rule in set(reasons_of(events, definitions, *grids)) - known:
            missed += 1
            print("no fault is planted against:", rule)
        print(f"{len(EVENT_FAULTS) + len(DEFINITION_FAULTS)} faults, {len(known)} rules")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
