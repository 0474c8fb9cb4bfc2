"""The rules of an archive's Cartesian topologies, neighborhood collectives, and calls that all members of
a communicator make on files or to make communicators, for check_archive.py.

A topology has a position for each rank of its communicator, in row-major order. The attributes of its
Enter describe such a call; for a nonblocking or persistent one, two parameters do so with its request's number. They are its communicator, its number there, which each member has exactly once, and,
for a neighborhood collective, the ranks whose data it receives, which on a grid are the neighbors.
"""
import collections
import math
import re

from otf2.enums import CartPeriodicity
from otf2.events import ParameterUnsignedInt

NEIGHBORHOODS = (ParameterUnsignedInt,)
NEIGHBORS = re.compile("MPI_I?neighbor_", re.IGNORECASE)
MEMBERS = re.compile(r"MPI_File_(open|close|set_.*|preallocate|seek_shared|sync|(read|write)_.*(all|ordered).*|(read|write)_all)|"
                     r"MPI_(Comm_(create|dup|split|accept|connect|spawn).*|Intercomm_(create|merge)|Cart_(create|sub)|"
                     r"(Dist_)?graph_create.*|Graph_create)", re.IGNORECASE)
BEGUN, COMPLETE = "collective begun", "collective complete"


def coordinates_of(rank, sizes):
    coordinates = []
    for size in reversed(sizes):
        coordinates.insert(0, rank % size)
        rank //= size
    return tuple(coordinates)


def neighbors_of(rank, sizes, periods):
    """Ranks adjacent to a rank of a grid, excluding itself."""
    at, found = coordinates_of(rank, sizes), set()
    for axis, size in enumerate(sizes):
        for step in (-1, 1):
            there = list(at)
            there[axis] += step
            if periods[axis]:
                there[axis] %= size
            if 0 <= there[axis] < size:
                found.add(sum(c * math.prod(sizes[i + 1:]) for i, c in enumerate(there)))
    return found - {rank}


class Topologies:
    def __init__(self, check, ranks_of):
        self.check = check
        self.ranks_of = ranks_of  # ranks of MPI_COMM_WORLD in a group
        self.grids = {}           # sizes and periods by the communicator's number
        self.open = {}            # by (rank, request): whether it is a neighborhood collective
        self.numbers = collections.defaultdict(list)  # by (comm, rank of the world)

    def define(self, definitions):
        check = self.check
        places = collections.defaultdict(dict)
        for coordinate in definitions.cart_coordinates:
            ranks = places[coordinate.topology._ref]
            check.expect("a rank has one place in a topology", coordinate.rank not in ranks,
                         coordinate.topology.name)
            ranks[coordinate.rank] = tuple(coordinate.coordinates)
        for topology in definitions.cart_topologies:
            comm = topology.communicator
            sizes = [dimension.size for dimension in topology.dimensions]
            periods = [dimension.cart_periodicity == CartPeriodicity.TRUE for dimension in topology.dimensions]
            check.expect("a communicator has one topology", comm._ref not in self.grids, comm.name)
            is_right = math.prod(sizes) == len(comm.group.members)
            check.expect("a topology has a place for each rank", is_right, topology.name)
            if is_right:
                self.grids[comm._ref] = sizes, periods
            check.expect("all ranks have their places in a topology, in row-major order",
                         places[topology._ref] ==
                         {rank: coordinates_of(rank, sizes) for rank in range(math.prod(sizes))},
                         topology.name)

    def enter(self, rank, event):
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        name = event.region.name
        is_neighborhood = NEIGHBORS.match(name) is not None and not name.endswith("_init")
        self.check.expect("only a call that all members make without an operation has a number at Enter",
                          "number" not in values or is_neighborhood or MEMBERS.fullmatch(name), name)
        self.check.expect("sources come with a number of a neighborhood collective",
                          "sources" not in values or "number" in values and is_neighborhood, name)
        if "number" in values:
            self.take_part(rank, values, is_neighborhood)

    def step(self, rank, event, region):
        check = self.check
        name = event.parameter.name
        key = rank, event.value
        check.expect("parameters belong to collectives without an operation", name in (BEGUN, COMPLETE),
                     name)
        check.expect("collectives without an operation begin and end in a call of MPI",
                     region is not None and region.name.startswith("MPI_"), name)
        if name == BEGUN:
            check.expect("a collective without an operation is begun once", key not in self.open, key)
            self.open[key] = region is None or NEIGHBORS.match(region.name) is not None or \
                region.name.startswith("MPI_Start")
            return
        check.expect("a collective without an operation that completes has begun", key in self.open, key)
        self.take_part(rank, {a.name: v for a, v in (event.attributes or {}).items()}, self.open.pop(key, False))

    def take_part(self, rank, values, is_neighborhood):
        check = self.check
        check.expect("a call that all members make has a communicator and a number",
                     {"communicator", "number"} <= set(values), sorted(values))
        if not {"communicator", "number"} <= set(values):
            return
        comm = values["communicator"]
        if not hasattr(comm, "group"):
            return  # two groups
        ranks = self.ranks_of(comm.group)
        if comm.name == "MPI_COMM_SELF":
            return  # each rank has its own
        sources = self.ranks_of(values["sources"]) if "sources" in values else []
        check.expect("a call that all members make is on a member and has data of members",
                     rank in ranks and set(sources) <= set(ranks) - {rank}, comm.name)
        if is_neighborhood and comm._ref in self.grids:
            sizes, periods = self.grids[comm._ref]
            expected = {ranks[n] for n in neighbors_of(ranks.index(rank), sizes, periods)}
            check.expect("on a grid neighborhood collectives receive the neighbors' data",
                         set(sources) == expected, f"{comm.name}: {sources}")
        self.numbers[comm._ref, rank].append(values["number"])

    def finish(self, definitions):
        for comm in definitions.comms:
            if not hasattr(comm, "group"):
                continue
            members = [sorted(self.numbers[comm._ref, rank]) for rank in self.ranks_of(comm.group)]
            self.check.expect("all members have the same calls that all make, each once",
                              all(numbers == members[0] and len(set(numbers)) == len(numbers)
                                  for numbers in members), comm.name)
