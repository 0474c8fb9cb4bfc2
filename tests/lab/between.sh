#!/bin/bash
# timeout: 1500
# Collectives between two machines by RDMA: results bit for bit, late contributions, never by
# signals, lost releases, ranks that disagree, and finally a machine that dies.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "collectives between two machines" -n 2 -c 2 -m 1536 -t 1440

# ---- results -----------------------------------------------------------------------------------
export STAGGER_VERBS_MEMORY=1g
MODES=thread PROGRAM_SECONDS=400 whole='' ranks=2 each=1
. "$ROOT/tests/internode/results.bash"
check "all of that by RDMA" by_rdma results

# Two ranks per host: each requests the others' memory, and none may wait for the other's requests.
for algorithm in $(modes srm handoff); do
    run_across shared thread 2 "*=$algorithm" 4 "$PROGRAMS/repeat" barrier,allreduce,reduce 60 3
    check "one-sided access by two ranks a host ends, and is right ($algorithm)" all \
        'is 0 "$status"' 'ran_well shared' 'by_rdma shared'
done

# Two protocols with equal bits, and MPICH's broadcasts: ranks exchange their findings by MPI.
run_across learns thread 1 '*=auto(block=2,hold=16)' 2 "$PROGRAMS/trial" 40
check "machines that learn run the same algorithm in each instance, and all are tried" all \
    'is 0 "$status"' 'ran_well learns' 'by_rdma learns' \
    '"$PYTHON" "$ROOT/tests/intranode/alike.py" learns.trace/traces.otf2 >learns.ran' \
    'is "handoff pairwise srm" "$(awk "\$1 == \"world\" && \$2 == \"allreduce\" { print \$3 }" learns.ran | sort -u | xargs)"'
grep "^rank" learns.out | sort >learns.hashes
run_across fixed thread 1 '*=srm' 2 "$PROGRAMS/trial" 40
check "... with the same bits" all 'is 0 "$status"' 'same learns.hashes <(grep "^rank" fixed.out | sort)' \
    '[ -s learns.hashes ]'

# ---- late contributions ------------------------------------------------------------------------
# Four nodes on two machines. Rank 3 of the second machine forwards rank 0's contribution from the
# first to root 1: in some reduces it arrives after rank 3 has left, in the others before.
late_ones=5
steps=
for ((i = 0; i < late_ones; i++)); do
    steps+=' 3/1 2/1 0/1 1/1 0/1 2/1 3/1 1/1'
done
for mode in $(modes signal thread); do
    # shellcheck disable=SC2086 # words of steps
    STAGGER_RANKS_PER_NODE=1 run_across late "$mode" 2 'reduce=bypass;*=mpich' 4 \
        "$PROGRAMS/internode_scenarios" $steps
    check "late contributions between machines: results are right ($mode)" all \
        'is 0 "$status"' 'ran_well late' 'by_rdma late'
    check "what comes late is counted, and nothing else ($mode)" is "$late_ones" "$(total late late)"
    check "no signal was raised ($mode)" is "0 0" \
        "$(total late signals) $(total late signals_ignored)"
    check "a thread handled each that came late ($mode)" is "$late_ones" \
        "$(late_regions late | awk '$4 == "Progress" { count += $1 } END { print count + 0 }')"
    check "that a thread stands in for a signal is said once ($mode)" \
        is "$([ "$mode" = signal ] && echo 1 || echo 0)" "$stood_in"
done

# ---- loss --------------------------------------------------------------------------------------
check "with one multicast in ten lost every barrier completes" lossy 2 10
check "and nothing else is lost, or told twice" no_fault lossy

# ---- job-ending faults -------------------------------------------------------------------------
for way in $(modes operation bytes root); do
    check "ranks on different machines that disagree on the $way end the job, and are named" \
        ends_saying '^stagger: ranks of one communicator disagree on a collective: rank [01] is in MPI_.*, rank [01] on node[12] in a call with another' \
        "$way" run_across "$way" thread 1 '*=adaptive;*=bypass' 2 "$PROGRAMS/disagree" "$way"
done

# Cuts the cable during calls. MPI's own traffic uses another cable.
cut_cable() {
    rm -rf cut.trace cut.out
    STAGGER_RULES='*=adaptive' STAGGER_DIR=$WORK/cut.trace timeout --kill-after=5 200 \
        mpi 2 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/repeat" "$1" 100000000 \
        </dev/null >cut.out 2>cut.err &
    until [ -s cut.out ] || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
    on 2 ip link set rdma down
    wait $!
    status=$?
    on 2 ip link set rdma up
}
unreached='(rank [01] on node[12] can no longer be reached \(.+\)|its RDMA adapter failed on the way to (rank [01] on node[12]|all others) \(.+\)); aborting the job'
check "with the cable out the job ends, and says who cannot be reached" \
    ends_saying "^stagger: rank [01] on node[12]: $unreached" cut cut_cable barrier
STAGGER_PROGRESS=thread check "likewise where all that ranks do is MPI_Test" \
    ends_saying "^stagger: rank [01] on node[12]: $unreached" cut cut_cable tested
