#!/bin/bash
# Nonblocking collectives between nodes: every way of waiting for, testing or freeing them, mixed
# with messages and blocking collectives, in threads, and with more outstanding than there are
# slots. In mode poll MPICH runs them.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# The algorithms that ran the nonblocking collectives of NAME.calls
algorithms_of_posts() { awk '$3 ~ /^MPI_I/ { print $5 }' "$1.calls" | sort -u | paste -sd ' '; }

post() { # CASE MODE RULES RANKS RANKS-PER-NODE
    run_across posts "$2" "$5" "$3" "$4" "$PROGRAMS/posts" "$1"
    check "$1: every result is right ($2, $4 ranks, $5 a node; $3)" all 'is 0 "$status"' \
        "is $4 \$(grep -o finished posts.out | wc -l)" "lacks posts.err 'not true|disagree'"
}

ours='*=adaptive;*=bypass'
thread_cases='wait test mixed ahead blocking freed-communicators freed-requests large large-counts errors
    threads handed'
signal_cases='test mixed ahead blocking freed-communicators threads handed'
for mode in thread signal; do
    cases=${mode}_cases
    for case in ${!cases}; do
        post "$case" "$mode" "$ours" 3 1
        calls_of posts
        check "$case: the library runs the posts ($mode)" \
            is "adaptive bypass" "$(algorithms_of_posts posts)"
    done
done
for mode in $(modes signal thread); do
    for case in mixed ahead; do
        post "$case" "$mode" "$ours" 5 2
        post "$case" "$mode" '*=tree(degree=2)' 4 1
        post "$case" "$mode" 'barrier=dissemination;allreduce=pairwise;*=mpich' 3 1
        post "$case" "$mode" '*=handoff' 3 1
        post "$case" "$mode" '*=srm' 3 1
    done
    STAGGER_SLOTS=2 post ahead "$mode" "$ours" 4 1
    # handoff gets no notification for what it waits for: the helper thread polls.
    STAGGER_SLOTS=2 post ahead "$mode" '*=handoff' 4 1
done
# MPICH reports freeing such a request as an error; the text about its status is not compared.
for case in $(modes mixed wait ahead blocking freed-communicators large); do
    post "$case" poll "$ours" 3 1
    calls_of posts
    check "$case: MPICH runs the posts (poll)" is "" "$(algorithms_of_posts posts)"
done

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
post mixed thread '*=mpich' 3 1
calls_of posts
check "posts with the rule mpich are MPICH's" is "" "$(algorithms_of_posts posts)"
post mixed thread '*=adaptive(progress=poll);*=bypass(progress=poll)' 3 1
calls_of posts
check "posts with the rule poll are MPICH's" is "" "$(algorithms_of_posts posts)"
post mixed thread '*=srm' 3 3
calls_of posts
check "posts inside a node are MPICH's" is "" "$(algorithms_of_posts posts)"
post mixed thread 'allreduce@post_allreduce=tree;reduce@post_reduce=mpich;*=adaptive;*=bypass' 3 1
calls_of posts
check "rules by call site hold for posts" is "adaptive tree" "$(algorithms_of_posts posts)"
post far-ahead thread 'barrier@far_ahead=tree;*=adaptive' 3 1
calls_of posts
check "rules by call site hold for posts far ahead of the other ranks" is "tree" "$(algorithms_of_posts posts)"
for ranks in 2 3; do
    check "posts further ahead than that return, and rules by call site end on all ranks alike ($ranks)" \
        end_rules "$ranks" 1
done
