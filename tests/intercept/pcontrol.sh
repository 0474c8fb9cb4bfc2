#!/bin/bash
# MPI_Pcontrol: 0 stops recording, 1 starts it, 2 resets the statistics, 3 writes this rank's; all
# are local.
. "$(dirname "$0")/../lib/sh.sh"

observe local 2 "$PROGRAMS/pcontrol"
check "recording switched off on one rank does no harm" ran_well local
check "the archive holds the instances that every rank recorded" \
    archive_agrees local.trace local.out
check "the archive is sound" archive_sound local.trace

STAGGER_TRACE=stats observe reset 2 "$PROGRAMS/calls" 40 pcontrol
check "MPI_Pcontrol(2) on all ranks and (3) on one complete" is 0 "$status"
report_json reset.trace reset.json
check "statistics count the calls since the reset" \
    is "120" "$(json reset.json 'sum(s["calls"] for s in d["sites"])')"
check "MPI_Pcontrol(3) writes the statistics of the calling rank only" \
    is "interim-000000-1.csv" "$(cd reset.trace && echo interim-*)"
check "these statistics count the calls since the reset, with at least one line for each operation" \
    is "20 20 20" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { calls[$(column["operation"])] += $(column["calls"]) }
        END { print calls["barrier"], calls["reduce"], calls["allreduce"] }' \
        reset.trace/interim-000000-1.csv)"

observe otf2 2 "$PROGRAMS/calls" 40 pcontrol
check "a reset of the statistics keeps events" archive_agrees otf2.trace otf2.out
