#!/usr/bin/python3
"""Checks the invariants of an OTF2 archive that readers rely on.

    check_archive.py [--counts] [--damaged] [--json FILE] [--events FILE] [--text] DIR/traces.otf2...

Prints "ok - ..." or "not ok - ..." for each invariant and exits with 1 if one fails. --counts prints
each rank's calls in the format of the test programs instead of the invariants that hold. --json writes
the counts, --events every event in global order, both as JSON for tests to compare; --text writes both,
and failed invariants, as lines of words into DIR/text.
--damaged: the logs contradict each other, so checks nothing that several ranks record of a message or a
collective; the same applies to a partial archive.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys

import otf2
from otf2.definitions import InterComm
from otf2.enums import GroupType, LocationType
from otf2.events import (Enter, Leave, Metric, MpiCollectiveBegin, MpiCollectiveEnd, MpiIrecv,
                         MpiIrecvRequest, MpiIsend, MpiIsendComplete, MpiRecv, MpiRequestCancelled,
                         MpiSend, NonBlockingCollectiveComplete, NonBlockingCollectiveRequest)

from check_messages import MESSAGES, Messages
from check_topologies import NEIGHBORHOODS, Topologies
from check_tree import check_tree, path_of
from check_windows import WINDOWS, Windows

# python3-otf2 3.0 treats an intercommunicator as a communicator with one group: its further
# definitions are here again.
if len(InterComm._fields) == 8:
    InterComm._fields = InterComm._fields[:1] + InterComm._fields[4:]

REGIONS = {
    "MPI_Barrier": "BARRIER",
    "MPI_Reduce": "COLL_ALL2ONE",
    "MPI_Allreduce": "COLL_ALL2ALL",
    "MPI_Bcast": "COLL_ONE2ALL",
}
OPERATIONS = {"MPI_Barrier": "BARRIER", "MPI_Reduce": "REDUCE", "MPI_Allreduce": "ALLREDUCE",
              "MPI_Bcast": "BCAST"}
POSTS = {"MPI_Ibarrier": "MPI_Barrier", "MPI_Ireduce": "MPI_Reduce",
         "MPI_Iallreduce": "MPI_Allreduce", "MPI_Ibcast": "MPI_Bcast"}
ATTRIBUTES = {"call site", "algorithm", "seq", "bytes"}
COMPLETE_ATTRIBUTES = {"exposed wait", "hidden time", "tests"}
SITE = re.compile(r"#[0-9a-f]{8}$")
NO_ROOT = 2**32 - 1
CLOCK_ERROR_NS = 1000  # of times that are converted one by one
ROOT_SELF, ROOT_THIS_GROUP = 2**32 - 2, 2**32 - 3  # between groups
CLOCK_DRIFT = 1.001  # of a location's clock against that of the events, at most


# Collectives that the library does not implement, by the blocking form.
OTHERS = {"Gather": "COLL_ALL2ONE", "Gatherv": "COLL_ALL2ONE",
          "Scatter": "COLL_ONE2ALL", "Scatterv": "COLL_ONE2ALL", "Allgather": "COLL_ALL2ALL",
          "Allgatherv": "COLL_ALL2ALL", "Alltoall": "COLL_ALL2ALL", "Alltoallv": "COLL_ALL2ALL",
          "Alltoallw": "COLL_ALL2ALL", "Reduce_scatter": "COLL_ALL2ALL",
          "Reduce_scatter_block": "COLL_ALL2ALL", "Scan": "COLL_OTHER", "Exscan": "COLL_OTHER"}
BLOCKING = {**OPERATIONS, **{f"MPI_{name}": name.upper() for name in OTHERS}}
ROLES = {**REGIONS, **{f"MPI_{name}": role for name, role in OTHERS.items()}}
NONBLOCKING = {**POSTS, **{f"MPI_I{name.lower()}": f"MPI_{name}" for name in OTHERS}}
STARTS = {"MPI_Start", "MPI_Startall"}  # of persistent ones
PERSISTENT = 2**32  # their numbers begin here
ROOTED = {"BCAST", "GATHER", "GATHERV", "SCATTER", "SCATTERV", "REDUCE"}


class Checker:
    def __init__(self):
        self.failed = False
        self.reasons = collections.OrderedDict()

    def expect(self, invariant, holds, reason=""):
        """Records whether an invariant holds; the first counterexample is printed."""
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
    """State of one location while its events are read."""

    def __init__(self):
        self.stack = []
        self.time = 0
        self.events = 0
        self.last = None
        self.requests = {}  # by number: the post's Enter, None once it is complete
        self.received = False  # an MpiRecv is the latest event
        self.is_master = False
        self.begun = False  # a collective that has not ended
        self.started = None  # the Enter of MPI_Start, if the latest event is a request behind it
        self.left = 0  # when a call of MPI was left last
        self.slices = {}  # by node and communicator: the latest one's number
        self.interval = None  # when the latest interval ended


def is_inter(comm):
    return isinstance(comm, InterComm)


def members_of(comm):
    """Locations of a communicator's ranks, of both groups if it is an intercommunicator; None for MPI_COMM_SELF."""
    if is_inter(comm):
        return list(comm.groupA.members) + list(comm.groupB.members)
    if comm.group.group_type == GroupType.COMM_SELF:
        return None
    return comm.group.members


def ranks_of(group):
    return [location_id(member) & 0xFFFFFFFF for member in group.members]


def sides_of(comm, rank):
    """An intercommunicator's groups as ranks, the rank's own group first; None if it is in neither."""
    sides = ranks_of(comm.groupA), ranks_of(comm.groupB)
    return sides if rank in sides[0] else sides[::-1] if rank in sides[1] else None


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
        check.expect("the COMM_LOCATIONS group precedes every COMM_GROUP",
                     seen or group.group_type != GroupType.COMM_GROUP)


def check_comms(check, definitions):
    for comm in definitions.comms:
        if not is_inter(comm):
            check.expect("no communicator's parent is an intercommunicator",
                         comm.parent is None or not is_inter(comm.parent), comm.name)
            continue
        ranks = [rank for group in (comm.groupA, comm.groupB) for rank in ranks_of(group)]
        check.expect("no rank is in an intercommunicator twice", len(set(ranks)) == len(ranks),
                     comm.name)
        check.expect("both groups of an intercommunicator are groups of ranks",
                     all(group.group_type == GroupType.COMM_GROUP and len(group.members) > 0
                         for group in (comm.groupA, comm.groupB)), comm.name)


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
        check.expect("thread 0 alone is the master thread",
                     (location.name == "Master thread") == (thread == 0), location.name)


def check_regions(check, definitions):
    for region in definitions.regions:
        blocking = NONBLOCKING.get(region.name, region.name)
        if blocking in ROLES:
            check.expect("collective regions have Score-P's roles and paradigm",
                         enum_name(region.region_role) == ROLES[blocking] and
                         enum_name(region.paradigm) == "MPI", region.name)
        elif region.name.startswith("MPI_"):
            check.expect("all MPI functions have the paradigm MPI",
                         enum_name(region.paradigm) == "MPI", region.name)
    names = collections.Counter(region.name for region in definitions.regions)
    check.expect("each MPI function has one region",
                 all(count == 1 for name, count in names.items() if name.startswith("MPI_")))


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


def ends_of(comm, rank, peer):
    """A communicator's member and its peer, in a form that both of them compute; None if it is no member.
    In an intercommunicator a rank of each group has the same number."""
    if is_inter(comm):
        sides = sides_of(comm, rank)
        if sides is None:
            return None, None
        return rank, sides[1][peer] if peer < len(sides[1]) else None
    if members_of(comm) is None:
        return 0, peer if peer == 0 else None
    ranks = ranks_of(comm.group)
    return (ranks.index(rank) if rank in ranks else None, peer if peer < len(ranks) else None)


class Walker:
    def __init__(self, check):
        self.check = check
        self.messages = Messages(check, ends_of)
        self.topologies = Topologies(check, ranks_of)
        self.windows = Windows(check, lambda comm, rank: ends_of(comm, rank, 0)[0])
        # (time, operation, root) by (comm, rank); collectives with numbers have (number, operation,
        # root)
        self.orders = collections.defaultdict(list)
        self.numbered = collections.defaultdict(list)
        self.begun = collections.defaultdict(list)  # (time, number) likewise, not of persistent ones
        self.locations = collections.defaultdict(Location)
        self.counts = collections.defaultdict(collections.Counter)
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
        check.expect("MpiRecv directly precedes its call's Leave",
                     not state.received or isinstance(event, Leave), location_id(location))
        state.received = isinstance(event, MpiRecv)
        if not isinstance(event, (NonBlockingCollectiveRequest, MESSAGES)):
            state.started = None
        if state.last is None:
            state.is_master = location_id(location) >> 32 == 0
        check.expect("all events of a master thread are inside the program's region",
                     not state.is_master or bool(state.stack) or
                     (state.last is None and isinstance(event, Enter) and
                      enum_name(event.region.paradigm) == "USER"), location_id(location))
        if isinstance(event, Enter):
            self.enter(location, state, event)
        elif isinstance(event, Leave):
            self.windows.leave(location_id(location), event)
            self.leave(state, event)
        elif isinstance(event, MpiCollectiveBegin):
            state.begun = True
            check.expect("MpiCollectiveBegin follows its Enter",
                         isinstance(state.last, Enter) and state.last.region.name in BLOCKING)
        elif isinstance(event, MpiCollectiveEnd):
            self.end(location, state, event)
        elif isinstance(event, NonBlockingCollectiveRequest):
            self.request(state, event)
        elif isinstance(event, NonBlockingCollectiveComplete):
            self.complete(location, state, event)
        elif isinstance(event, MESSAGES):
            self.messages.step(location.group._ref, event,
                               state.stack[-1][3] if state.stack else None,
                               isinstance(state.last, Enter))
        elif isinstance(event, NEIGHBORHOODS):
            self.topologies.step(location.group._ref, event,
                                 state.stack[-1][3] if state.stack else None)
        elif isinstance(event, WINDOWS):
            self.windows.step(location_id(location), location.group._ref, event,
                              state.stack[-1][3] if state.stack else None,
                              isinstance(state.last, Enter))
        elif isinstance(event, Metric):
            self.metric(state, event)
        state.last = event

    def metric(self, state, event):
        check = self.check
        names = [member.name for member in event.metric.members]
        inside = bool(state.stack) and state.stack[-1][0].startswith("MPI_")
        if "skew" in names:
            check.expect("metrics of collectives are inside a collective",
                         bool(state.stack) and state.stack[-1][0] in REGIONS)
            return
        if "GETTS" in names or "LETTS" in names:
            values = {a.name: v for a, v in (event.attributes or {}).items()}
            check.expect("every slice has its number, node and communicator",
                         {"slice", "node", "communicator"} <= set(values), sorted(values))
            place = ("GETTS" in names, values["node"], values["communicator"]._ref)
            last = state.slices.get(place, -1)
            check.expect("a communicator's slice numbers rise at each node",
                         values["slice"] > last, f"{values['slice']} behind {last}")
            state.slices[place] = values["slice"]
            return
        check.expect("metrics of intervals are between MPI calls", not inside,
                     state.stack[-1][0] if state.stack else "")
        if names == ["interval"]:
            values = {a.name for a in event.attributes or {}}
            check.expect("every interval has the sites at its ends", {"left", "entered"} <= values,
                         sorted(values))
            check.expect("an interval has all attributes of its stretch or none",
                         len({"communicator", "stretch", "bounds"} & values) in (0, 3),
                         sorted(values))
            check.expect("an interval begins outside MPI calls",
                         event.time - event.values[0] / CLOCK_DRIFT >= state.left - CLOCK_ERROR_NS,
                         f"at {event.time}")
            state.interval = event.time
        else:
            check.expect("an interval's figures have its time", state.interval == event.time, names)

    def enter(self, location, state, event):
        name = event.region.name
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        check = self.check
        check.expect("MPI calls are not nested", not name.startswith("MPI_") or
                     not any(entry[0].startswith("MPI_") for entry in state.stack), name)
        state.stack.append((name, values, 0, event.region))
        self.windows.enter(location_id(location), event)
        self.topologies.enter(location.group._ref, event)
        if not name.startswith("MPI_") or name in ("MPI_Init", "MPI_Finalize"):
            return
        check.expect("every MPI call has a call site", "call site" in values, name)
        # A call carried out by MPICH has only a site.
        if "algorithm" not in values:
            if name not in REGIONS and name not in POSTS:
                self.counts[name][str(location.group._ref)] += 1
            return
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
        """Records a rank's part in an instance."""
        members = members_of(comm)
        rank = location.group._ref
        if members is None:
            return
        ranks = [location_id(m) & 0xFFFFFFFF for m in members]
        self.check.expect("a collective's rank is a member of its communicator",
                          rank in ranks, f"{rank} in {comm.name}")
        self.twice = self.twice or seq in self.comms[comm._ref][rank]
        self.comms[comm._ref][rank].add(seq)

    def root(self, location, event, posted):
        """posted: the time when the collective began."""
        operation = enum_name(event.collective_op)
        comm, rank, root = event.communicator, location.group._ref, event.root
        if is_inter(comm):
            sides = sides_of(comm, rank)
            self.check.expect("a collective's rank is a member of its communicator",
                              sides is not None, f"{rank} in {comm.name}")
            if sides is None:
                return
            is_right = (root in (ROOT_SELF, ROOT_THIS_GROUP) or root < len(sides[1])
                        if operation in ROOTED else root == NO_ROOT)
            if root not in (ROOT_THIS_GROUP, NO_ROOT) and is_right:
                root = rank if root == ROOT_SELF else sides[1][root]
        else:
            is_right = (root == NO_ROOT if operation not in ROOTED else
                        root < max(1, len(comm.group.members)))
        self.check.expect("a rooted collective has a root in its communicator, others have none",
                          is_right, event.root)
        number = {a.name: v for a, v in (event.attributes or {}).items()}.get("number")
        if members_of(comm) is not None and number is None:
            self.orders[comm._ref, rank].append((posted, operation, root))
        elif members_of(comm) is not None:
            self.numbered[comm._ref, rank].append((number, operation, root))
            if number < PERSISTENT:
                self.begun[comm._ref, rank].append((posted, number))

    def request(self, state, event):
        check = self.check
        # MPI_Startall may have several requests.
        enter = state.last if isinstance(state.last, Enter) else state.started
        check.expect("a request follows the Enter of its post",
                     enter is not None and (enter.region.name in NONBLOCKING or
                                            enter.region.name in STARTS), enter)
        state.started = enter if enter is not None and enter.region.name in STARTS else None
        check.expect("request numbers are unique on a location",
                     event.request_id not in state.requests, event.request_id)
        state.requests[event.request_id] = enter

    def complete(self, location, state, event):
        check = self.check
        post = state.requests.get(event.request_id)
        check.expect("a collective completes once, after its post", post is not None,
                     event.request_id)
        if post is None:
            return
        state.requests[event.request_id] = None
        posted = {a.name: v for a, v in post.attributes.items()}
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        name = NONBLOCKING.get(post.region.name)
        check.expect("a completion has its post's operation",
                     name is None or BLOCKING[name] == enum_name(event.collective_op),
                     post.region.name)
        self.root(location, event, post.time)
        if "algorithm" not in posted:
            return
        check.expect("a completion has its post's communicator",
                     event.communicator == posted["communicator"], event.communicator.name)
        check.expect("every completion has its three attributes",
                     COMPLETE_ATTRIBUTES <= set(values), sorted(values))
        check.expect("exposed and hidden time fit between post and completion",
                     values["exposed wait"] + values["hidden time"] <=
                     (event.time - post.time) * CLOCK_DRIFT + 1, event.request_id)

    def end(self, location, state, event):
        check = self.check
        if not state.stack:
            check.expect("MpiCollectiveEnd is inside its collective", False)
            return
        name, values, ends, region = state.stack.pop()
        state.stack.append((name, values, ends + 1, region))
        check.expect("MpiCollectiveEnd is inside its collective",
                     BLOCKING.get(name) == enum_name(event.collective_op), name)
        check.expect("every MpiCollectiveEnd has its MpiCollectiveBegin", state.begun, name)
        state.begun = False
        self.root(location, event, event.time)
        if "seq" in values:
            self.member(location, event.communicator, values["seq"])

    def leave(self, state, event):
        check = self.check
        if not state.stack:
            check.expect("Enter and Leave balance", False, f"Leave at {event.time}")
            return
        name, values, ends, _ = state.stack.pop()
        if name.startswith("MPI_"):
            state.left = event.time
        check.expect("Enter and Leave balance", name == event.region.name,
                     f"{name} left as {event.region.name}")
        check.expect("every collective has one MpiCollectiveEnd",
                     ends == (name in REGIONS) if "algorithm" in values else ends <= 1, name)
        check.expect("every MpiCollectiveBegin has its MpiCollectiveEnd",
                     not (state.begun and name.startswith("MPI_")), name)

    def finish_orders(self, definitions):
        for comm in definitions.comms:
            members = members_of(comm)
            if members is None:
                continue
            orders = [[entry[1:] for entry in
                       sorted(self.orders[comm._ref, location_id(member) & 0xFFFFFFFF],
                              key=lambda entry: entry[0])] for member in members]
            # Other members of the root's group do not record which member is the root.
            self.check.expect("all members of a communicator have the same collectives in one "
                              "order, with the same roots", self.are_same(orders), comm.name)
            numbered = [sorted(self.numbered[comm._ref, location_id(member) & 0xFFFFFFFF],
                               key=lambda entry: entry[0]) for member in members]
            self.check.expect("each rank uses a collective's number once",
                              all(len(set(entry[0] for entry in calls)) == len(calls)
                                  for calls in numbered), comm.name)
            self.check.expect("all members have the same collective at each number, with the "
                              "same roots", self.are_same(numbered), comm.name)

        for key, calls in self.begun.items():
            numbers = [number for _, number in sorted(calls, key=lambda entry: entry[0])]
            self.check.expect("numbers of collectives rise in the order of their begins",
                              numbers == sorted(numbers), key)

    @staticmethod
    def are_same(orders):
        return len(set(map(len, orders))) == 1 and all(
            len(set(call[:-1] for call in calls)) == 1 and
            len(set(call[-1] for call in calls if call[-1] != ROOT_THIS_GROUP)) == 1
            for calls in zip(*orders))

    def finish(self, definitions, is_partial):
        check = self.check
        if not is_partial:
            self.finish_orders(definitions)
            self.messages.finish()
            self.windows.finish()
            self.topologies.finish(definitions)
        for ref, state in self.locations.items():
            check.expect("Enter and Leave balance", not state.stack, f"open on {ref}")
        for location in definitions.locations:
            counted = self.locations[location_id(location)].events
            check.expect("locations have their declared number of events",
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
            check.expect("all events are in the time span of the clock properties",
                         clock.global_offset <= self.first and
                         self.last <= clock.global_offset + clock.trace_length,
                         f"{self.first}..{self.last}")


def is_partial(archive):
    with open(archive, "rb") as anchor:
        return re.search(rb"STAGGER::PARTIAL[^01]*1", anchor.read()) is not None


def describe(location, event):
    """Formats an event as a row for tests."""
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
    elif isinstance(event, MESSAGES):
        row.update({name: getattr(event, name) for name in
                    ("receiver", "sender", "msg_tag", "msg_length", "request_id")
                    if hasattr(event, name)})
        if hasattr(event, "communicator"):
            row["comm"] = event.communicator.name
    elif isinstance(event, WINDOWS):
        row.update({name: getattr(event, name) for name in
                    ("remote", "bytes", "bytes_sent", "bytes_received", "matching_id")
                    if hasattr(event, name)})
        row.update({name: enum_name(getattr(event, name)) for name in
                    ("type", "lock_type", "collective_op") if hasattr(event, name)})
        if hasattr(event, "win"):
            row["win"] = event.win.name
        if hasattr(event, "group"):
            row["members"] = [location_id(member) for member in event.group.members]
    elif isinstance(event, Metric):
        row["values"] = list(event.values)
    return row


def short(text):
    return str(text).removeprefix("MPI_").removeprefix("COMM_").replace(" ", "_")


def values_of(row, names):
    return ",".join(short(row[name]) for name in names if row.get(name) is not None)


def lines_of(rows):
    """Formats events for tests: lists of words by location, or by location and subject."""
    lines = collections.defaultdict(list)
    first = {}  # number of a location's operations on windows
    for row in rows:
        rank, thread = row["location"] & 0xFFFFFFFF, row["location"] >> 32
        where = f"{rank}.{thread}" if thread else f"{rank}"
        time, kind = row["time"], row["kind"].removeprefix("Mpi")
        if "region" in row:
            lines[where].append(f"{time}{'>' if kind == 'Enter' else '<'}{short(row['region'])}")
        elif kind.startswith("Rma"):
            number = row.get("matching_id")
            if number is not None:
                number -= first.setdefault(where, number)
            lines[f"{where} rma"].append(
                f"{time}{kind[3:]}" + (f":{number}" if number is not None else ""))
        elif kind.startswith("NonBlocking"):
            lines[where].append(f"{time}{'+' if kind.endswith('Request') else '='}{row['request']}")
        elif kind == "Metric":
            lines[f"{where} metrics"].append(f"{time}:{','.join(map(str, row['values']))}")
        elif not kind.startswith("Collective"):
            lines[where].append(f"{time}{kind}:" + values_of(
                row, ("comm", "receiver", "sender", "msg_tag", "msg_length", "request_id")))
        if "sent" in row:
            lines[f"{where} ends"].append(f"{time}:" + values_of(
                row, ("operation", "comm", "root", "sent", "received")).replace(str(NO_ROOT), "-"))
        if row.get("attributes"):
            lines[f"{where} attributes"].append(f"{time}:" + ",".join(
                f"{short(name)}={short(value)}" for name, value in row["attributes"].items()
                if value != "#00000000"))
    return lines


def print_text(path, check, rows, summary):
    with open(path, "w", encoding="utf-8") as file:
        for invariant, reason in check.reasons.items():
            if reason is not None:
                print(f"not ok: {invariant}", file=file)
        for where, words in lines_of(rows).items():
            print(f"{where}: {' '.join(words)}", file=file)
        for name, counts in summary["counts"].items():
            counted = [str(counts[str(rank)]) for rank in range(summary["ranks"])]
            print(f"entered {short(name)}: {' '.join(counted)}", file=file)
        for comm in summary["comms"]:
            print(f"comm {short(comm['name'])}: {comm['instances']}"
                  + (f" from {short(comm['parent'])}" if comm["parent"] else ""), file=file)
        for kind in ("locations", "places"):
            for ref, name in summary[kind].items():
                name = "/".join(name) if kind == "places" else name
                print(f"{kind[:-1]} {ref}: {name}", file=file)


def print_counts(ranks, counts):
    for rank in range(ranks):
        own = [counts[name][str(rank)] for name in ("MPI_Barrier", "MPI_Reduce", "MPI_Allreduce")]
        print('{"rank":%d,"barrier":%d,"reduce":%d,"allreduce":%d}' % (rank, *own))


def check_archive(archive, options):
    """True if all invariants hold."""
    check = Checker()
    rows = []
    with otf2.reader.open(archive) as trace:
        definitions = trace.definitions
        check_groups(check, definitions)
        check_comms(check, definitions)
        check_locations(check, definitions)
        check_tree(check, definitions)
        check_regions(check, definitions)
        check_clock_offsets(check, archive, definitions.locations)
        walker = Walker(check)
        walker.topologies.define(definitions)
        for location, event in trace.events:
            walker.step(location, event)
            if options.events or options.text:
                rows.append(describe(location, event))
        walker.finish(definitions, options.damaged or is_partial(archive))
        ranks = len(list(definitions.location_groups))
        comms = [{"name": comm.name, "size": len(members_of(comm) or ()),
                  "groups": [ranks_of(comm.groupA), ranks_of(comm.groupB)]
                            if is_inter(comm) else None,
                  "parent": comm.parent.name if comm.parent else None,
                  "instances": len(next(iter(walker.comms[comm._ref].values()), ()))}
                 for comm in definitions.comms]
        locations = {str(location_id(l)): l.name for l in definitions.locations}
        places = {str(g._ref): path_of(g.system_tree_parent) for g in definitions.location_groups}
    check.report(options.counts)
    if options.counts:
        print_counts(ranks, walker.counts)
    summary = {"ranks": ranks, "counts": walker.counts, "comms": comms, "locations": locations,
               "places": places, "sites": sorted(walker.sites)}
    if options.text:
        print_text(os.path.join(os.path.dirname(archive), "text"), check, rows, summary)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(summary, file)
    if options.events:
        with open(options.events, "w", encoding="utf-8") as file:
            json.dump(rows, file)
    return not check.failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archives", nargs="+")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--damaged", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--events")
    parser.add_argument("--text", action="store_true")
    options = parser.parse_args()
    return 0 if all([check_archive(archive, options) for archive in options.archives]) else 1


if __name__ == "__main__":
    sys.exit(main())
