"""Computes wait states on windows from the whole archive, with OTF2's own reader, and compares them with
the report: python3 check_window_waits.py traces.otf2 REPORT.json.

A lock A precedes a conflicting lock B if an operation under A is complete at its target before B's unlock
begins, and not vice versa: then B's calls wait for the begin of A's unlock.
"""
import collections
import json
import math
import sys

import otf2

ALL = 2**32 - 1
STATES = {"BARRIER": "wait at fence", "CREATE_HANDLE": "wait at create", "DESTROY_HANDLE": "wait at free"}
ROLES = {"MPI_Win_start": "start", "MPI_Win_complete": "complete", "MPI_Win_post": "post",
         "MPI_Win_wait": "wait", "MPI_Win_test": "wait"}


class Call:
    def __init__(self, event, rank):
        texts = {a.name: v for a, v in (event.attributes or {}).items()}
        self.enter, self.leave, self.rank = event.time, math.inf, rank
        self.place = event.region.name, texts.get("call site", "#").rsplit("#", 1)[1]
        self.cause = None  # (when the other was ready, state, the other's call)

    def offer(self, state, other, is_bounded=False):
        if self.enter < other.enter and (is_bounded or other.enter < self.leave) and \
                self.place[0] != "MPI_Win_test" and (self.cause is None or self.cause[0] < other.enter):
            self.cause = other.enter, state, other


class Lock:
    def __init__(self, call, is_exclusive):
        self.call, self.is_exclusive = call, is_exclusive
        self.unlock = None
        self.done = {}  # by target: (time, call) of the first completion there

    def held(self, target):
        return self.done[target][0] if target in self.done else math.inf

    def calls(self, target):
        return [self.call] + ([self.done[target][1]] if target in self.done else [])


class Reading:
    def __init__(self):
        self.calls, self.inside, self.operations = [], {}, {}
        self.orders = collections.Counter()
        self.collectives = collections.defaultdict(list)
        self.epochs = collections.defaultdict(lambda: collections.defaultdict(list))
        self.open = {}  # (window, rank, target): Lock
        self.locks = collections.defaultdict(list)  # by window: (target or ALL, Lock)

    def step(self, location, event):
        kind, rank = type(event).__name__, int(location.group.name.split()[-1])
        win = getattr(event, "win", None) and event.win._ref
        call = self.inside.get(location)
        if kind == "Enter" and event.region.paradigm == otf2.Paradigm.MPI:
            self.inside[location] = Call(event, rank)
            self.calls.append(self.inside[location])
        elif kind == "Leave" and call is not None:
            self.inside.pop(location).leave = event.time
        elif kind == "RmaCollectiveEnd":
            state = STATES[str(event.collective_op).rpartition(".")[2]]
            self.collectives[win, self.orders[win, rank], state].append(call)
            self.orders[win, rank] += 1
        elif kind == "RmaGroupSync":
            role = ROLES[call.place[0]]
            for member in event.group.members:
                other = member._ref & 0xFFFFFFFF
                key = (win, rank, other) if role in ("start", "complete") else (win, other, rank)
                self.epochs[key][role].append(call)
        elif kind == "RmaRequestLock":
            lock = self.open[win, rank, event.remote] = Lock(call, "EXCLUSIVE" in str(event.lock_type))
            self.locks[win].append((event.remote, lock))
        elif kind == "RmaReleaseLock":
            self.open.pop((win, rank, event.remote)).unlock = call
        elif kind in ("RmaPut", "RmaGet", "RmaAtomic"):
            lock = self.open.get((win, rank, event.remote), self.open.get((win, rank, ALL)))
            self.operations[rank, event.matching_id] = lock, event.remote
        elif kind == "RmaOpCompleteRemote":
            lock, target = self.operations.pop((rank, event.matching_id))
            if lock is not None:
                lock.done.setdefault(target, (event.time, call))


def find(reading):
    for (_, _, state), calls in reading.collectives.items():
        last = max(calls, key=lambda call: (call.enter, -call.rank))
        for call in calls if all(call.leave >= last.enter for call in calls) else ():
            call.offer(state, last, True)
    for epoch in reading.epochs.values():
        for start, complete, post in zip(epoch["start"], epoch["complete"], epoch["post"]):
            start.offer("late post", post)
            complete.offer("late post", post)
        for wait, complete in zip(epoch["wait"], epoch["complete"]):
            wait.offer("early wait", complete)
    for locks in reading.locks.values():
        for of_first, first in locks:
            for of_second, second in locks:
                if first.unlock is None or first.call.rank == second.call.rank or \
                        not (first.is_exclusive or second.is_exclusive):
                    continue
                targets = {of_first} if of_first != ALL else set(first.done)
                for target in targets & ({of_second} if of_second != ALL else targets):
                    until = second.unlock.enter if second.unlock else math.inf
                    if first.held(target) <= until and second.held(target) > first.unlock.enter:
                        for call in second.calls(target):
                            call.offer("lock contention", first.unlock)


def main(archive, report):
    reading = Reading()
    with otf2.reader.open(archive) as trace:
        for location, event in trace.events:
            reading.step(location, event)
    find(reading)
    expected = collections.defaultdict(lambda: [0, 0])
    for call in reading.calls:
        if call.cause is not None:
            ready, state, other = call.cause
            pair = expected[state, *call.place, *other.place]
            pair[0] += 1
            pair[1] += int(min(ready, call.leave)) - call.enter
    with open(report, encoding="utf-8") as file:
        rows = json.load(file)["wait_states"]["pairs"]
    states = {*STATES.values(), "late post", "early wait", "lock contention"}
    found = {(row["state"], row["mpi_function"], row["id"], row["for"]["mpi_function"], row["for"]["id"]):
             [row["waits"], row["wait_ns"]] for row in rows if row["state"] in states}
    wrong = [f"{key}: {found.get(key)} instead of {expected.get(key)}"
             for key in expected.keys() | found.keys() if found.get(key) != expected.get(key)]
    print("\n".join(wrong))
    print(*sorted({key[0] for key in found}), sep=", ")
    return 1 if wrong or not found else 0


sys.exit(main(*sys.argv[1:]))
