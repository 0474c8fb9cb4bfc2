#!/bin/bash
# Applications that use signals, timers, sleep, read, epoll_wait, system() and OpenMP beside
# reductions between nodes.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/engine/engine.bash"
. "$ROOT/tests/span/span.bash"

for mode in $MODES; do
    for each in 1 2; do
        for rules in '*=adaptive;*=bypass' 'barrier=dissemination;allreduce=pairwise;*=tree'; do
            run_across apps "$mode" "$each" "$rules" 3 "$PROGRAMS/span_apps" 240
            check "an application that does many things finds them all work ($rules; $each a node, \
$mode)" all 'gave apps' 'has_lines apps.out finished 3'
        done
    done
done
