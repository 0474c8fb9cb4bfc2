#!/usr/bin/python3
"""Plants faults into the events of windows of a sound archive, one at a time, and asks the checker
(tests/lib/check_windows.py) for each: it must find that rule broken.

    window_faults.py DIR/traces.otf2

Prints a line for each fault that is not found, and exits 1 if there is one.
"""
import copy
import os
import sys

import otf2
from otf2.enums import CollectiveOp, RmaAtomicType, RmaSyncLevel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import check_archive  # noqa: E402
import check_windows  # noqa: E402

RANK = 1  # whose events are at fault


def is_kind(kind, region=None):
    return lambda event, inside: type(event).__name__ == kind and region in (None, inside)


def without(events, at):
    return events[:at] + events[at + 1:]


def twice(events, at):
    return events[:at + 1] + events[at:]


def earlier(events, at):
    """Before the event of its location that comes before it."""
    location, event = events[at]
    before = max(i for i in range(at) if events[i][0] is location)
    moved = copy.copy(event)
    moved.time = events[before][1].time
    return events[:before] + [(location, moved)] + events[before:at] + events[at + 1:]


def changed(name, change):
    def apply(events, at):
        location, event = events[at]
        other = copy.copy(event)
        setattr(other, name, change(getattr(event, name)))
        return events[:at] + [(location, other)] + events[at + 1:]
    return apply


FAULTS = (
    (is_kind("RmaCollectiveBegin"), without,
     "RmaCollectiveEnd has its RmaCollectiveBegin in the same call"),
    (is_kind("RmaCollectiveBegin"), earlier,
     "RmaCollectiveBegin follows the Enter of its collective"),
    (is_kind("RmaCollectiveEnd"), without, "every RmaCollectiveBegin has its RmaCollectiveEnd"),
    (is_kind("RmaCollectiveEnd", "MPI_Win_fence"), without,
     "all members of a window have the same collectives in one order"),
    (is_kind("RmaCollectiveEnd", "MPI_Win_fence"), changed("collective_op", lambda _: CollectiveOp.ALLREDUCE),
     "RmaCollectiveEnd has its call's operation"),
    (is_kind("RmaCollectiveEnd", "MPI_Win_fence"), changed("sync_level", lambda _: RmaSyncLevel.NONE),
     "fences synchronise memory, too"),
    (is_kind("RmaWinCreate"), without, "events of a window are between its creation and its end"),
    (is_kind("RmaWinCreate"), twice, "a window is created once, in the call that creates it"),
    (is_kind("RmaWinDestroy"), without,
     "a window's creation and end are inside their collectives"),
    (is_kind("RmaWinDestroy"), twice, "a window ends once, in MPI_Win_free"),
    (is_kind("RmaPut"), earlier, "an operation follows the Enter of its call"),
    (is_kind("RmaPut"), without, "an operation that completes has begun on the same window"),
    (is_kind("RmaPut"), twice, "operation numbers are unique on a rank"),
    (is_kind("RmaPut"), changed("remote", lambda remote: remote + 3),
     "an operation's target is in the window"),
    (is_kind("RmaAtomic", "MPI_Accumulate"), changed("type", lambda _: RmaAtomicType.SWAP),
     "an operation has its call's kind"),
    (is_kind("RmaOpCompleteNonBlocking", "MPI_Win_fence"), without,
     "an operation is complete at its target once, and first at its origin"),
    (is_kind("RmaOpCompleteNonBlocking"), twice, "an operation is complete at its origin once"),
    (is_kind("RmaOpCompleteNonBlocking", "MPI_Win_complete"), without,
     "MPI_Win_complete leaves no operation open at its origin"),
    (is_kind("RmaOpCompleteRemote", "MPI_Win_fence"), without,
     "fences and ends of windows leave no operation open"),
    (is_kind("RmaOpCompleteRemote", "MPI_Win_unlock"), without,
     "a lock is released when the operations on its target are complete"),
    (is_kind("RmaOpCompleteRemote"), twice,
     "an operation is complete at its target once, and first at its origin"),
    (is_kind("RmaOpCompleteRemote"), changed("matching_id", lambda number: number + 10**9),
     "an operation that completes has begun on the same window"),
    (is_kind("RmaGroupSync", "MPI_Win_start"), without,
     "an epoch ends with the group with which it began"),
    (is_kind("RmaGroupSync", "MPI_Win_wait"), without,
     "an epoch ends before the next begins"),
    (is_kind("RmaGroupSync", "MPI_Win_post"), changed("sync_level", lambda _: RmaSyncLevel.NONE),
     "the end of an epoch synchronises memory, its begin does not"),
    (is_kind("RmaRequestLock"), without, "a lock that is released was requested"),
    (is_kind("RmaRequestLock"), earlier, "RmaRequestLock follows the Enter of its call"),
    (is_kind("RmaRequestLock"), twice, "a lock is not requested again while it is held"),
    (is_kind("RmaRequestLock", "MPI_Win_lock_all"), changed("remote", lambda remote: 0),
     "MPI_Win_lock locks a target of the window, MPI_Win_lock_all all, shared"),
    (is_kind("RmaReleaseLock"), twice, "a lock that is released was requested"),
)


def broken(events, definitions):
    """The rules that fail."""
    check = check_archive.Checker()
    walker = check_archive.Walker(check)
    for location, event in events:
        walker.step(location, event)
    walker.windows.finish()
    return {rule for rule, reason in check.reasons.items() if reason is not None}


def find(events, wanted):
    """Where the first event that is wanted stands, on the rank at fault."""
    inside = None
    for at, (location, event) in enumerate(events):
        if location.group._ref != RANK:
            continue
        if isinstance(event, otf2.events.Enter):
            inside = event.region.name
        elif wanted(event, inside):
            return at
    return None


def main():
    missed = 0
    with otf2.reader.open(sys.argv[1]) as trace:
        events = list(trace.events)
        if broken(events, trace.definitions):
            print("the archive is not sound")
            return 1
        for number, (wanted, plant, rule) in enumerate(FAULTS):
            at = find(events, wanted)
            if at is None or rule not in broken(plant(events, at), trace.definitions):
                missed += 1
                print(f"fault {number} ({plant.__name__}): not found: {rule}")
        known = {rule for _, _, rule in FAULTS}
        print(f"{len(FAULTS)} faults, {len(known)} rules, {len(check_windows.WINDOWS)} kinds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
