#!/bin/bash
# Together with a profiling tool (tests/mpi/pmpi_tool.c), in both orders: results are right, nothing
# hangs, and the first in LD_PRELOAD sees each call once; both see it if the tool forwards calls.
. "$(dirname "$0")/../lib/sh.sh"

program=("$PROGRAMS/lifetimes" 6 3)
tool=$PROGRAMS/libpmpi_tool.so
tool_counts() { sed -n 's/"tool"/"rank"/p' "$1" | LC_ALL=C sort; }

PRELOAD=$tool:$LIB
observe before 2 "${program[@]}"
check "behind a tool that calls PMPI_* the program runs, and the library is inactive" \
    all 'is 0 "$status"' 'absent before.trace'
check "one line says so and names the tool" \
    all 'has_lines before.err . 1' 'has before.err "^stagger: .*inactive in this run: libpmpi_tool.so"'
check "the tool sees each call once" same <(own_counts before.out) <(tool_counts before.out)

TOOL_NEXT=1 observe chain 2 "${program[@]}"
check "the program runs under the library behind a tool that chains it" ran_well chain
check "tool and library see each call once" \
    all 'archive_agrees chain.trace chain.out' 'same <(own_counts chain.out) <(tool_counts chain.out)'

PRELOAD=$LIB:$tool
observe behind 2 "${program[@]}"
check "the program runs under the library before a tool" ran_well behind
check "the library sees each call once, the tool none" \
    all 'archive_agrees behind.trace behind.out' 'lacks behind.out "\"tool\""'

# A tool that forwards only MPI_Init.
PRELOAD=$tool:$LIB
TOOL_NEXT=MPI_Init observe misses 2 "${program[@]}"
check "behind a tool that passes only MPI_Init on the program runs" is 0 "$status"
check "one line lists the calls that were not seen, and names the tool" \
    all 'has_lines misses.err "^stagger: calls of MPI_[A-Za-z_]+ and of other functions that libpmpi_tool.so wraps were not recorded" 1'

# A tool that wraps only MPI_Finalize: the library shuts down from inside MPICH's MPI_Finalize.
PRELOAD=$PROGRAMS/libpmpi_finalize.so:$LIB
for nodes in 0 1; do
    STAGGER_RANKS_PER_NODE=$nodes observe finalize-$nodes 2 "${program[@]}"
    check "when a tool intercepts MPI_Finalize, the library still ends ($nodes)" \
        all 'ran_well finalize-$nodes' 'has_lines finalize-$nodes.out "\"tool\"" 2'
    check "its archive is whole ($nodes)" archive_agrees finalize-$nodes.trace finalize-$nodes.out
done

# A stand-in for an MPICH that reports user-level threads.
PRELOAD=$LIB:$PROGRAMS/libuser_threads.so
compare threads 2 "${program[@]}"
observe threads 2 "${program[@]}"
check "under an MPICH with user-level threads the program runs as without the library" \
    all 'is 0 "$status"' 'same <(sort threads.plain.out) <(sort threads.out)' 'absent threads.trace'
check "one line says so" \
    all 'has_lines threads.err "^stagger: " 1' 'has threads.err "user-level threads; stagger is inactive"'

# Operations still pending when their communicator is freed.
PRELOAD=$LIB
for nodes in 0 1; do
    for which in '' reductions; do
        STAGGER_RANKS_PER_NODE=$nodes STAGGER_TRACE=off observe pending 3 "$PROGRAMS/pending_free" $which
        check "a communicator may be freed while operations on it are pending ($nodes${which:+, $which})" \
            all 'is 0 "$status"' 'has_lines pending.out "^rank . ok$" 3'
    done
done
