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

# lost NODE: how many it has not got
lost() { on "$1" tc -s filter show dev rdma parent ffff: | sed -nE 's/.*dropped ([0-9]+),.*/\1/p' | awk "{ sum += \$1 } END { print sum + 0 }"; }

# lossy HOSTS N: barriers and allreduces on so many hosts, of which the last gets one release in N not.
lossy() {
    local hosts=$1 missed
    lose "$hosts" "$2"
    run_across lossy thread 1 '*=adaptive' "$hosts" "$PROGRAMS/repeat" barrier 300
    missed=$(lost "$hosts")
    lose "$hosts" 0
    is 0 "$status" && ran_well lossy && by_rdma lossy && within 1 1000 "$missed" &&
        within 1 100000 "$(total lossy releases_repeated)"
}

# The program says nothing but that it ran, and so does the library.
no_fault() { has_lines "$1.err" '^stagger: ' 2; }
