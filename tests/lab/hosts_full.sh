#!/bin/bash
# timeout: 900
# Three hosts of two processors: a program with two ranks on each; the RDMA cable is cut, the
# multicast is lost, and finally a host dies, while the control network stays up.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "three hosts" -n 3 -c 2 -t 800

lab_mpi counts 3 2 "$PROGRAMS/counts_c"
check "a program of six ranks on three hosts runs well under the library" ran_well counts
check "one archive has the calls of all hosts" archive_agrees counts.trace counts.out

two_hosts() { timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 1 "$BUILD/lab/$1"; }
fails() { ! "$@"; }

check "multicast arrives before a filter is set" two_hosts multicast
on 2 tc qdisc add dev rdma ingress
on 2 tc filter add dev rdma parent ffff: protocol ip u32 match ip dst 239.0.0.0/8 action drop
check "a filter for multicast drops only multicast" all 'fails two_hosts multicast' \
    'two_hosts one_sided'
on 2 tc qdisc del dev rdma ingress
check "multicast arrives again without the filter" two_hosts multicast

on 2 ip link set rdma down
check "with the cable out, RDMA fails and control works" all 'fails two_hosts one_sided' \
    'timeout "$PROGRAM_SECONDS" mpi 2 1 "$PROGRAMS/counts_c"'

# The host dies shortly after `on` has left it; otherwise `on` would wait for its reply.
on 3 'setsid bash -c "sleep 1; echo o >/proc/sysrq-trigger" </dev/null >/dev/null 2>&1 &'
silent() {
    for ((try = 0; try < 10; try++)); do
        timeout 15 on "$1" true || return 0
    done
    return 1
}
check "a dead host does not answer, and others do" all 'silent 3' 'on 2 true'
