# Orders of calls in reductions on eight nodes, in bypass's binomial tree with root 0: 0 has the children 1,
# 2 and 4; 2 has 3; 4 has 5 and 6; 6 has 7. Sourced after internode.bash by scripts that define
#
#     scenario SENTENCE EXPECTED STEP...
#
# EXPECTED: a regular expression of the early and late counts ("rank:early/late"). Runs in the modes
# of $modes.
# shellcheck shell=bash
# shellcheck disable=SC2034

# Children before parents: nothing is late, and a parent finds all of its children's contributions.
up='7 6 5 4 3 2 1 0'
modes=$(modes poll thread signal)
# shellcheck disable=SC2086 # words of steps
{
    scenario "all children early" "0:3/0 2:1/0 4:2/0 6:1/0" $up

    # In mode poll none of these calls would return before its children arrive.
    modes=$(modes signal thread)

    if in_full; then # parts of those that follow
        # 6 arrives before 7, and forwards 7's contribution at its next call at the latest; the second
        # reduction is in order.
        scenario "a leaf late" "0:6/0 2:2/0 4:3/1 6:1/1" \
            6 5 4 3 2 1 7 7 6 5 4 3 2 1 0 0

        scenario "process six late once" "0:6/0 2:2/0 4:3/1 6:2/0" \
            7 5 4 3 2 1 6 7 6 5 4 3 2 1 0 0
    fi

    scenario "process six late over five reductions back to back" "0:18/0 2:6/0 4:7/5 6:6/0" \
        7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 7 5 4 3 2 1 6 6 6 6 6 \
        7 6 5 4 3 2 1 0 0 0 0 0 0

    # When 6's contribution to the first reduce arrives, 4 has left that reduce and is the root of
    # the next, so progress is already active. A rank released before a root calls may overtake it.
    scenario "a late contribution while progress is under way" "0:[45]/0 2:2/0 4:[1-4]/1 6:2/0" \
        7 5 4 3 2 1 0\& 4/4\& 6 7/4 6/4 5/4 3/4 2/4 1/4 0/4

    # 5 and 6 late in the reverse order of their edges, over two instances.
    scenario "two children late, the second one first" "0:9/0 2:3/0 4:2/4 6:3/0" \
        7 4 3 2 1 7 4 3 2 1 6 6 5 5 7 6 5 4 3 2 1 0 0 0

    # Every parent is there before any of its children.
    scenario "all children late" "0:6/0 2:1/1 4:2/2 6:1/1" \
        6 4 2 5 3 1 7 7 6 5 3 4 2 1 0 0
}
