#!/bin/bash
# Devices and links between two simulated machines: the contract of all transports, the devices that
# are chosen and refused, and broken links, which are found before they are used.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/standin/standin.bash"
. "$ROOT/tests/lab/between.bash"
standin_test "links by adapters that are not there"
export STAGGER_VERBS_MULTICAST=off STAGGER_RULES='*=srm'

run() { across run 2 "$PROGRAMS/repeat" barrier,allreduce 10; }
works() { run && is 0 "$status" && by_rdma run; }
# passes REGEX: MPICH runs all calls, and one line gives the reason
passes() {
    run
    is 0 "$status" && is 0 "$(notes run | wc -l)" && has run.err "$1" &&
        is 1 "$(grep -c "RDMA" run.err)"
}

# ---- the contract ------------------------------------------------------------------------------
STAGGER_TRACE=off across contract 2 "$BUILD/standin/lab/test_contract" tree
sed -n 's/^\(ok\|not ok\) - /&over simulated adapters: /p' contract.out
check "the contract's tests pass over simulated adapters" all 'is 0 "$status"' 'has contract.out "^ok - "'

# ---- the choice --------------------------------------------------------------------------------
export STANDIN_DEVICES_1='roce0=eth:1,ib0=ib:2' STANDIN_DEVICES_2='ib7=ib:3,roce3=eth:1'
check "ranks with several devices use a network that all of them have" works
STANDIN_DEVICES_2='ib7=ib:2,roce3=eth:9' check "ranks prefer InfiniBand of one common subnet to Ethernet" works
STANDIN_DEVICES_2='two=ib:2:down+eth:1' check "ranks use an active port" works
STANDIN_DEVICES_2='ib7=ib:3' check "without a common network one line says so, with rank 0's best one" \
    passes '^stagger: rank 0: no RDMA \(there is no network on which all ranks have a port; the best one here is InfiniBand subnet fe80000000000002\)'
STANDIN_DEVICES_2='roce3=eth:1:v1' STANDIN_DEVICES_1='roce0=eth:1' check "ranks use RoCE of one common version" works
unset STANDIN_DEVICES_1 STANDIN_DEVICES_2

# ---- trials ------------------------------------------------------------------------------------
for request in write read; do
    STANDIN_FAULTS_2=fail-$request check "no rank uses a link on which a $request fails" \
        passes "^stagger: rank 1: RDMA is not used: a test $request at rank 0 by device rxe0 failed: transport retry counter exceeded\$"
done
STANDIN_DEVICES_1='rxe0=eth:1' STANDIN_DEVICES_2='rxe0=eth:2' check "no rank uses a link to another network" \
    passes '^stagger: rank 0: RDMA is not used: a test write at rank 1 by device rxe0 failed: transport retry counter exceeded$'
STANDIN_FAULTS=no-atomics check "a protocol without atomic operations runs without them" works
STANDIN_FAULTS_2=no-atomics STAGGER_RULES='*=handoff' check "a protocol with atomic operations does not run without them" \
    passes '^stagger: rank 0: RDMA is not used: a test fetch-and-add at rank 1 by device rxe0 failed: remote invalid request error$'

# ---- settings ----------------------------------------------------------------------------------
export STANDIN_DEVICES='rxe0=eth:1:p8005'
STAGGER_VERBS_PARTITION=5 check "ranks use the requested partition" works
STAGGER_VERBS_PARTITION=6 check "a missing partition is reported" \
    passes 'rank 0: no RDMA \(port 1 of device rxe0 has no key of partition 6 \(STAGGER_VERBS_PARTITION\)\)'
STAGGER_VERBS_SERVICE_LEVEL=3 STAGGER_VERBS_TRAFFIC_CLASS=106 check "ranks use the requested service level and traffic class" works
STANDIN_FAULTS_2=no-fork check "when forks cannot be made safe, a line gives the remedy" \
    passes 'rank 1: no RDMA \(libibverbs cannot be made fork-safe, .* set RDMAV_FORK_SAFE=1\)'
STAGGER_VERBS_MEMORY=1m run
check "a memory limit is reported, and MPICH runs the calls" all 'is 0 "$status"' 'is 0 "$(notes run | wc -l)"' \
    'has run.err "^stagger: rank [01]: RDMA is not used: [0-9]+ KiB in addition to [0-9]+ KiB registered exceed STAGGER_VERBS_MEMORY, 1024 KiB$"'
