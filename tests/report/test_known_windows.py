"""One-sided communication in stagger report, for programs with known operations and waits. The waits are
compared with those that OTF2's own reader finds in the whole archive, in time.

A lock A precedes a conflicting lock B if an operation under A is complete at its target before B's unlock
begins, and not vice versa: then B's calls wait for the begin of A's unlock.

A lock's call waits for its target's next call, if that ends before it and the target was outside of MPI for most
of the time until then; so do the call that completes an operation under the lock, and then the unlock. A wait for a
lock is the target's as long as that is late.
"""
import collections
import math
import sys

import otf2
import pytest
from lib.runs import ROOT, has, lacks, ran, report, run, stagger

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
        self.targets = []  # the calls of targets that were late

    def waits(self):
        """Its waits, as (state, the other's call, begin, end): one, or for a lock first that for the late target."""
        if self.cause is None:
            return
        begin, (ready, state, other) = self.enter, self.cause
        target = max((target for target in self.targets if target.enter < ready), key=lambda call: call.enter, default=None)
        if state == "lock contention" and target is not None:
            begin = target.enter
            yield "late target", target, self.enter, begin
        yield state, other, begin, min(ready, self.leave)

    def offer(self, state, other, is_bounded=False):
        if state == "late target" and self.enter < other.enter < self.leave:
            self.targets.append(other)
        if self.enter < other.enter and (is_bounded or other.enter < self.leave) and \
                self.place[0] != "MPI_Win_test" and \
                (self.cause is None or
                 (self.cause[0], self.cause[1] != "late target") < (other.enter, state != "late target")):
            self.cause = other.enter, state, other


class Lock:
    def __init__(self, call, is_exclusive, target):
        self.call, self.is_exclusive, self.target = call, is_exclusive, target
        self.unlock = None
        self.done = {}  # by target: (time, call) of the first completion there
        self.all = []  # the ranks of all targets, until it is known for which of them it waited

    def held(self, target):
        return self.done[target][0] if target in self.done else math.inf

    def calls(self, target):
        return [self.call] + ([self.done[target][1]] if target in self.done else [])


class Presence:
    """The calls of a rank: the latest 32 that it entered from outside of MPI, once an operation names it."""

    def __init__(self):
        self.calls, self.left, self.returns, self.is_watched = 0, 0, collections.deque(maxlen=32), False

    def enter(self, call):
        if self.calls == 0 and self.is_watched:
            self.returns.append((self.left, call))
        self.calls += 1

    def leave(self, time):
        self.calls -= 1
        self.left = time if self.calls == 0 else self.left

    def first_after(self, time):
        left, call = next(((left, call) for left, call in self.returns if call.enter > time), (0, None))
        return call if call is not None and left - time <= call.enter - left else None


class Reading:
    def __init__(self):
        self.calls, self.inside, self.operations = [], {}, {}
        self.orders = collections.Counter()
        self.collectives = collections.defaultdict(list)
        self.epochs = collections.defaultdict(lambda: collections.defaultdict(list))
        self.open = {}  # (window, rank, target): Lock
        self.locks = collections.defaultdict(list)  # by window: (target or ALL, Lock)
        self.presence = collections.defaultdict(Presence)
        self.awaited = {}  # by lock and target: [rank and id of the operation, whether it is complete at its origin]

    def watch(self, win, target):
        """Returns the target's rank in MPI_COMM_WORLD."""
        there = win.comm.group.members[target]._ref & 0xFFFFFFFF
        self.presence[there].is_watched = True
        return there

    def wait_for_target(self, call, there):
        first = self.presence[there].first_after(call.enter) if there != call.rank else None
        if first is not None:
            call.offer("late target", first)

    def wait_for_all(self, lock):
        """MPI_Win_lock_all may have waited for each of its targets."""
        for there in lock.all:
            self.wait_for_target(lock.call, there)
        lock.all = []

    def begin(self, event, rank, lock):
        key = lock, event.remote
        there = self.watch(event.win, event.remote)
        if key in self.awaited and not self.awaited[key][1]:
            return
        if lock.target == ALL:
            self.wait_for_all(lock)
        elif event.remote not in lock.done:
            self.wait_for_target(lock.call, there)
        self.awaited[key] = [(rank, event.matching_id), False, there]

    def complete(self, call, operation, is_there):
        for key, (awaited, _, there) in list(self.awaited.items()):
            if awaited == operation:
                self.wait_for_target(call, there)
                self.awaited[key][1] = True
                if is_there:
                    del self.awaited[key]

    def step(self, location, event):
        kind, rank = type(event).__name__, int(location.group.name.split()[-1])
        win = getattr(event, "win", None) and event.win._ref
        call = self.inside.get(location)
        if kind == "Enter" and event.region.paradigm == otf2.Paradigm.MPI:
            self.inside[location] = Call(event, rank)
            self.calls.append(self.inside[location])
            self.presence[rank].enter(self.inside[location])
        elif kind == "Leave" and call is not None:
            self.inside.pop(location).leave = event.time
            self.presence[rank].leave(event.time)
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
            lock = Lock(call, "EXCLUSIVE" in str(event.lock_type), event.remote)
            self.open[win, rank, event.remote] = lock
            for target in range(len(event.win.comm.group.members)) if event.remote == ALL else [event.remote]:
                there = self.watch(event.win, target)
                lock.all += [there] if event.remote == ALL else []
            self.locks[win].append((event.remote, lock))
        elif kind == "RmaReleaseLock":
            lock = self.open.pop((win, rank, event.remote))
            lock.unlock = call
            self.wait_for_all(lock)
            for target in lock.done:
                self.wait_for_target(call, self.watch(event.win, target))
        elif kind in ("RmaPut", "RmaGet", "RmaAtomic"):
            lock = self.open.get((win, rank, event.remote), self.open.get((win, rank, ALL)))
            self.operations[rank, event.matching_id] = lock, event.remote
            if lock is not None:
                self.begin(event, rank, lock)
        elif kind == "RmaOpCompleteNonBlocking":
            self.complete(call, (rank, event.matching_id), False)
        elif kind == "RmaOpCompleteRemote":
            lock, target = self.operations.pop((rank, event.matching_id))
            self.complete(call, (rank, event.matching_id), True)
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


def waits_of(archive):
    """By state, call and awaited call: the number of waits and their sum."""
    reading = Reading()
    with otf2.reader.open(str(archive)) as trace:
        for location, event in trace.events:
            reading.step(location, event)
    find(reading)
    waits = collections.defaultdict(lambda: [0, 0])
    for call in reading.calls:
        for state, other, begin, end in call.waits():
            pair = waits[state, *call.place, *other.place]
            pair[0] += 1
            pair[1] += int(end) - begin
    return waits


def traced(trace):
    return ran(3, "known_windows", STAGGER_TRACE=trace)


# ---- operations by origin and target -------------------------------------------------------------


@pytest.mark.parametrize("trace", ["otf2", "stats"])
def test_operations(trace):
    """puts and gets of each pair of ranks are the program's own, in the text, too"""
    assert traced(trace).ran_well()
    one_sided = traced(trace).report["one_sided"]
    # Each rank puts 4 x 8 + 16 + 24 bytes to the right with 10 calls, 4 of which fetch 20; to the left
    # 16 bytes with 3 calls, and gets 12 + 12 + 4. Rank 0 puts 40 to itself and to rank 2, which are
    # ranks 0 and 1 of a communicator.
    assert sorted(tuple(pair.values()) for pair in one_sided["pairs"]) == [
        (0, 0, 1, 40, 0, 0), (0, 1, 10, 72, 4, 20), (0, 2, 4, 56, 3, 28), (1, 0, 3, 16, 3, 28), (1, 2, 10, 72, 4, 20),
        (2, 0, 10, 72, 4, 20), (2, 1, 3, 16, 3, 28)]
    assert [count for name, count in one_sided.items() if name != "pairs"] == [0, 0, 0, 0]
    assert has(stagger("report", "--all", traced(trace).trace), "^one-sided operations, 7 of 7 pairs:$",
               r"^ +0 +1 +10 +72B +4 +20B$", r"^ +2 +1 +3 +16B +3 +28B$")


def test_tables():
    """the pairs with the most bytes come first in CSV, --top cuts them, --rank selects, and the page has them"""
    trace = traced("otf2").trace
    assert stagger("report", "--csv=one-sided", trace).splitlines()[:2] == [
        "origin,target,puts,put_bytes,gets,got_bytes", "0,1,10,72,4,20"]
    assert has(stagger("report", "--all", "--top", 2, trace), "^one-sided operations, 2 of 7 pairs:$")
    assert len(report("--rank", 1, trace)["one_sided"]["pairs"]) == 2
    stagger("report", "--html", "page.html", trace)
    with open("page.html", encoding="utf-8") as page:
        assert page.read().count('id="targets"') == 1


# ---- wait states ---------------------------------------------------------------------------------

# Ignores the length of waits, and whether every round waited: the machine may be slow.
KNOWN = """\
wait at fence: MPI_Win_fence in early_fence for 1: MPI_Win_fence in late_fence
wait at create: MPI_Win_create in early_create for 2: MPI_Win_create in late_create
wait at free: MPI_Win_free in early_free for 0: MPI_Win_free in late_free
late post: MPI_Win_(start|complete) in early_start for 1: MPI_Win_post in late_post
early wait: MPI_Win_wait in early_wait for 0: MPI_Win_complete in late_complete
lock contention: MPI_Win_(lock|unlock) in early_lock for 0: MPI_Win_unlock in late_unlock""".split("\n")
OTHERS = "|".join([
    "wait at create:.*_create", "wait at free:.*_free", "wait at fence:.*_fence", "wait at [cf].* in main",
    "late post: .* in (early_start|late_complete) for 1: MPI_Win_post in (late_post|early_wait)",
    "early wait: .* in (early_wait|late_post) for 0: MPI_Win_complete in (late_complete|early_start)",
    "lock contention: .* in early_lock for 0: MPI_Win_unlock in late_unlock",
    "late target: .*", "wait at (barrier|communicator|init|finalize): .*", "late sender: .*", "late receiver: .*"])


def test_waits():
    """late ranks are found, and nobody waits for them in another way"""
    pairs = "\n".join("{state}: {mpi_function} in {function} for {rank}: ".format(**pair) +
                      "{mpi_function} in {function}".format(**pair["for"])
                      for pair in ran(3, "known_windows", "waits").report["wait_states"]["pairs"] if pair["waits"] <= 20)
    assert has(pairs, *(f"^{wait}$" for wait in KNOWN)) and lacks(pairs, f"^(?!({OTHERS})$)")


@pytest.mark.parametrize("part, states", [
    ("waits", {"wait at fence", "wait at create", "wait at free", "late post", "early wait", "lock contention"}),
    ("contend", {"lock contention"})])
def test_events(part, states):
    """the waits are those of the archive's events"""
    known = ran(3, "known_windows", part)
    assert known.ran_well()
    waits = {(pair["state"], pair["mpi_function"], pair["id"], pair["for"]["mpi_function"], pair["for"]["id"]):
             [pair["waits"], pair["wait_ns"]] for pair in known.report["wait_states"]["pairs"]
             if pair["state"] in {*STATES.values(), "late post", "early wait", "lock contention",
                              "late target"}}
    assert waits == waits_of(known.archive) and {key[0] for key in waits} >= states


def test_skews():
    """fences, and calls that create and free windows, have their skew"""
    assert {row["mpi_function"] for row in ran(3, "known_windows", "waits").report["collectives"]
            if row["instances"] == 10} == {"MPI_Win_create", "MPI_Win_fence", "MPI_Win_free"}


def test_fences():
    """fences of another tool's archive are matched by window and number"""
    run(sys.executable, ROOT / "tests/report/make_windows.py", "ahead")
    assert [[pair[field] for field in ("state", "waits", "wait_ns", "max_ns", "rank")]
            for pair in report("ahead")["wait_states"]["pairs"]] == [["wait at fence", 1, 30, 30, 1]]
