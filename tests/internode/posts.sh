#!/bin/bash
# Nonblocking collectives between nodes: every way of waiting for, testing or freeing them, mixed
# with messages and blocking collectives, in threads, and with more outstanding than there are
# slots. In mode poll MPICH runs them.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# post CASES MODE RULES RANKS RANKS-PER-NODE [RAN]: every result is right. RAN: how many posts MPICH
# ran, and the algorithms of the others
post() {
    STAGGER_TRACE=stats run_across posts "$2" "$5" "$3" "$4" "$PROGRAMS/posts" $1
    check "$1: every result is right ($2, $4 ranks, $5 a node; $3)" all 'is 0 "$status"' \
        "is $4 \$(grep -o finished posts.out | wc -l)" "lacks posts.err 'not true|disagree'"
    [ $# -le 5 ] || check "... the posts are MPICH's, or of these algorithms: $6" is "$6" "$(ran)"
}
ran() {
    report_json posts.trace posts.json
    json posts.json "' '.join([str(d['unmanaged_posts'])] +
        sorted({s['algorithm'] for s in d['sites'] if s['op'][0] == 'i'}))"
}

ours='*=adaptive;*=bypass'
cases='wait test mixed ahead blocking freed-communicators freed-requests large large-counts errors threads handed'
for mode in thread signal; do
    # MPICH runs those before the first barrier, 20 of them on new communicators.
    post "$cases" "$mode" "$ours" 3 1 '69 adaptive bypass'
done
for mode in $(modes signal thread); do
    post 'mixed ahead' "$mode" "$ours" 5 2
    post 'mixed ahead' "$mode" '*=tree(degree=2)' 4 1
    post 'mixed ahead' "$mode" 'barrier=dissemination;allreduce=pairwise;*=mpich' 3 1
    post 'mixed ahead' "$mode" '*=handoff' 3 1
    post 'mixed ahead' "$mode" '*=srm' 3 1
    STAGGER_SLOTS=2 post ahead "$mode" "$ours" 4 1
    # handoff gets no notification for what it waits for: the helper thread polls.
    STAGGER_SLOTS=2 post ahead "$mode" '*=handoff' 4 1
done
# MPICH reports freeing such a request as an error; the text about its status is not compared.
post 'mixed wait ahead blocking freed-communicators large' poll "$ours" 3 1 1473

if [ -x "$PROGRAMS/posts_f08" ]; then
    run_across f08 thread 1 "$ours" 3 "$PROGRAMS/posts_f08"
    calls_of f08
    check "Fortran with use mpi_f08 posts, tests and waits" all 'is 0 "$status"' \
        'is 3 $(grep -o finished f08.out | wc -l)' \
        'is "30 MPI_Iallreduce 30 MPI_Ibarrier 30 MPI_Ireduce" "$(awk "{ print \$3 }" f08.calls |
            sort | uniq -c | awk "{ print \$1, \$2 }" | paste -sd " ")"'
else
    skip "Fortran with use mpi_f08 posts, tests and waits" "no mpifort"
fi

# ---- passing through ---------------------------------------------------------------------------
post mixed thread '*=mpich' 3 1 288
post mixed thread '*=adaptive(progress=poll);*=bypass(progress=poll)' 3 1 288
post mixed thread '*=srm' 3 3 288
post mixed thread 'allreduce@post_allreduce=tree;reduce@post_reduce=mpich;*=adaptive;*=bypass' 3 1 '72 adaptive tree'
export STAGGER_CAUSES=off # for smaller archives
for ranks in $(modes 3 2); do
    check "posts far ahead of other ranks return, and rules by call site hold, and end on all ranks alike ($ranks)" \
        end_rules "$ranks" 1
done
