"""The rules of an archive's windows and one-sided operations, for check_archive.py.

Operations, lock requests and begins of collectives follow the Enter of their call; completions,
synchronisations, ends of collectives and releases precede its Leave. Operations and locks are tracked by
rank, because any thread may complete or release them.
"""
import collections

from otf2.enums import GroupType
from otf2.events import (RmaAtomic, RmaCollectiveBegin, RmaCollectiveEnd, RmaGet, RmaGroupSync,
                         RmaOpCompleteNonBlocking, RmaOpCompleteRemote, RmaPut,
                         RmaReleaseLock, RmaRequestLock, RmaWinCreate, RmaWinDestroy)

OPERATIONS = (RmaPut, RmaGet, RmaAtomic)
WINDOWS = (*OPERATIONS, RmaCollectiveBegin, RmaCollectiveEnd, RmaGroupSync,
           RmaOpCompleteNonBlocking, RmaOpCompleteRemote, RmaReleaseLock, RmaRequestLock,
           RmaWinCreate, RmaWinDestroy)
KINDS = {"MPI_Put": RmaPut, "MPI_Rput": RmaPut, "MPI_Get": RmaGet, "MPI_Rget": RmaGet}
ATOMICS = {"MPI_Accumulate": {"ACCUMULATE"}, "MPI_Raccumulate": {"ACCUMULATE"},
           "MPI_Compare_and_swap": {"COMPARE_AND_SWAP"}}
FETCHES = {"SWAP", "FETCH_AND_ADD", "FETCH_AND_ACCUMULATE"}
ATOMICS.update({f"MPI_{name}": FETCHES for name in ("Get_accumulate", "Rget_accumulate",
                                                    "Fetch_and_op")})
COLLECTIVES = {"MPI_Win_create": "CREATE_HANDLE", "MPI_Win_create_dynamic": "CREATE_HANDLE",
               "MPI_Win_allocate": "CREATE_HANDLE", "MPI_Win_allocate_shared": "CREATE_HANDLE",
               "MPI_Win_free": "DESTROY_HANDLE", "MPI_Win_fence": "BARRIER"}
# Calls that synchronise with a group: (exposure or access, begin or end), as (is access, is end).
GROUPS = {"MPI_Win_start": (True, False), "MPI_Win_complete": (True, True),
          "MPI_Win_post": (False, False), "MPI_Win_wait": (False, True),
          "MPI_Win_test": (False, True)}
LOCKS = ("MPI_Win_lock", "MPI_Win_lock_all")
UNLOCKS = ("MPI_Win_unlock", "MPI_Win_unlock_all")
PROCESS, BOTH = 1, 3
ALL = 2**32 - 1


def name_of(value):
    return str(value).rpartition(".")[2]


class Operation:
    def __init__(self, event):
        self.event = event
        self.left = None  # when its call was left
        self.is_local = False
        self.is_remote = False


class Windows:
    def __init__(self, check, rank_in):
        self.check = check
        self.rank_in = rank_in  # (comm, rank of the world): rank in comm, None if it is no member
        self.operations = {}    # by (rank, matching id)
        self.open = collections.defaultdict(dict)  # by (rank, window): those that are not complete
        self.locks = {}         # by (rank, window, remote)
        self.groups = {}        # by (rank, window, of the access)
        self.lives = collections.Counter()         # 1: made, 2: ended; by (rank, window)
        self.orders = collections.defaultdict(list)  # operations, by (window, rank)
        self.begun = {}         # by location: the region of an RmaCollectiveBegin
        self.last = {}          # by location: the operation of the call that it is in
        self.entered = {}       # by location: when the latest region was

    def step(self, location, rank, event, region, last_is_enter):
        """region: the innermost open region on the location, None if there is none."""
        check = self.check
        name = region.name if region is not None else ""
        check.expect("events of windows are inside an MPI call", name.startswith("MPI_"), name)
        if isinstance(event, RmaCollectiveBegin):
            check.expect("RmaCollectiveBegin follows the Enter of its collective",
                         last_is_enter and name in COLLECTIVES, name)
            self.begun[location] = name
            return
        self.lives_at(rank, event, name)
        if isinstance(event, OPERATIONS):
            self.operation(location, rank, event, name, last_is_enter)
        elif isinstance(event, (RmaOpCompleteNonBlocking, RmaOpCompleteRemote)):
            self.complete(rank, event)
        elif isinstance(event, RmaCollectiveEnd):
            self.collective(location, rank, event, name)
        elif isinstance(event, RmaGroupSync):
            self.group(location, rank, event, name)
        elif isinstance(event, RmaRequestLock):
            self.request(rank, event, name, last_is_enter)
        elif isinstance(event, RmaReleaseLock):
            self.release(location, rank, event, name)

    def lives_at(self, rank, event, name):
        """Called for every event that names a window."""
        check, win = self.check, event.win
        key = (rank, win._ref)
        has_life = "CREATE_DESTROY_EVENTS" in str(win.flags)
        check.expect("an event of a window is on a member of its communicator",
                     self.rank_in(win.comm, rank) is not None, f"{rank} in {win.name}")
        if isinstance(event, RmaWinCreate):
            check.expect("a window is created once, in the call that creates it",
                         has_life and self.lives[key] == 0 and
                         COLLECTIVES.get(name) == "CREATE_HANDLE", win.name)
            self.lives[key] = 1
            return
        check.expect("events of a window are between its creation and its end",
                     not has_life or self.lives[key] == 1 or
                     (self.lives[key] == 2 and isinstance(event, RmaCollectiveEnd)), win.name)
        if isinstance(event, RmaWinDestroy):
            check.expect("a window ends once, in MPI_Win_free",
                         has_life and self.lives[key] == 1 and name == "MPI_Win_free", win.name)
            self.lives[key] = 2

    def before(self, location, rank, win):
        """A rank's open operations that were over before a location's call."""
        return [one for one in self.open[rank, win._ref].values()
                if one.left is not None and one.left <= self.entered[location]]

    def operation(self, location, rank, event, name, last_is_enter):
        check, win = self.check, event.win
        key = (rank, event.matching_id)
        check.expect("an operation follows the Enter of its call", last_is_enter, name)
        check.expect("an operation has its call's kind",
                     isinstance(event, KINDS[name]) if name in KINDS else
                     isinstance(event, RmaAtomic) and name_of(event.type) in ATOMICS.get(name, ()),
                     name)
        check.expect("an operation's target is in the window",
                     event.remote < max(1, len(win.comm.group.members)), event.remote)
        check.expect("operation numbers are unique on a rank", key not in self.operations,
                     key)
        operation = self.operations[key] = Operation(event)
        self.open[rank, win._ref][event.matching_id] = operation
        self.last[location] = operation

    def complete(self, rank, event):
        check = self.check
        operation = self.operations.get((rank, event.matching_id))
        check.expect("an operation that completes has begun on the same window",
                     operation is not None and operation.event.win._ref == event.win._ref,
                     (rank, event.matching_id))
        if operation is None:
            return
        if isinstance(event, RmaOpCompleteRemote):
            check.expect("an operation is complete at its target once, and first at its origin",
                         operation.is_local and not operation.is_remote, event.matching_id)
            operation.is_remote = True
            self.open[rank, event.win._ref].pop(event.matching_id, None)
        else:
            check.expect("an operation is complete at its origin once", not operation.is_local,
                         event.matching_id)
            operation.is_local = True

    def collective(self, location, rank, event, name):
        check = self.check
        check.expect("RmaCollectiveEnd has its RmaCollectiveBegin in the same call",
                     self.begun.pop(location, None) == name, name)
        operation = name_of(event.collective_op)
        check.expect("RmaCollectiveEnd has its call's operation",
                     COLLECTIVES.get(name) == operation, f"{operation} in {name}")
        check.expect("fences synchronise memory, too",
                     int(event.sync_level.value) == (BOTH if operation == "BARRIER" else PROCESS),
                     name)
        check.expect("fences and ends of windows leave no operation open",
                     not self.before(location, rank, event.win), name)
        if operation != "BARRIER" and "CREATE_DESTROY_EVENTS" in str(event.win.flags):
            check.expect("a window's creation and end are inside their collectives",
                         self.lives[rank, event.win._ref] ==
                         (1 if operation == "CREATE_HANDLE" else 2), name)
        if len(event.win.comm.group.members) > 0:
            self.orders[event.win, rank].append(operation)

    def group(self, location, rank, event, name):
        check = self.check
        check.expect("RmaGroupSync is inside a call that synchronises with a group", name in GROUPS,
                     name)
        if name not in GROUPS:
            return
        is_access, is_end = GROUPS[name]
        key = (rank, event.win._ref, is_access)
        check.expect("a group for synchronisation has only members of its window",
                     event.group.group_type == GroupType.COMM_GROUP and
                     len(event.group.members) > 0 and
                     all(self.rank_in(event.win.comm, member._ref & 0xFFFFFFFF) is not None
                         for member in event.group.members), event.group._ref)
        check.expect("the end of an epoch synchronises memory, its begin does not",
                     int(event.sync_level.value) == (BOTH if is_end else PROCESS), name)
        check.expect("MPI_Win_complete leaves no operation open at its origin",
                     name != "MPI_Win_complete" or
                     all(one.is_local for one in self.before(location, rank, event.win)), name)
        if name == "MPI_Win_complete":  # their targets tell when they are complete there
            for one in self.before(location, rank, event.win):
                del self.open[rank, event.win._ref][one.event.matching_id]
        if is_end:
            check.expect("an epoch ends with the group with which it began",
                         self.groups.pop(key, None) == event.group._ref, name)
        else:
            check.expect("an epoch ends before the next begins", key not in self.groups,
                         name)
            self.groups[key] = event.group._ref

    def request(self, rank, event, name, last_is_enter):
        check = self.check
        key = (rank, event.win._ref, event.remote)
        check.expect("RmaRequestLock follows the Enter of its call",
                     last_is_enter and name in LOCKS, name)
        check.expect("MPI_Win_lock locks a target of the window, MPI_Win_lock_all all, shared",
                     event.remote < max(1, len(event.win.comm.group.members))
                     if name == "MPI_Win_lock" else
                     event.remote == ALL and name_of(event.lock_type) == "SHARED", event.remote)
        check.expect("a lock is not requested again while it is held", key not in self.locks, key)
        self.locks[key] = event

    def release(self, location, rank, event, name):
        check = self.check
        key = (rank, event.win._ref, event.remote)
        check.expect("RmaReleaseLock is inside a call that unlocks", name in UNLOCKS, name)
        check.expect("a lock that is released was requested", self.locks.pop(key, None) is not None,
                     key)
        check.expect("a lock is released when the operations on its target are complete",
                     not any(event.remote in (ALL, one.event.remote)
                             for one in self.before(location, rank, event.win)), key)

    def enter(self, location, event):
        """Called at the Enter of any region."""
        self.entered[location] = event.time

    def leave(self, location, event):
        """Called at the Leave of any region."""
        check, name = self.check, event.region.name
        check.expect("every RmaCollectiveBegin has its RmaCollectiveEnd",
                     self.begun.get(location) != name, name)
        operation = self.last.pop(location, None)
        if operation is not None:
            operation.left = event.time

    def finish(self):
        orders = collections.defaultdict(dict)
        for (win, rank), order in self.orders.items():
            orders[win][rank] = order
        for win, of in orders.items():
            every = [of.get(member._ref & 0xFFFFFFFF) for member in win.comm.group.members]
            self.check.expect("all members of a window have the same collectives in one order",
                              all(one == every[0] for one in every), win.name)
