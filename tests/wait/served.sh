#!/bin/bash
# MPICH makes progress while a rank waits in the library: another rank's operations on its window,
# and messages for its posted receives, do not cost a sleep each.
# timeout: 3600
. "$(dirname "$0")/../lib/sh.sh"
PROGRAM_SECONDS=1000
export STAGGER_TRACE=off
blocking='barrier allreduce reduce bcast recv'

# served NAME CALL...: the program prints all of its lines
served() {
    local name=$1 call
    shift
    observe "$name" 2 "$PROGRAMS/served" "$@"
    for call in "$@"; do
        printf '%s window served\n%s messages served\n' "$call" "$call"
    done >"$name.expected"
    all 'is 0 "$status"' 'same "$name.expected" "$name.out"'
}

if [ "$(nproc)" -lt 2 ]; then
    skip "MPICH is served while ranks wait" "there is one processor, which both ranks have to give away"
    exit 0
fi
# shellcheck disable=SC2086 # words
check "a rank that waits for others of its node serves MPICH without sleeping" served auto $blocking
# shellcheck disable=SC2086
STAGGER_WAIT=sleep check "a rank with STAGGER_WAIT=sleep stays awake while there are requests to serve" served sleep $blocking
export STAGGER_RANKS_PER_NODE=1
# shellcheck disable=SC2086
check "a rank that waits for other nodes serves MPICH, in nonblocking calls, too" served nodes $blocking ibarrier waitall
