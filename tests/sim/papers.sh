#!/bin/bash
# one processor
# What stagger claims of the papers and beyond them: every goal is met.
. "$(dirname "$0")/../lib/sh.sh"

timeout 250 "$STAGGER" sim papers --no-scaling >claims 2>claims.err
check "the claims are measured" all "is 0 $?" 'empty claims.err' \
    'has claims "^Seed 1, commit [0-9a-z]+"'
while IFS='|' read -r _ what goal measured verdict _; do
    check "claim:${what% }: ${goal# }" is " met " "$verdict"
done < <(grep '^| ' claims | grep -v '^| what\|^| ---')
check "there are claims of both papers and beyond them" has_lines claims '^## ' 3
