#!/bin/bash
# Every goal is met that stagger claims from the papers and beyond them.
. "$(dirname "$0")/../lib/sh.sh"

timeout "$PROGRAM_SECONDS" "$STAGGER" sim papers --no-scaling >claims 2>claims.err
check "the claims are measured" all "is 0 $?" 'empty claims.err' \
    'has claims "^Seed 1, commit [0-9a-z]+"'
while IFS='|' read -r _ what goal measured verdict _; do
    check "claim:${what% }: ${goal# }" is " met " "$verdict"
done < <(sed '/^## Paper 001/,/^## Scaling/d' claims | grep '^| ' | grep -v '^| what\|^| ---')
check "there are claims from the papers and beyond them" has_lines claims '^## ' 9
check "the output reports that no choice agrees with all of paper 001" all \
    'has_lines claims "^[|] a (blocking call|barrier) .*: [*][*]not as the paper[*][*] [|] [^|]*: as the paper [|]$" 2' \
    'has_lines claims "^[|] (a blocking exchange|the shortest) .*: as the paper [|] [^|]*: [*][*]not as the paper[*][*] [|]$" 2'
check "the output reports the fitted multicast, and the claims that hold without it" all \
    'has claims "^[|] adaptive barrier.*fitted: multicast_us" ' \
    'has claims "tree.s delay over its.* 2[.]67 .*does not hold.*[|] no [|]$"' \
    'has claims "dissemination.s delay over its.* 4[.]00 .*does not hold.*[|] no [|]$"' \
    'has claims "from 2 to 1024 nodes.*[|] yes [|]$"' 'has claims "two equally late, one token.*[|] yes [|]$"'
