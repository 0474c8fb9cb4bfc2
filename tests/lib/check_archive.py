#!/usr/bin/python3
"""Checks an OTF2 archive against what readers rely on.

    check_archive.py [--counts] [--json FILE] [--events FILE] DIR/traces.otf2

Prints "ok - ..." or "not ok - ..." for each invariant and exits 1 when one does not hold. --counts
prints, in place of what holds, each rank's calls as test programs print their own. --json writes
what was counted, --events every event in global order, both as JSON for tests to compare.
"""
import argparse
import collections
import json
import re
import subprocess
import sys

import otf2
from otf2.enums import GroupType, LocationType
from otf2.events import (Enter, Leave, Metric, MpiCollectiveBegin, MpiCollectiveEnd,
                         NonBlockingCollectiveComplete, NonBlockingCollectiveRequest)

REGIONS = {
    "MPI_Barrier": "BARRIER",
    "MPI_Reduce": "COLL_ALL2ONE",
    "MPI_Allreduce": "COLL_ALL2ALL",
}
OPERATIONS = {"MPI_Barrier": "BARRIER", "MPI_Reduce": "REDUCE", "MPI_Allreduce": "ALLREDUCE"}
POSTS = {"MPI_Ibarrier": "MPI_Barrier", "MPI_Ireduce": "MPI_Reduce",
         "MPI_Iallreduce": "MPI_Allreduce"}
ATTRIBUTES = {"call site", "algorithm", "seq", "bytes"}
COMPLETE_ATTRIBUTES = {"exposed wait", "hidden time", "tests"}
SITE = re.compile(r"#[0-9a-f]{8}$")
NO_ROOT = 2**32 - 1
CLOCK_DRIFT = 1.001  # of a location's clock against that of the events, at most


class Checker:
    def __init__(self):
        self.failed = False
        self.reasons = collections.OrderedDict()

    def expect(self, invariant, holds, reason=""):
        """Notes whether an invariant holds; the first reason against it is printed."""
        self.reasons.setdefault(invariant, None)
        if not holds and self.reasons[invariant] is None:
            self.reasons[invariant] = reason or "it does not"

    def report(self, quiet):
        for invariant, reason in self.reasons.items():
            if reason is None:
                if not quiet:
                    print(f"ok - {invariant}")
            else:
                print(f"not ok - {invariant} ({reason})")
                self.failed = True


def enum_name(value):
    return str(value).rpartition(".")[2]


def location_id(location):
    return location._ref


class Location:
    """What is known of one location while its events pass by."""

    def __init__(self):
        self.stack = []
        self.time = 0
        self.events = 0
        self.last = None
        self.requests = {}  # by number: the post's Enter, None once it is complete


def members_of(comm):
    """Locations of a communicator's ranks; None for MPI_COMM_SELF."""
    if comm.group.group_type == GroupType.COMM_SELF:
        return None
    return comm.group.members


def check_groups(check, definitions):
    groups = list(definitions.groups)
    locations = [g for g in groups if g.group_type == GroupType.COMM_LOCATIONS]
    selves = [g for g in groups if g.group_type == GroupType.COMM_SELF]
    check.expect("there is exactly one COMM_LOCATIONS group", len(locations) == 1, len(locations))
    check.expect("there is at most one COMM_SELF group, without members",
                 len(selves) <= 1 and all(len(g.members) == 0 for g in selves))
    seen = False
    for group in groups:
        seen = seen or group.group_type == GroupType.COMM_LOCATIONS
        check.expect("COMM_LOCATIONS stands before every COMM_GROUP",
                     seen or group.group_type != GroupType.COMM_GROUP)


def check_locations(check, definitions):
    for group in definitions.location_groups:
        check.expect("location group N is MPI Rank N", group.name == f"MPI Rank {group._ref}",
                     group.name)
    for location in definitions.locations:
        ref = location_id(location)
        rank, thread = ref & 0xFFFFFFFF, ref >> 32
        check.expect("location ids are thread << 32 | rank, in their rank's group",
                     location.group._ref == rank, f"{ref} in {location.group._ref}")
        check.expect("every location is a CPU thread", location.type == LocationType.CPU_THREAD)
        check.expect("thread 0 is the master thread and no other",
                     (location.name == "Master thread") == (thread == 0), location.name)


def check_regions(check, definitions):
    for region in definitions.regions:
        blocking = POSTS.get(region.name, region.name)
        if blocking in REGIONS:
            check.expect("collective regions have Score-P's roles and paradigm",
                         enum_name(region.region_role) == REGIONS[blocking] and
                         enum_name(region.paradigm) == "MPI", region.name)


def check_clock_offsets(check, path, locations):
    done = subprocess.run(["otf2-print", "--show-clock-offsets", path], capture_output=True,
                          text=True)
    check.expect("otf2-print shows the clock offsets", done.returncode == 0, done.stderr.strip())
    counts = collections.Counter()
    for line in done.stdout.splitlines():
        words = line.split()
        if words and words[0] == "CLOCK_OFFSET":
            counts[int(words[1])] += 1
    for location in locations:
        count = counts[location_id(location)]
        check.expect("every location has two or more clock offsets", count >= 2,
                     f"{location_id(location)} has {count}")


class Walker:
    def __init__(self, check):
        self.check = check
        self.locations = collections.defaultdict(Location)
        self.counts = {name: collections.Counter() for name in [*REGIONS, *POSTS]}
        self.comms = collections.defaultdict(lambda: collections.defaultdict(set))
        self.twice = False
        self.sites = collections.Counter()
        self.first = None
        self.last = None
        self.global_time = 0

    def step(self, location, event):
        check = self.check
        state = self.locations[location_id(location)]
        check.expect("time never runs backwards on a location", event.time >= state.time,
                     f"{location_id(location)} at {event.time}")
        check.expect("time never runs backwards over all locations",
                     event.time >= self.global_time, event.time)
        state.time = self.global_time = event.time
        state.events += 1
        self.first = event.time if self.first is None else self.first
        self.last = event.time
        if isinstance(event, Enter):
            self.enter(location, state, event)
        elif isinstance(event, Leave):
            self.leave(state, event)
        elif isinstance(event, MpiCollectiveBegin):
            check.expect("MpiCollectiveBegin follows its Enter",
                         isinstance(state.last, Enter) and state.last.region.name in REGIONS)
        elif isinstance(event, MpiCollectiveEnd):
            self.end(location, state, event)
        elif isinstance(event, NonBlockingCollectiveRequest):
            self.request(state, event)
        elif isinstance(event, NonBlockingCollectiveComplete):
            self.complete(location, state, event)
        elif isinstance(event, Metric):
            check.expect("metrics stand inside a collective",
                         bool(state.stack) and state.stack[-1][0] in REGIONS)
        state.last = event

    def enter(self, location, state, event):
        name = event.region.name
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        state.stack.append((name, values, 0))
        if name not in REGIONS and name not in POSTS:
            return
        check = self.check
        check.expect("every collective's Enter has its four attributes",
                     ATTRIBUTES <= set(values), sorted(values))
        check.expect("every call site ends in its id", bool(SITE.search(values["call site"])),
                     values["call site"])
        self.counts[name][str(location.group._ref)] += 1
        self.sites[values["call site"]] += 1
        if name in POSTS:
            check.expect("every post's Enter has its communicator", "communicator" in values)
            self.member(location, values["communicator"], values["seq"])

    def member(self, location, comm, seq):
        """Notes a rank's part in an instance."""
        members = members_of(comm)
        rank = location.group._ref
        if members is None:
            return
        ranks = [location_id(m) & 0xFFFFFFFF for m in members]
        self.check.expect("a collective's location is of a member of its communicator",
                          rank in ranks, f"{rank} in {comm.name}")
        self.twice = self.twice or seq in self.comms[comm._ref][rank]
        self.comms[comm._ref][rank].add(seq)

    def root(self, name, event):
        self.check.expect("a reduce has a root in its communicator, others have none",
                          event.root == NO_ROOT if name != "MPI_Reduce" else
                          event.root < max(1, len(event.communicator.group.members)), event.root)

    def request(self, state, event):
        check = self.check
        check.expect("a request follows the Enter of its post",
                     isinstance(state.last, Enter) and state.last.region.name in POSTS)
        check.expect("requests have numbers of their own on a location",
                     event.request_id not in state.requests, event.request_id)
        state.requests[event.request_id] = state.last

    def complete(self, location, state, event):
        check = self.check
        post = state.requests.get(event.request_id)
        check.expect("what is complete was posted, and is complete once", post is not None,
                     event.request_id)
        if post is None:
            return
        state.requests[event.request_id] = None
        posted = {a.name: v for a, v in post.attributes.items()}
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        name = POSTS[post.region.name]
        check.expect("a completion is of its post's operation",
                     OPERATIONS[name] == enum_name(event.collective_op), post.region.name)
        check.expect("a completion is of its post's communicator",
                     event.communicator == posted["communicator"], event.communicator.name)
        check.expect("every completion has its three attributes",
                     COMPLETE_ATTRIBUTES <= set(values), sorted(values))
        check.expect("exposed and hidden time are no more than there was",
                     values["exposed wait"] + values["hidden time"] <=
                     (event.time - post.time) * CLOCK_DRIFT + 1, event.request_id)
        self.root(name, event)

    def end(self, location, state, event):
        check = self.check
        if not state.stack:
            check.expect("MpiCollectiveEnd lies in its collective", False)
            return
        name, values, ends = state.stack.pop()
        state.stack.append((name, values, ends + 1))
        check.expect("MpiCollectiveEnd lies in its collective",
                     OPERATIONS.get(name) == enum_name(event.collective_op), name)
        self.root(name, event)
        self.member(location, event.communicator, values["seq"])

    def leave(self, state, event):
        check = self.check
        if not state.stack:
            check.expect("Enter and Leave balance", False, f"Leave at {event.time}")
            return
        name, _, ends = state.stack.pop()
        check.expect("Enter and Leave balance", name == event.region.name,
                     f"{name} left as {event.region.name}")
        check.expect("every collective has one MpiCollectiveEnd", ends == (name in REGIONS), name)

    def finish(self, definitions):
        check = self.check
        for ref, state in self.locations.items():
            check.expect("Enter and Leave balance", not state.stack, f"open on {ref}")
        for location in definitions.locations:
            counted = self.locations[location_id(location)].events
            check.expect("locations tell their true number of events",
                         location.number_of_events == counted,
                         f"{location_id(location)}: {location.number_of_events}, found {counted}")
        check.expect("no instance is recorded twice by one rank", not self.twice)
        for comm in definitions.comms:
            if comm._ref not in self.comms:
                continue
            members = members_of(comm)
            ranks = [location_id(m) & 0xFFFFFFFF for m in members]
            instances = [self.comms[comm._ref][rank] for rank in ranks]
            check.expect("every instance is recorded by all members of its communicator",
                         all(one == instances[0] for one in instances), comm.name)
        clock = definitions.clock_properties
        if self.first is not None:
            check.expect("all events lie in the span the clock properties tell",
                         clock.global_offset <= self.first and
                         self.last <= clock.global_offset + clock.trace_length,
                         f"{self.first}..{self.last}")


def describe(location, event):
    """An event as a row for tests."""
    row = {"time": event.time, "location": location_id(location), "kind": type(event).__name__}
    if isinstance(event, (Enter, Leave)):
        row["region"] = event.region.name
        row["attributes"] = {a.name: getattr(v, "name", v)
                             for a, v in (event.attributes or {}).items()}
    elif isinstance(event, MpiCollectiveEnd):
        row.update(comm=event.communicator.name, root=event.root, sent=event.size_sent,
                   received=event.size_received)
    elif isinstance(event, NonBlockingCollectiveRequest):
        row.update(request=event.request_id)
    elif isinstance(event, NonBlockingCollectiveComplete):
        row.update(comm=event.communicator.name, root=event.root, sent=event.size_sent,
                   received=event.size_received, request=event.request_id,
                   operation=enum_name(event.collective_op),
                   attributes={a.name: v for a, v in (event.attributes or {}).items()})
    elif isinstance(event, Metric):
        row["values"] = list(event.values)
    return row


def print_counts(ranks, counts):
    for rank in range(ranks):
        own = [counts[name][str(rank)] for name in ("MPI_Barrier", "MPI_Reduce", "MPI_Allreduce")]
        print('{"rank":%d,"barrier":%d,"reduce":%d,"allreduce":%d}' % (rank, *own))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--events")
    options = parser.parse_args()
    check = Checker()
    rows = []
    with otf2.reader.open(options.archive) as trace:
        definitions = trace.definitions
        check_groups(check, definitions)
        check_locations(check, definitions)
        check_regions(check, definitions)
        check_clock_offsets(check, options.archive, definitions.locations)
        walker = Walker(check)
        for location, event in trace.events:
            walker.step(location, event)
            if options.events:
                rows.append(describe(location, event))
        walker.finish(definitions)
        ranks = len(list(definitions.location_groups))
        comms = [{"name": comm.name, "size": len(comm.group.members),
                  "parent": comm.parent.name if comm.parent else None,
                  "instances": len(next(iter(walker.comms[comm._ref].values()), ()))}
                 for comm in definitions.comms]
        locations = {str(location_id(l)): l.name for l in definitions.locations}
    check.report(options.counts)
    if options.counts:
        print_counts(ranks, walker.counts)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"ranks": ranks, "counts": walker.counts, "comms": comms,
                       "locations": locations, "sites": sorted(walker.sites)}, file)
    if options.events:
        with open(options.events, "w", encoding="utf-8") as file:
            json.dump(rows, file)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
