# Orders of calls in reductions on eight nodes, in the binomial tree of bypass at rank 0: that has the
# children 1, 2 and 4, 2 has 3, 4 has 5 and 6, 6 has 7. Sourced after internode.bash by scripts that define
#
#     scenario SENTENCE EXPECTED STEP...
#
# EXPECTED: a regular expression of what comes early and late ("rank:early/late"). In $modes.
# shellcheck shell=bash
# shellcheck disable=SC2034

# Children before parents: nothing is ever late, and a parent finds all its children's there.
up='7 6 5 4 3 2 1 0'
modes=$(modes poll thread signal)
# shellcheck disable=SC2086 # words of steps
{
    scenario "all children early" "0:3/0 2:1/0 4:2/0 6:1/0" $up

    # In mode poll none of these calls would return before its children came.
    modes=$(modes signal thread)

    # 6 is there before 7, and forwards 7's at its next call at the latest; the second reduction
    # comes in order.
    scenario "a leaf late" "0:6/0 2:2/0 4:3/1 6:1/1" \
        6 5 4 3 2 1 7 7 6 5 4 3 2 1 0 0

    scenario "process six late once" "0:6/0 2:2/0 4:3/1 6:2/0" \
        7 5 4 3 2 1 6 7 6 5 4 3 2 1 0 0

    scenario "process six late over five reductions back to back" "0:18/0 2:6/0 4:7/5 6:6/0" \
        7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 6 6 6 6 6 \
        7 6 5 4 3 2 1 0 0 0 0 0 0

    # 4 has left a reduce, and is the root of the next one, when 6's contribution to the first
    # comes: progress is under way already. Who is told to go on before a root calls may overtake
    # it.
    scenario "a late contribution while progress is under way" "0:[45]/0 2:2/0 4:[1-4]/1 6:2/0" \
        7 5 4 3 2 1 0\& 4/4\& 6 7/4 6/4 5/4 3/4 2/4 1/4 0/4

    # 5 and 6 late in the reverse order of their edges, over two instances.
    scenario "two children late, the second one first" "0:9/0 2:3/0 4:2/4 6:3/0" \
        7 4 3 2 1 7 4 3 2 1 6 6 5 5 7 6 5 4 3 2 1 0 0 0

    # Every parent is there before any of its children.
    scenario "all children late" "0:6/0 2:1/1 4:2/2 6:1/1" \
        6 4 2 5 3 1 7 7 6 5 3 4 2 1 0 0
}
