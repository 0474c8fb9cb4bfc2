#!/bin/bash
# timeout: 4000
# Buffered coscheduling between two and three machines by RDMA: results as in stock MPICH, slices
# that agree on all machines and count from one moment although clocks differ, some or all
# multicasts lost, a dead link, a machine that dies.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/slices.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "slices of several machines" -n 3 -c 2 -m 1536 -t 3900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=900

SOLVE=("$PROGRAMS/cg" -n 12 -t 2)
# A slice long enough for emulated hosts.
SLICE=20000
BCS="*=bcs(slice=$SLICE)"

# solved NAME: the results are stock's
solved() { is 0 "$status" && ran_well "$1" && by_rdma "$1" && same <(grep '^step ' stock.out) <(grep '^step ' "$1.out"); }
# series NAME: writes NAME.csv
series() { "$STAGGER" report --slices --csv "$1.trace" >"$1.csv" 2>"$1.series"; }
# alike NAME NODES: each node records every slice of MPI_COMM_WORLD once
alike() {
    series "$1" && "$PYTHON" -c '
import collections, csv, sys
nodes = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[1] + ".csv")):
    if row["comm"] == "MPI_COMM_WORLD":
        nodes[row["node"]].append(int(row["slice"]))
lists = list(nodes.values())
assert len(lists) == int(sys.argv[2]) and lists[0], nodes
assert all(slices == lists[0] == sorted(set(slices)) for slices in lists), nodes' "$@"
}
export STAGGER_EMDS=on

for case in '2 1 thread' '2 2 thread' '3 1 thread'; do
    read -r hosts each mode <<<"$case"
    STAGGER_EMDS='' STAGGER_DIR=$WORK/stock.trace timeout --kill-after=5 "$PROGRAM_SECONDS" \
        mpi "$hosts" "$each" "${SOLVE[@]}" </dev/null >stock.out 2>stock.err
    for how in "" ",restart=slice" ",microphases=separate"; do
        run_across solve "$mode" "$each" "*=bcs(slice=$SLICE$how)" $((hosts * each)) "${SOLVE[@]}"
        check "a solver has stock's results in slices ($hosts hosts, $each ranks each$how)" solved solve
        # With restart=slice the last slice only lets calls return, and the program may end before
        # it.
        [ "$how" = ,restart=slice ] ||
            check "... each slice is the same on all hosts" alike solve "$hosts"
    done
done

run_across orders thread 1 "$BCS" 2 "$PROGRAMS/two_orders" 12
check "communicators with strobes from different hosts count their slices from one moment" all \
    'is 0 "$status"' 'by_rdma orders' 'series orders' 'one_epoch orders.csv "${SLICE}000"'

for one_in in 10 3; do
    lose 3 "$one_in"
    run_across lossy thread 1 "$BCS" 3 "$PROGRAMS/repeat" barrier,allreduce,reduce 60
    missed=$(lost 3)
    lose 3 0
    check "with one of $one_in multicasts lost on one of three hosts, every call completes" all \
        'is 0 "$status"' 'ran_well lossy' 'by_rdma lossy' 'within 1 1000000 "$missed"'
done
STAGGER_VERBS_MULTICAST=off run_across without thread 1 "$BCS" 3 "$PROGRAMS/repeat" barrier,allreduce,reduce 60
check "every call completes without multicasts, too" all 'is 0 "$status"' 'ran_well without' 'by_rdma without' 'is 0 "$(sum 5 without)"'

on 2 ip link set rdma down
run_across down thread 1 "$BCS" 2 "$PROGRAMS/repeat" barrier,allreduce,reduce 20
check "with a dead link at the start, calls are MPICH's, and one line says why" all 'is 0 "$status"' \
    'has down.out "^rank 1: 20 calls of "' 'has down.err "^stagger: rank 1: no RDMA [(].*no active port"'
on 2 ip link set rdma up

# The host dies shortly after `on` has left it; otherwise `on` would wait for its reply.
kill_host() {
    rm -rf dead.trace dead.out
    STAGGER_RULES=$BCS STAGGER_DIR=$WORK/dead.trace timeout --kill-after=5 600 \
        mpi 3 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/repeat" barrier 100000000 </dev/null >dead.out 2>dead.err &
    job=$!
    until [ -s dead.out ] || ! kill -0 "$job" 2>/dev/null; do sleep 0.2; done
    on 3 'setsid bash -c "sleep 1; echo o >/proc/sysrq-trigger" </dev/null >/dev/null 2>&1 &'
    for ((i = 0; i < 300; i++)); do
        grep -q 'aborting the job' dead.err && break
        sleep 1
    done
    kill "$job" 2>/dev/null
}
kill_host
check "when a host dies in a slice, a line names its unreachable rank" \
    has dead.err '^stagger: rank [01] on node[12]: rank 2 on node3 can no longer be reached'
