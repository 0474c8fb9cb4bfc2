# Sourced after lab.bash and engine.bash by the tests of collectives between the lab's hosts.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources it sets what results.bash uses

MODES='poll thread signal'

# As tests/span/span.bash has it between virtual nodes: here the nodes are hosts.
# run_across NAME MODE RANKS-PER-HOST RULES N PROGRAM ARG...
run_across() {
    local name=$1 mode=$2 each=$3 rules=$4 ranks=$5
    shift 5
    rm -rf "$name.trace"
    STAGGER_RULES=$rules STAGGER_PROGRESS=$mode lab_mpi "$name" $((ranks / each)) "$each" "$@"
}

# What each rank has used of the transport, a line for each communicator: its ranks, connections, bytes
# registered, work requests, multicasts, repeated. By ranks, then by communicators in their order.
notes() {
    otf2-marker "$1.trace/traces.otf2" | sed -nE \
        's/.*verbs of a communicator of ([0-9]+) ranks: ([0-9]+) connections, ([0-9]+) bytes registered, ([0-9]+) work requests, ([0-9]+) multicasts, ([0-9]+) repeated.*/\1 \2 \3 \4 \5 \6/p'
}

# sum COLUMN NAME: over the notes
sum() { notes "$2" | awk -v column="$1" '{ sum += $column } END { print sum + 0 }'; }

# By RDMA, and not by MPICH's own.
by_rdma() { lacks "$1.err" 'pass(es|ing)? through' && [ "$(notes "$1" | wc -l)" -gt 0 ]; }

# lose NODE N: the host gets one multicast in N no more; 0: all of them again
lose() {
    on "$1" tc qdisc del dev rdma ingress 2>/dev/null
    [ "$2" -eq 0 ] && return
    on "$1" tc qdisc add dev rdma ingress
    on "$1" tc filter add dev rdma parent ffff: protocol ip u32 match ip dst 239.0.0.0/8 \
        action pass random netrand drop "$2"
}

# repeats NAME: releases that came again, from the report
repeats() { "$STAGGER" report --json "$1.trace" | grep -o '"repeats": *[0-9]*' | awk '{ sum += $2 } END { print sum + 0 }'; }
