#!/bin/bash
# timeout: 10000
# Every collective of the cover between two, three and four machines by RDMA, with one and two ranks each
# and in each progress mode; of a node's ranks some that are not connected; without multicasts.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "the results of collectives between up to four machines" -n 4 -c 2 -m 1536 -t 9900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=1800

whole=
for hosts in 2 3 4; do
    for each in 1 2; do
        ranks=$((hosts * each))
        . "$ROOT/tests/span/results.bash"
        check "all of that by RDMA ($hosts hosts, $each ranks each)" by_rdma results
    done
done
# One rank of each host sends for both.
export STAGGER_VERBS_SENDERS=1
ranks=4 each=2
. "$ROOT/tests/span/results.bash"
unset STAGGER_VERBS_SENDERS
export STAGGER_VERBS_MULTICAST=off
ranks=3 each=1 MODES=thread
. "$ROOT/tests/span/results.bash"
unset STAGGER_VERBS_MULTICAST
