#!/bin/bash
# timeout: 400
# The foundations of the RDMA transport, on two hosts of the lab: their devices, one-sided
# operations, multicast, and signals for completions.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "RDMA between two hosts" -n 2 -t 360

for node in 1 2; do
    on "$node" ibv_devinfo -d rxe0 >"devices.$node" 2>&1
    check "host $node has an RDMA device with a port that is up" \
        has "devices.$node" 'state:.*PORT_ACTIVE'
done

two_hosts() { timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 1 "$BUILD/lab/$1"; }
check "RC writes, reads and fetch-and-add reach the other host's memory" two_hosts one_sided
check "UD multicast reaches the group's members, and no host that left the group" two_hosts multicast
check "a solicited completion raises a signal on its armed queue only" \
    two_hosts signals
