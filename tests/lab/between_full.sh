#!/bin/bash
# timeout: 4000
# Collectives between up to four machines by RDMA: mixed ones, every rate of loss, ScaLAPACK's test
# programs, a machine that dies.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/scalapack/scalapack.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "collectives between up to four machines" -n 4 -c 2 -m 1536 -t 3900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=1800

# ---- mixed collectives --------------------------------------------------------------------------
for hosts in 2 3 4; do
    for mode in thread signal; do
        run_across soak "$mode" 2 '*=adaptive;*=bypass' $((2 * hosts)) "$PROGRAMS/soak" 100 "$hosts" 1 15
        check "mixed blocking and posted collectives have right results ($hosts hosts, $mode)" all 'is 0 "$status"' \
            'ran_well soak' 'by_rdma soak' 'archive_agrees soak.trace soak.out'
    done
done

# ---- fork ---------------------------------------------------------------------------------------
run_across fork thread 1 '*=adaptive;*=bypass' 2 "$PROGRAMS/fork"
check "programs that fork continue by RDMA, with right results" all 'is 0 "$status"' 'ran_well fork' \
    'by_rdma fork' 'archive_agrees fork.trace fork.out'

# ---- requests ----------------------------------------------------------------------------------
for algorithm in tree srm; do
    check "$algorithm posts exactly the requests of the protocol" \
        requests "$algorithm" barrier allreduce reduce
done
check "adaptive posts exactly the requests of the protocol" requests adaptive barrier allreduce

# ---- reductions by adapters alone --------------------------------------------------------------
# Each rank enters after the previous one has left, so later ranks use what earlier ones left
# behind.
steps=
for _ in 1 2 3 4 5; do steps+=' 3/1 2/1 0/1 1/1 0/1 2/1 3/1 1/1'; done
# shellcheck disable=SC2086 # words of steps
STAGGER_RANKS_PER_NODE=1 run_across early signal 2 'reduce=handoff;*=mpich' 4 \
    "$PROGRAMS/internode_scenarios" $steps
check "one-sided handoff leaves early nodes' processors alone: nothing is late, and no signal is raised" all \
    'is 0 "$status"' 'ran_well early' 'by_rdma early' \
    'is "0 0 0" "$(total early late) $(total early signals) $(total early signals_ignored)"'

# ---- rules by call site ------------------------------------------------------------------------
check "with rules of two call sites in one call, the first rank to arrive decides for both machines" \
    sites_agree 1 150
check "with rules of two call sites in one call, the first rank to arrive decides (2 ranks a host)" \
    sites_agree 2 400
check "posts further ahead than choices are kept end rules by call site on both machines" \
    end_rules 4 2

# ---- loss --------------------------------------------------------------------------------------
for one_in in 100 10 2; do
    check "with one of $one_in multicasts lost on one of three hosts, every barrier completes" \
        lossy 3 "$one_in" 300
    check "nothing else is lost or delivered twice (1 in $one_in)" no_fault lossy
done

# ---- ScaLAPACK ---------------------------------------------------------------------------------
if [ -n "$SCALAPACK" ]; then
    need_scalapack "ScaLAPACK across two hosts"
    for name in xdlu xdinv; do
        timeout "$PROGRAM_SECONDS" mpi 2 1 "$SCALAPACK/$name" >"$name.out" 2>"$name.err" </dev/null
        without=$(outcome "$name" $? "$name.out")
        run_across "$name" thread 1 '*=adaptive;*=bypass' 2 "$SCALAPACK/$name"
        check "$name passes the same tests across two hosts as without the library" all \
            "is '$without' \"\$(outcome $name \$status $name.out)\"" "by_rdma $name"
    done
else
    skip "ScaLAPACK passes its tests across two hosts" "scalapack-mpi-test is not installed"
fi

# ---- no RDMA on one of the hosts ---------------------------------------------------------------
# passes_through NAME REASON: runs as without the library, and one line gives the reason
passes_through() {
    is 0 "$status" && has "$1.out" '^rank 1: 20 calls of ' && is 0 "$(notes "$1" | wc -l)" &&
        has_lines "$1.err" '^stagger: ' 3 && has "$1.err" "^stagger: rank 1: no RDMA \($2\): "
}
on 2 ip link set rdma down
run_across down thread 1 '*=adaptive' 2 "$PROGRAMS/repeat" barrier,allreduce,reduce 20
check "with a dead link at the start, collectives are MPICH's, and one line says why" \
    passes_through down '.*no active port'
on 2 ip link set rdma up
run_across again thread 1 '*=adaptive' 2 "$PROGRAMS/repeat" barrier 20
check "when the link is up again, RDMA carries them" all 'is 0 "$status"' 'ran_well again' 'by_rdma again'

# The first communicator is connected; then the cable is cut, and the second communicator follows.
# Only the two ranks of the first have posted requests.
cut_before_second() {
    rm -rf second.trace second.out go
    STAGGER_RULES='*=adaptive' STAGGER_DIR=$WORK/second.trace timeout --kill-after=5 300 \
        mpi 2 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/repeat" "barrier,@$WORK/go,allreduce" 20 \
        </dev/null >second.out 2>second.err &
    until grep -q waits second.out 2>/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
    on 2 ip link set rdma down
    touch go
    wait $!
    status=$?
    on 2 ip link set rdma up
}
cut_before_second
check "when the cable is out while a communicator connects, its collectives are MPICH's, and one line says so" \
    all 'is 0 "$status"' 'has second.out "^rank 1: 20 calls of allreduce"' \
    'has second.err "^stagger: rank 1: RDMA is not used: device rxe0 cannot reach that of rank 0: "' \
    'has_lines second.err "^stagger: " 4' 'is 2 "$(notes second | awk "\$4 > 0" | wc -l)"'

on 2 rdma link delete rxe0
run_across missing thread 1 '*=adaptive' 2 "$PROGRAMS/repeat" barrier 20
check "they are MPICH's when one host has no device" passes_through missing '.*no RDMA device.*'
on 2 rdma link add rxe0 type rxe netdev rdma

# ---- a machine that dies -----------------------------------------------------------------------
# Prints the job's ranks that remain on the live hosts while the launcher waits for the dead host's.
ranks_left() {
    local node
    for node in 1 2; do
        on "$node" 'for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline; echo; done' 2>/dev/null |
            grep "^$PROGRAMS/repeat"
    done
}
# The host dies shortly after `on` has left it; otherwise `on` would wait for its reply.
kill_host() {
    rm -rf dead.trace dead.out
    STAGGER_RULES='*=adaptive' STAGGER_DIR=$WORK/dead.trace timeout --kill-after=5 600 \
        mpi 3 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/repeat" barrier 100000000 \
        </dev/null >dead.out 2>dead.err &
    job=$!
    until [ -s dead.out ] || ! kill -0 "$job" 2>/dev/null; do sleep 0.2; done
    on 3 'setsid bash -c "sleep 1; echo o >/proc/sysrq-trigger" </dev/null >/dev/null 2>&1 &'
    for ((i = 0; i < 300; i++)); do
        grep -q 'aborting the job' dead.err && [ -z "$(ranks_left)" ] && break
        sleep 1
    done
    kill "$job" 2>/dev/null
}
kill_host
check "when a host is dead, a line names its unreachable rank" \
    has dead.err '^stagger: rank [01] on node[12]: rank 2 on node3 can no longer be reached'
check "the other hosts' ranks end" is "" "$(ranks_left)"
