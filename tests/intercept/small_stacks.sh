#!/bin/bash
# Threads with the smallest stacks that MPICH supports can also call MPI under the library.
. "$(dirname "$0")/../lib/sh.sh"

small="probe barrier allreduce bcast send post gather"
# MPICH itself needs a frame of 128 KiB for these.
large="reduce begin duplicate"

# ends NAME COMMAND...: with status 0, and one line for each kind of call
ends() {
    local name=$1 lines
    lines=$(wc -w <<<"$kinds")
    [ "$temper" = ends ] && lines=$((lines + 2))
    shift
    "$@" >"$name.out" 2>"$name.err"
    is 0 $? && has_lines "$name.out" '^[a-z]+ [0-9]+$' "$lines" && return
    cat "$name.err"
    return 1
}
# Stock MPICH needs less than each of these sizes.
sized() { # cold|warm|ends KINDS SIZE...
    local temper=$1 kinds=$2 bytes
    shift 2
    for bytes in "$@"; do
        # With the smallest size the larger ones are shown, too.
        # shellcheck disable=SC2086 # kinds are words
        [ -e "plain-$temper-$kinds.out" ] || check "without the library: $bytes bytes, $temper" \
            ends "plain-$temper-$kinds" plain 2 "$PROGRAMS/small_stacks" "$bytes" "$temper" $kinds
        in_turn otf2 stats off
        for STAGGER_TRACE in "${turn[@]}"; do
            export STAGGER_TRACE
            STAGGER_DIR=$STAGGER_TRACE-$temper-$bytes-${STAGGER_RANKS_PER_NODE:-0}-${STAGGER_DEPTH:-1}.trace
            export STAGGER_DIR
            # shellcheck disable=SC2086
            check "$bytes bytes, $temper, trace $STAGGER_TRACE, ranks a node ${STAGGER_RANKS_PER_NODE:-all}, depth ${STAGGER_DEPTH:-1}" \
                ends under mpirun_stagger 2 "$PROGRAMS/small_stacks" "$bytes" "$temper" $kinds
        done
    done
    unset STAGGER_TRACE STAGGER_DIR
}

sized cold "$small" 16384 32768 65536
sized warm "$small" 16384 24576 49152
sized cold "$large" 147456
sized warm "$large" 147456
sized ends "$small" 24576
# Uses call sites of several frames, found by the unwinder, and rules by line.
STAGGER_DEPTH=4 STAGGER_RULES='barrier@small_stacks.c:1-400=mpich' sized cold "$small" 16384
# Between virtual nodes, with signals, which the kernel delivers on a thread's stack.
export STAGGER_RANKS_PER_NODE=1
sized cold "$small" 16384 65536
sized warm "$small" 16384
sized ends "$small" 24576
STAGGER_PROGRESS=signal STAGGER_RULES='allreduce=srm;*=bypass' sized warm "$small" 16384
