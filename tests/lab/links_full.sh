#!/bin/bash
# timeout: 1200
# The devices that two hosts choose, and broken links: repeats the cases that tests/standin/links.sh
# shows with simulated adapters, with the kernel's devices.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "links between two hosts" -n 2 -t 1160

run() { # RULE
    rm -rf run.trace
    STAGGER_RULES="*=$1" lab_mpi run 2 1 "$PROGRAMS/repeat" barrier,allreduce 10
}
works() { run "$1" && is 0 "$status" && by_rdma run && within 1 100000 "$(sum 4 run)"; }
# passes REGEX RULE: MPICH runs all calls, and one line gives the reason
passes() {
    run "$2"
    is 0 "$status" && is 0 "$(sum 4 run)" && has run.err "$1" && is 1 "$(grep -c RDMA run.err)" && return
    cat run.err
    return 1
}

# ---- two devices, and a blocked port -----------------------------------------------------------
for node in 1 2; do
    on "$node" rdma link add other0 type rxe netdev control
    check "host $node has a second device" all "on $node ibv_devices >devices" 'has devices " other0"' 'has devices " rxe0"'
done
on 2 "tc qdisc add dev rdma ingress && tc filter add dev rdma parent ffff: protocol ip u32 \
    match ip protocol 17 0xff match ip dport 4791 0xffff action drop"
check "RoCE's port of host 2 is blocked on the first device's network" is 0 $?
STAGGER_VERBS_DEVICE=rxe0 check "no host uses a link on which nothing arrives" \
    passes 'RDMA is not used: a test write at rank 1 by device rxe0 failed: transport retry counter exceeded$' srm
STAGGER_VERBS_DEVICE=other0 check "the chosen device is used" works srm
on 2 tc qdisc del dev rdma ingress
STAGGER_VERBS_DEVICE=rxe0 check "the other device is used when messages arrive on it" works srm

# ---- a device without atomic operations --------------------------------------------------------
cat >no_atomics.c <<'C'
#include <dlfcn.h>
#include <infiniband/verbs.h>
/* The device refuses others' atomic operations. */
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int (*next)(struct ibv_qp *, struct ibv_qp_attr *, int);

    *(void **)&next = dlsym(dlopen("libibverbs.so.1", RTLD_NOW), "ibv_modify_qp");
    attr->qp_access_flags &= ~(unsigned)IBV_ACCESS_REMOTE_ATOMIC;
    return next(qp, attr, mask);
}
C
check "the test builds a device without atomic operations" gcc -shared -fPIC -o no_atomics.so no_atomics.c
PRELOAD="$WORK/no_atomics.so $PRELOAD"
check "a protocol without atomic operations runs on this device" works srm
# When the kernel's device refuses an operation it ends that connection, which also breaks the other
# way.
check "a protocol with atomic operations does not" \
    passes 'RDMA is not used: a test fetch-and-add at rank [01] by device [a-z]+0 failed: (remote .* error|Work Request Flushed Error)$' handoff
