#!/bin/bash
# Reductions between nodes write only values to the program's memory, nothing between or around
# them, with every protocol, blocking and not. user_operations.sh covers user-defined operations.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

holes() { # RANKS-PER-NODE RULES [posted]
    run_across holes thread "$1" "$2" 3 "$PROGRAMS/holes" between ${3:+"$3"}
    check "reductions write only values, and the right ones ($2, $1 a node${3:+, $3})" gave holes
}

for rules in "${SPAN_RULES[@]}"; do
    # Other trees and waits, which write nothing else.
    [[ $rules = *degree=* || $rules = *microphases=* ]] && ! in_full && continue
    holes 1 "$rules"
done
for rules in "${SPAN_RULES[0]}" '*=tree' '*=srm'; do
    holes 2 "$rules" posted
done
