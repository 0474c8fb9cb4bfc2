#!/bin/bash
# Applications that use signals, timers, sleep, read, epoll_wait, system() and OpenMP alongside
# reductions between nodes.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

export OMP_WAIT_POLICY=passive # more threads than processors
# RANKS-PER-NODE RULES
cases=('1 *=adaptive;*=bypass' '1 barrier=dissemination;allreduce=pairwise;*=tree'
    '2 *=adaptive;*=bypass(linger=20)')
for mode in $(modes signal thread poll); do
    for case in "${cases[@]}"; do
        run_across apps "$mode" "${case%% *}" "${case#* }" 3 "$PROGRAMS/internode_apps" 120
        check "an application that does many things finds them all work (${case#* }; \
${case%% *} a node, $mode)" all 'gave apps' 'has_lines apps.out finished 3'
    done
done
