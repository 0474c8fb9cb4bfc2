# Sourced after lab.bash and engine.bash by the tests of collectives between the lab's hosts.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources it sets what results.bash uses

MODES='poll thread signal'

# As tests/span/span.bash has it between virtual nodes: the nodes are hosts.
# run_across NAME MODE RANKS-PER-HOST RULES N PROGRAM ARG...
run_across() {
    local name=$1 mode=$2 each=$3 rules=$4 ranks=$5
    shift 5
    rm -rf "$name.trace"
    STAGGER_RULES=$rules STAGGER_PROGRESS=$mode lab_mpi "$name" $((ranks / each)) "$each" "$@"
}

# notes NAME: what each rank has used of the transport, for every communicator: columns rank, ranks of
# the communicator, connections, bytes registered, work requests, multicasts, repeated
notes() {
    otf2-print --marker "$1.trace/traces.otf2" |
        sed -n 's/.*verbs of a communicator of \([0-9]*\) ranks: \([0-9]*\) connections, \([0-9]*\) bytes registered, \([0-9]*\) work requests, \([0-9]*\) multicasts, \([0-9]*\) repeated.*/\1 \2 \3 \4 \5 \6/p'
}
