"""Writes an archive of two ranks that do not wait in most of their fences, on two windows:
python3 make_windows.py DIRECTORY. tests/report/test_known_windows.py has the expected report.
"""
import sys

import otf2
from otf2.enums import (CollectiveOp, GroupType, LocationGroupType, LocationType, Paradigm, RegionRole,
                        RmaSyncLevel)

# rank, window, begin and end of each fence, in the order of each rank's calls
FENCES = [
    # Both windows at the same time, in different order: treated as one fence, rank 0 would wait 3.
    (0, 0, 100, 106), (0, 1, 120, 121), (1, 1, 103, 107), (1, 0, 130, 131),
    # Rank 0 is up to two fences ahead: matching its third with rank 1's first would make rank 1
    # wait 5.
    (0, 0, 1100, 1105), (0, 0, 1110, 1115), (0, 0, 1205, 1207),
    (1, 0, 1200, 1210), (1, 0, 1220, 1221), (1, 0, 1230, 1231),
    # Rank 0 waits 30.
    (0, 0, 1400, 1490), (1, 0, 1430, 1500),
]


def main(directory):
    with otf2.writer.open(directory, timer_resolution=1_000_000_000) as trace:
        define = trace.definitions
        node = define.system_tree_node("node")
        locations = []
        for rank in range(2):
            group = define.location_group(f"MPI Rank {rank}", system_tree_parent=node,
                                          location_group_type=LocationGroupType.PROCESS)
            locations.append(define.location("Master thread", group=group, type=LocationType.CPU_THREAD))
        define.group(group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        group = define.group(group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=locations)
        comm = define.comm("MPI_COMM_WORLD", group=group)
        windows = [define.rma_win(f"window {i}", comm=comm) for i in range(2)]
        fence = define.region("MPI_Win_fence", paradigm=Paradigm.MPI, region_role=RegionRole.RMA)
        for rank, window, begin, end in FENCES:
            writer = trace.event_writer_from_location(locations[rank])
            writer.enter(begin, fence)
            writer.rma_collective_begin(begin)
            writer.rma_collective_end(end, CollectiveOp.BARRIER, RmaSyncLevel.PROCESS, windows[window],
                                      2**32 - 1, 0, 0)
            writer.leave(end, fence)


main(*sys.argv[1:])
