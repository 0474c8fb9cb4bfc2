#!/bin/bash
# timeout: 900
# The transport verbs between two hosts: the contract of all transports, events, and a set-up that
# fails on one of the two.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "the transport verbs" -n 2 -t 860

two() { timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 "$@"; }

"$STAGGER" info >info.out 2>info.err
check "stagger info names the device, its port, address and packet size, and the limits" \
    has info.out '^  verbs: device rxe0, port 1 \(Ethernet\), GID [0-9]+ \(10\.78\.0\.1\), MTU 1024; a process may lock any memory and registers at most 262144 KiB$'
STAGGER_VERBS_DEVICE=mlx5_9 "$STAGGER" info >none.out 2>&1
check "and why none where the one that is set is not there" \
    has none.out '^  verbs: not used: there is no RDMA device mlx5_9 \(STAGGER_VERBS_DEVICE\)$'

# Prints the contract's sentences, with the transport and hosts that checked them.
two 1 "$BUILD/lab/test_contract" >contract.out 2>contract.err
status=$?
sed -n 's/^\(ok\|not ok\) - /&over verbs between two hosts: /p' contract.out
check "the contract's tests end well over verbs between two hosts" is 0 "$status"

check "the descriptor is readable for solicited messages, each time that it is armed, and no others" \
    two 1 "$BUILD/lab/events"

two 1 "$BUILD/lab/agreement" >agreement.out 2>agreement.err
check "what one of two ranks cannot set up, neither does, and both go on with what they had" is 0 $? ||
    cat agreement.[01]
# lines RANK HEADING: the lines between this heading and the next
lines() { sed -n "/^# $2\$/,/^# /{/^#/d;p}" "agreement.$1"; }
lines 1 memory >memory.said
check "a limit of memory is one line, of the rank that has it" all 'is "" "$(lines 0 memory)"' \
    'has_lines memory.said "" 1' \
    'has memory.said "^stagger: rank 1: RDMA is not used: [0-9]+ KiB in addition to 0 KiB registered exceed STAGGER_VERBS_MEMORY, 1024 KiB$"'
check "a device that is not there is said by the rank that misses it" all 'is "" "$(lines 0 device)"' \
    'is "start: there is no RDMA device none0 (STAGGER_VERBS_DEVICE)
stagger: rank 1: RDMA is not used: no RDMA device is open" "$(lines 1 device)"'
check "peers that do not name each other are refused by one line" all 'is "" "$(lines 1 one-sided)"' \
    'is "stagger: rank 0: RDMA is not used: endpoint 1 does not name endpoint 0" "$(lines 0 one-sided)"'
check "different packet sizes and no multicast on one rank are no failures" \
    all '! sed -n "/^# mtu/,/^# one-sided/p" agreement.[01] | grep -v "^#"'
