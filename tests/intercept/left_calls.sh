#!/bin/bash
# An error handler leaves a call by an exception or longjmp, or calls collectives itself: the ranks'
# next collectives still match, and the archive has each correct call once. The full check covers
# every call, at every depth, within a node and between nodes.
. "$(dirname "$0")/../lib/sh.sh"

# went_well NAME: as ran_well, but rules may match no call.
went_well() {
    is 0 "$status" && is 2 "$(grep '^stagger: ' "$1.err" | grep -vc ': matched no call$')" &&
        lacks "$1.err" 'assert|BAD TERM'
}

# follows NODE-RANKS HOW CALL[,CALL]... DEPTH [thread]
follows() {
    local name="$1-$2-$3-$4${5:+-$5}" ranks_per_node=$1
    shift
    STAGGER_RANKS_PER_NODE=$ranks_per_node observe "$name" 2 "$PROGRAMS/left_calls" "$@"
    check "after a wrong $2, handled by $1, calls from ${3/same/the same depth}${4:+ on a thread} meet \
($([ "$ranks_per_node" = 0 ] && echo in a node || echo between nodes))" \
        all 'went_well "$name"' 'archive_agrees "$name.trace" "$name.out"'
    rm -rf "$name.trace"
}

if in_full; then
    for nodes in 0 1; do
        for call in reduce allreduce reduce_c ireduce iallreduce comm_free delete; do
            for depth in deeper same shallower; do
                for thread in "" thread; do
                    follows $nodes throw $call $depth $thread
                    follows $nodes jump $call $depth $thread
                    case $call in
                    comm_free | delete) ;; # what their callbacks call is MPICH's on every rank
                    *) follows $nodes handle $call $depth $thread ;;
                    esac
                done
            done
        done
    done
else
    follows 0 throw reduce,allreduce,reduce_c,comm_free,delete deeper
    follows 1 jump reduce,allreduce,reduce_c,comm_free,delete deeper
    follows 1 throw ireduce,iallreduce deeper
    follows 1 jump ireduce,iallreduce same
    follows 0 handle reduce same
    follows 1 handle allreduce,iallreduce deeper
    follows 0 jump reduce same
    follows 0 throw allreduce shallower
    follows 0 jump reduce deeper thread
    follows 1 throw comm_free deeper thread
fi

# Rules by call site: the ranks choose together, and a call that fails on one rank does not take
# part in the choice.
export STAGGER_RULES="*@nowhere.c:7=mpich; *@left_calls.cc=mpich"
follows 1 throw reduce deeper
follows 1 jump iallreduce same
follows 0 jump allreduce deeper
unset STAGGER_RULES

# Without a trace the library does not know which calls were abandoned.
STAGGER_TRACE=off observe off 2 "$PROGRAMS/left_calls" jump reduce deeper
check "the same holds without a trace" is 0 "$status"

# ---- unavailable requests --------------------------------------------------------------------------
refusing=$LIB:$PROGRAMS/librefused_requests.so
for how in returns leaves; do
    PRELOAD=$refusing STAGGER_RANKS_PER_NODE=1 observe "refused-$how" 2 "$PROGRAMS/refused_requests" "$how"
    check "a nonblocking call without a request gets its own error, and the handler $how" \
        all 'ran_well "refused-$how"' 'archive_agrees "refused-$how.trace" "refused-$how.out"'
done
