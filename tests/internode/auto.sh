#!/bin/bash
# The algorithm `auto` between nodes: all ranks run the same algorithm in each call, with the same
# bits for every candidate; the report has what they learn, in a form that works as rules.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/trial/trial.bash"

# alike NAME: writes NAME.ran
alike() { "$PYTHON" "$ROOT/tests/intranode/alike.py" "$1.trace/traces.otf2" >"$1.ran" && [ -s "$1.ran" ]; }
# ran NAME OPERATION: the algorithms that ran it on all ranks
ran() { awk -v operation="$2" '$1 == "world" && $2 == operation { print $3 }' "$1.ran" | xargs; }
# like NAME OTHER: two runs under the library have the same results
like() { is "$(hashes "$2.out")" "$(hashes "$1.out")" && [ -n "$(hashes "$1.out")" ]; }

export STAGGER_CAUSES=off # for smaller archives
QUICK='*=auto(block=2,hold=16)'
mode=thread
cases=('3 1' '4 2')
in_full && cases+=('2 1' '4 1' '5 1' '5 2')
for case in "${cases[@]}"; do
    read -r ranks each <<<"$case"
    of="$ranks ranks, $each a node"
    run_across "auto-$ranks-$each" "$mode" "$each" "$QUICK" "$ranks" "$program" 100
    check "learning ranks run the same algorithm in each instance ($of)" all 'is 0 "$status"' \
        'alike "auto-$ranks-$each"'
    run_across "srm-$ranks-$each" "$mode" "$each" '*=srm' "$ranks" "$program" 100
    check "... results have the bits of recursive doubling under every algorithm ($of)" all 'is 0 "$status"' \
        'like "auto-$ranks-$each" "srm-$ranks-$each"'
done
check "learning ranks try all algorithms that give these bits" all 'is "handoff pairwise srm" "$(ran auto-3-1 allreduce)"' \
    'is "handoff srm" "$(ran auto-3-1 reduce)"' 'is "bypass mpich srm tree" "$(ran auto-3-1 bcast)"'
check "... the archive has the program's calls" archive_agrees auto-3-1.trace auto-3-1.out
report_json auto-3-1.trace auto.json
check "the report lists the learned rules with the cost of each algorithm" is "allreduce 3 bcast 4 reduce 2" \
    "$(json auto.json "' '.join(sorted('%s %d' % (p['rule'].split('~')[0], len(p['arms'])) for p in d['learned']
        if 'WORLD' in p['rule']))")"
"$STAGGER" report --rules auto-3-1.trace >rules
learnt() { sed -n "s/^$1~MPI_COMM_WORLD.*]=\([a-z]*\)$/\1/p" rules; }
run_across fixed "$mode" 1 "$(cat rules)" 3 "$program" 100
check "... report --rules prints them, and each call runs by them" all 'is 0 "$status"' \
    'alike fixed' 'like fixed srm-3-1' 'is "$(learnt allreduce)" "$(ran fixed allreduce)"' \
    'is "$(learnt reduce)" "$(ran fixed reduce)"' 'is "$(learnt bcast)" "$(ran fixed bcast)"'

# Not without the library: three ranks of MPICH's that spin for two processors take seconds.
run_across mpich thread 1 '*=mpich' 3 "$program" 100 posts
for mode in $(modes poll thread signal); do
    run_across any "$mode" 1 '*=auto(block=2,hold=16,bits=any)' 3 "$program" 100 posts
    check "with bits=any, learning ranks also try the usual algorithms ($mode)" all 'is 0 "$status"' \
        'like any mpich' 'alike any' 'is "adaptive mpich pairwise srm" "$(ran any allreduce)"' \
        'is "bypass handoff mpich srm" "$(ran any reduce)"'
done
run_across barriers thread 1 "$QUICK" 3 "$PROGRAMS/calls" 100
check "ranks learn about barriers" all 'gave barriers' 'alike barriers' \
    'is "adaptive dissemination mpich srm" "$(ran barriers barrier)"'
STAGGER_TRACE=stats run_across stats thread 1 "$QUICK" 3 "$PROGRAMS/calls" 100
check "statistics have the learned rules, too" is "allreduce barrier reduce" \
    "$("$STAGGER" report --rules stats.trace | sed 's/~.*//' | sort | xargs)"

# ---- rules by call site ----------------------------------------------------------------------------------
# from_one and from_rest are one instance: the first rank to arrive decides whether the call counts
# for learning.
run_across places thread 1 \
    "allreduce@common=auto(block=2); allreduce@from_one=auto(block=2); allreduce[0-32]=auto(block=3); *=srm" 3 "$program" 100
check "ranks that call from a site with auto and from one without it run the same algorithm" all 'is 0 "$status"' \
    'alike places' 'like places srm-3-1' \
    'grep -q "^allreduce@common~MPI_COMM_WORLD(3)\[0-64\]=" <("$STAGGER" report --rules places.trace)' \
    'grep -q "^allreduce~MPI_COMM_WORLD(3)\[0-32\]=" <("$STAGGER" report --rules places.trace)'
run_across inside thread 1 '*=auto(where=inside);*=srm' 3 "$program" 20
check "a rule for ranks inside one node does not apply between nodes" all 'is 0 "$status"' 'alike inside' \
    'is srm "$(ran inside allreduce)"' 'is "" "$("$STAGGER" report --rules inside.trace 2>/dev/null)"'
STAGGER_TRIAL="allreduce@common=auto(block=2)|srm" STAGGER_TRIAL_BLOCK=4 run_across trial thread 1 '*=srm' 3 "$program" 100
check "auto may be a candidate of a trial" all 'is 0 "$status"' 'like trial srm-3-1' 'arms trial 4'
run_across posts thread 1 "$QUICK" 3 "$program" 100 posts
check "nonblocking calls run by the default rules" all 'is 0 "$status"' 'like posts mpich' 'alike posts'

# Includes nonblocking calls of more than 1024 bytes: with bits=any MPICH runs them, as under the
# built-in rules.
for bits in same any; do
    STAGGER_TRACE=stats run_across "large-$bits" thread 1 "*[1025-]=auto(bits=$bits);*=srm" 2 \
        "$PROGRAMS/soak" 300 5 1 60
    check "large posts have right results (bits=$bits)" gave "large-$bits"
    report_json "large-$bits.trace" "large-$bits.json"
done
posts_of_mpich() { json "large-$1.json" 'd["unmanaged_posts"]'; }
# Some are on communicators of one rank, which MPICH always runs.
check "... MPICH runs more of them when its bits are allowed" \
    [ "$(posts_of_mpich any)" -gt "$(posts_of_mpich same)" ]

# ---- the end of a communicator ---------------------------------------------------------------------------
for mode in $(modes poll thread signal); do
    STAGGER_MEMORY=512m STAGGER_TRACE=stats run_across freed "$mode" 1 "$QUICK" 3 "$PROGRAMS/freed_early" 24
    check "communicators may end while ranks still exchange the costs of calls ($mode)" all 'gave freed' \
        'has_lines freed.out "^48 communicators$" 1'
done
run_across many thread 2 "$QUICK" 3 "$PROGRAMS/lifetimes" 20 20
check "ranks learn on many communicators" all 'gave many' 'archive_agrees many.trace many.out'
