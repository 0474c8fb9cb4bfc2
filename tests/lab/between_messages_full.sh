#!/bin/bash
# timeout: 4000
# Messages in slices between two and three machines by RDMA: programs receive the same as without
# the library; some or all multicasts lost; cases that MPICH runs; a link that dies, and a machine.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/p2p.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "messages in slices between machines" -n 3 -c 2 -m 1536 -t 3900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=900

# Slices long enough for emulated hosts.
CARRIED='p2p=bcs(slice=20000,progress=thread)'

# as_stock NAME RULES HOSTS RANKS-PER-HOST CASE...: the program prints the same lines as without the
# library
as_stock() {
    local name=$1 rules=$2 hosts=$3 each=$4 plain
    shift 4
    plain=plain-$hosts-$each-$(tr ' ' - <<<"$*").out
    if [ ! -s "$plain" ]; then
        timeout --kill-after=5 "$PROGRAM_SECONDS" \
            mpi "$hosts" "$each" "$PROGRAMS/sliced" "$@" </dev/null >"$plain" 2>plain.err || return
    fi
    STAGGER_EMDS=on run_across "$name" thread "$each" "$rules" $((hosts * each)) "$PROGRAMS/sliced" "$@"
    is 0 "$status" && lacks "$name.err" 'p2p=bcs:' && by_rdma "$name" && same <(lines "$plain") <(lines "$name.out")
}

for each in '2 1' '2 2' '3 1' '3 2'; do
    read -r hosts ranks <<<"$each"
    check "sizes, tags, wildcards, types, errors, probes and requests work as without the library ($hosts hosts, $ranks ranks each)" \
        as_stock carried "$CARRIED" "$hosts" "$ranks" all
    check "... messages go in slices" went_in_slices carried
done
check "a program ends though nobody receives one of its messages" as_stock unmatched "$CARRIED" 3 1 unmatched
check "messages in slices work beside collectives in slices" as_stock both "$CARRIED;*=bcs(slice=20000)" 3 1 tags many beside
check "programs with sends that wait for their receives end, with restarts at slice boundaries" as_stock waits \
    'p2p=bcs(slice=20000,restart=slice,send=rendezvous,progress=thread)' 2 2 sizes derived completed

# ---- on communicators made by programs -----------------------------------------------------------

for on in dup reversed created; do
    check "messages on a new communicator work as without the library ($on)" \
        as_stock "on-$on" "$CARRIED" 3 1 on "$on" sizes tags anyone itself freed
    check "... messages go in slices ($on)" went_in_slices "on-$on"
done
check "a communicator ends though nobody receives one of its messages" \
    as_stock dropped "$CARRIED" 2 1 on reversed dropped

# ---- while ranks compute -------------------------------------------------------------------------

# pattern MODE HOSTS RANKS-PER-HOST: the exchange of `stagger sim bcs`, which checks what it receives
pattern() {
    run_across pattern thread "$3" "$CARRIED" $(($2 * $3)) "$PROGRAMS/bcs_pattern" "$1" 20 50000 5000
    is 0 "$status" && lacks pattern.err 'p2p=bcs:' && by_rdma pattern && grep -q '^[1-9][0-9]* messages$' pattern.out
}
for mode in blocking nonblocking; do
    check "neighbours that compute exchange in slices ($mode, 3 hosts)" pattern "$mode" 3 1
    check "... two neighbours on each of two hosts exchange in slices ($mode)" pattern "$mode" 2 2
done

# ---- lost multicasts -----------------------------------------------------------------------------

lose 3 3
check "with one multicast in 3 lost on one of three hosts, messages work as without the library" \
    as_stock lossy "$CARRIED" 3 1 tags many completed
check "... some multicasts were lost" within 1 1000000 "$(lost 3)"
lose 3 0
export STAGGER_VERBS_MULTICAST=off
check "messages work without multicasts, too" as_stock without "$CARRIED" 3 1 tags many completed
unset STAGGER_VERBS_MULTICAST

# ---- messages that MPICH carries -----------------------------------------------------------------

# declined NAME RULES RANKS-PER-HOST LINE: one line gives the reason, and nothing goes in slices
declined() {
    run_across "$1" "${MODE:-thread}" "$3" "$2" $((2 * $3)) "$PROGRAMS/sliced" tags
    is 0 "$status" && has_lines "$1.err" "^stagger: p2p=bcs: $4; MPICH carries the messages$" 1
}
MODE=poll check "without a helper thread, messages are MPICH's" declined poll 'p2p=bcs' 1 'it requires progress=thread'
export STAGGER_VERBS_SENDERS=1
check "when ranks send for others, messages are MPICH's" declined senders "$CARRIED" 2 \
    'a node has more ranks than STAGGER_VERBS_SENDERS=1'
unset STAGGER_VERBS_SENDERS
STAGGER_VERBS_MEMORY=1m check "without memory for their connections, messages are MPICH's" declined memory "$CARRIED" 1 \
    'its connections or memory are missing'
on 2 ip link set rdma down
check "when a machine has no RDMA, messages are MPICH's" declined down "$CARRIED" 1 \
    'MPI_COMM_WORLD spans several machines without RDMA'
on 2 ip link set rdma up

# ---- a dead link, a dead machine -----------------------------------------------------------------

# interrupted NAME HOSTS COMMAND...: runs the command while rank 0 waits for a message that never
# arrives
interrupted() {
    local name=$1 hosts=$2
    shift 2
    STAGGER_STALL_S=1 STAGGER_RULES=$CARRIED STAGGER_PROGRESS=thread STAGGER_DIR=$WORK/$name.trace timeout --kill-after=5 600 \
        mpi "$hosts" 1 -genv LD_PRELOAD "$PRELOAD" "$PROGRAMS/sliced" stalled "$WORK/never" </dev/null >"$name.out" 2>"$name.err" &
    job=$!
    until grep -q 'more than 1 s' "$name.err" || ! kill -0 "$job" 2>/dev/null; do sleep 0.2; done
    "$@"
    for ((i = 0; i < 300; i++)); do
        grep -q 'aborting the job' "$name.err" && break
        sleep 1
    done
    kill "$job" 2>/dev/null
    wait "$job" 2>/dev/null
}
interrupted cut 2 on 2 ip link set rdma down
check "a wait for a message from a machine with a dead link is reported, and the job ends" \
    has cut.err '^stagger: rank 0 on node1: rank 1 on node2 can no longer be reached .*; aborting the job'
on 2 ip link set rdma up

# The host dies shortly after `on` has left it; otherwise `on` would wait for its reply.
interrupted dead 3 on 3 'setsid bash -c "sleep 1; echo o >/proc/sysrq-trigger" </dev/null >/dev/null 2>&1 &'
check "... a wait for a message from a dead machine is reported, and the job ends" \
    has dead.err '^stagger: rank [01] on node[12]: rank 2 on node3 can no longer be reached'
