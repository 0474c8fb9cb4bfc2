#!/bin/bash
# The archive has long waits and disagreements as markers, with the line printed to the user: within
# a node and between nodes, in a run that continues and in one that ends there.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

program=$PROGRAMS/disagree

# marked NAME CATEGORY REGEX: one of its markers matches, and disappears when that category's
# markers are cleared.
marked() {
    local anchor=$1.trace/traces.otf2 line="^MARKER  .*Scope: LOCATION:[0-2], Text: \".*$3"
    otf2-marker "$anchor" >"$1.markers" && has "$1.markers" "$line" &&
        otf2-marker --clear-def stagger "$2" "$anchor" &&
        otf2-marker "$anchor" >left && lacks left "$line"
}

for algorithm in srm handoff; do
    STAGGER_STALL_S=1 STAGGER_RULES="*=$algorithm" release_after 'rank 2: ' late \
        mpirun_stagger 3 "$program" late "$WORK/released"
    check "a long wait inside a node is marked, with each rank's collective ($algorithm)" \
        marked late stall "more than 1 s in MPI_Allreduce.* rank 2: outside MPI, after MPI_Init"
    check "it is marked once ($algorithm)" has_lines late.markers 'more than 1 s' 1
done
STAGGER_STALL_S=1 STAGGER_RULES='*=adaptive' STAGGER_RANKS_PER_NODE=1 \
    release_after 'more than 1 s' late mpirun_stagger 3 "$program" late "$WORK/released"
check "a long wait between nodes is marked, with the absent rank" \
    marked late stall 'has waited in MPI_Allreduce for more than 1 s, instance #0 on MPI_COMM_WORLD, 3 ranks, at [a-z_]+ disagree\.c:[0-9]+: .*rank 2 is outside MPI, after MPI_Init'
check "it is marked once" has_lines late.markers 'more than 1 s' 1
check "its archive is sound" archive_sound late.trace

# Every rank that notices reports it, until the job has ended.
for each in 1 3; do
    run_across operation thread $each '*=adaptive;*=srm' 3 "$program" operation
    "$STAGGER" recover operation.trace >recovered 2>&1
    check "ranks that disagree are marked in the archive that recover makes ($each a node)" \
        marked operation mismatch 'ranks of one communicator disagree'
done
# shellcheck disable=SC2046 # two words
STAGGER_RULES=$(line_rules srm handoff) observe sites 3 "$program" sites 300
check "call sites with different rules are marked" marked sites mismatch 'a rule selects'
