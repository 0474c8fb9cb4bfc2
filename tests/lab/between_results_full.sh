#!/bin/bash
# timeout: 10000
# Every collective of the cover between two, three and four machines by RDMA, with one and two ranks
# each, in one progress mode each time (tests/lab/between.sh and the virtual nodes of
# tests/internode cover the others); with only some of a node's ranks connected; without multicasts.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "the results of collectives between up to four machines" -n 4 -c 2 -m 1536 -t 9900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=1800

whole='' third=0
for case in '2 1 signal' '2 2 thread' '3 1 thread' '3 2 signal' '4 1 signal' '4 2 thread'; do
    read -r hosts each MODES <<<"$case"
    ranks=$((hosts * each))
    third=$((third + 1))
    . "$ROOT/tests/internode/results.bash"
    check "RDMA carries all of these calls ($hosts hosts, $each ranks each, $MODES)" by_rdma results
done
# One rank of each host sends for both.
export STAGGER_VERBS_SENDERS=1
ranks=4 each=2 MODES=thread
. "$ROOT/tests/internode/results.bash"
check "RDMA carries all of these calls (one of two ranks of a host sends)" by_rdma results
unset STAGGER_VERBS_SENDERS
export STAGGER_VERBS_MULTICAST=off
ranks=3 each=1 MODES=thread
. "$ROOT/tests/internode/results.bash"
check "RDMA carries all of these calls (without multicast)" by_rdma results
unset STAGGER_VERBS_MULTICAST
