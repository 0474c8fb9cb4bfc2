#!/bin/bash
# long
# timeout: 1500
# Two machines with RDMA. The short check has what needs two kernels: the device, the contract of all
# transports over verbs, lost releases and a cable that is cut. tests/standin shows right results, late
# contributions, ranks that disagree and failed set-ups between simulated adapters, and
# tests/internode/results.sh the results of the whole cover. The full check has these here, bit for
# bit, the adapter's events, and machines that learn.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/lab/between.bash"
# Emulated processors of one host take turns; one that a rank polls on keeps its whole turn.
lab_test "two machines with RDMA" -n 2 -c "$(in_full && echo 2 || echo 1)" -m 1536 -t 1440

# ---- the transport -----------------------------------------------------------------------------
two() { timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 "$@"; }

"$STAGGER" info >info.out 2>info.err
check "stagger info names the device, its port, address and packet size, and the limits" \
    has info.out '^  verbs: device rxe0, port 1 \(Ethernet\), GID [0-9]+ \(10\.78\.0\.1\), MTU 1024; a process may lock any amount of memory and registers at most 262144 KiB$'
STAGGER_VERBS_DEVICE=mlx5_9 "$STAGGER" info >none.out 2>&1
check "stagger info says why there is no device when the one set is missing" \
    has none.out '^  verbs: not used: there is no RDMA device mlx5_9 \(STAGGER_VERBS_DEVICE\)$'

# Prints the contract's sentences, with the transport and hosts that checked them.
two 1 "$BUILD/lab/test_contract" >contract.out 2>contract.err
status=$?
sed -n 's/^\(ok\|not ok\) - /&over verbs between two hosts: /p' contract.out
check "the contract's tests pass over verbs between two hosts" is 0 "$status"

export STAGGER_VERBS_MEMORY=1g
PROGRAM_SECONDS=400

# ---- in the full check ---------------------------------------------------------------------------
if in_full; then
    check "the descriptor is readable for solicited messages only, each time that it is armed" \
        two 1 "$BUILD/lab/events"

    two 1 "$BUILD/lab/agreement" >agreement.out 2>agreement.err
    check "a set-up that fails on one of two ranks fails on both, and both go on with their previous one" is 0 $? ||
        cat agreement.[01]
    # lines RANK HEADING: the lines between this heading and the next
    lines() { sed -n "/^# $2\$/,/^# /{/^#/d;p}" "agreement.$1"; }
    lines 1 memory >memory.said
    check "a memory limit is reported in one line by its rank" all 'is "" "$(lines 0 memory)"' \
        'has_lines memory.said "" 1' \
        'has memory.said "^stagger: rank 1: RDMA is not used: [0-9]+ KiB in addition to 0 KiB registered exceed STAGGER_VERBS_MEMORY, 1024 KiB$"'
    check "a rank without the device reports it" all 'is "" "$(lines 0 device)"' \
        'is "start: there is no RDMA device none0 (STAGGER_VERBS_DEVICE)
stagger: rank 1: RDMA is not used: no RDMA device is open" "$(lines 1 device)"'
    check "one line refuses peers that do not name each other" all 'is "" "$(lines 1 one-sided)"' \
        'is "stagger: rank 0: RDMA is not used: a process names a peer that does not name it" "$(lines 0 one-sided)"'
    check "different packet sizes and a rank without multicast are no failures" \
        all '! sed -n "/^# mtu/,/^# one-sided/p" agreement.[01] | grep -v "^#"'

    MODES=thread whole='' ranks=2 each=1
    . "$ROOT/tests/internode/results.bash"
    check "RDMA carries all of these calls" by_rdma results

    # Two ranks per host: each requests the others' memory, and none may wait for the other's requests.
    for algorithm in srm handoff; do
        run_across shared thread 2 "*=$algorithm" 4 "$PROGRAMS/repeat" barrier,allreduce,reduce 60 3
        check "one-sided access by two ranks a host ends with right results ($algorithm)" all \
            'is 0 "$status"' 'ran_well shared' 'by_rdma shared'
    done

    # Two protocols with equal bits, and MPICH's broadcasts: ranks exchange their findings by MPI.
    run_across learns thread 1 '*=auto(block=2,hold=16)' 2 "$PROGRAMS/trial" 40
    check "learning machines run the same algorithm in each instance, and try all" all \
        'is 0 "$status"' 'ran_well learns' 'by_rdma learns' \
        '"$PYTHON" "$ROOT/tests/intranode/alike.py" learns.trace/traces.otf2 >learns.ran' \
        'is "handoff pairwise srm" "$(awk "\$1 == \"world\" && \$2 == \"allreduce\" { print \$3 }" learns.ran | sort -u | xargs)"'
    grep "^rank" learns.out | sort >learns.hashes
    run_across fixed thread 1 '*=srm' 2 "$PROGRAMS/trial" 40
    check "... results have the same bits" all 'is 0 "$status"' 'same learns.hashes <(grep "^rank" fixed.out | sort)' \
        '[ -s learns.hashes ]'

    # Four nodes on two machines. Rank 3 of the second machine forwards rank 0's contribution from the
    # first to root 1: in some reduces it arrives after rank 3 has left, in the others before.
    late_ones=5
    steps=
    for ((i = 0; i < late_ones; i++)); do
        steps+=' 3/1 2/1 0/1 1/1 0/1 2/1 3/1 1/1'
    done
    for mode in signal thread; do
        # shellcheck disable=SC2086 # words of steps
        STAGGER_RANKS_PER_NODE=1 run_across late "$mode" 2 'reduce=bypass;*=mpich' 4 \
            "$PROGRAMS/internode_scenarios" $steps
        check "results of late contributions between machines are right ($mode)" all \
            'is 0 "$status"' 'ran_well late' 'by_rdma late'
        check "late contributions are counted, and nothing else ($mode)" is "$late_ones" "$(total late late)"
        check "no signal was raised ($mode)" is "0 0" \
            "$(total late signals) $(total late signals_ignored)"
        check "a thread handled each late contribution ($mode)" is "$late_ones" \
            "$(late_regions late | awk '$4 == "Progress" { count += $1 } END { print count + 0 }')"
        check "one line says that a thread stands in for a signal ($mode)" \
            is "$([ "$mode" = signal ] && echo 1 || echo 0)" "$stood_in"
    done

    for way in operation bytes root; do
        check "ranks on different machines that disagree on the $way end the job, and the message names them" \
            ends_saying '^stagger: ranks of one communicator disagree on a collective: rank [01] is in MPI_.*, rank [01] on node[12] in a call with another' \
            "$way" run_across "$way" thread 1 '*=adaptive;*=bypass' 2 "$PROGRAMS/disagree" "$way"
    done
fi

# ---- loss --------------------------------------------------------------------------------------
check "every barrier completes with one lost multicast in two" lossy 2 2 60
check "nothing else is lost or delivered twice" no_fault lossy

# ---- a cable that is cut -------------------------------------------------------------------------
# Cuts the cable during calls, here, without a log-in on the busy other host. MPI's own traffic uses
# another cable.
cut_cable() {
    rm -rf cut.trace cut.out
    STAGGER_RULES='*=adaptive' STAGGER_DIR=$WORK/cut.trace timeout --kill-after=5 200 \
        mpi 2 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/repeat" "$1" 100000000 \
        </dev/null >cut.out 2>cut.err &
    until [ -s cut.out ] || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
    ip link set rdma down
    wait $!
    status=$?
    ip link set rdma up
}
unreached='(rank [01] on node[12] can no longer be reached \(.+\)|its RDMA adapter failed on the way to (rank [01] on node[12]|all others) \(.+\)); aborting the job'
check "when the cable is out the job ends, and the message names the unreachable rank" \
    ends_saying "^stagger: rank [01] on node[12]: $unreached" cut cut_cable barrier
in_full && STAGGER_PROGRESS=thread check "the job ends, too, when ranks only call MPI_Test" \
    ends_saying "^stagger: rank [01] on node[12]: $unreached" cut cut_cable tested

exit $((failures > 0))
