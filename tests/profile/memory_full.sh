#!/bin/bash
# 64 ranks that send to each other from 1000 call sites: the memory and file sizes of counting.
# Prints the figures.
. "$(dirname "$0")/../lib/sh.sh"
RANKS=64

kib() { awk -v when="$2" '$1 == when { print $2 }' "$1.out"; }
show() {
    echo "# $1: $((($(kib "$1" end) - $(kib "$1" start)) / RANKS)) KiB a rank for the messages," \
        "$(($(find . -path "./$1.trace/*" -printf '%k + ') 0)) KiB of files"
}

PRELOAD='' STAGGER_WAIT=yield observe stock $RANKS "$PROGRAMS/many_sites"
show stock
check "stock MPICH runs the program" is 0 "$status"
for trace in stats otf2; do
    STAGGER_TRACE=$trace observe $trace $RANKS "$PROGRAMS/many_sites"
    show $trace
    check "64 ranks send from 1000 call sites (STAGGER_TRACE=$trace)" ran_well $trace
done
for trace in stats otf2; do
    report_json $trace.trace $trace.json
    check "the report has each call site and each pair of ranks, with all calls ($trace)" \
        is "1000 64000 4032 64000" "$("$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
sends = [c for c in d["calls"] if c["mpi_function"] == "MPI_Isend"]
pairs = d["messages"]["pairs"]
print(len({c["id"] for c in sends}), sum(c["calls"] for c in sends), len(pairs),
      sum(p["sent_messages"] for p in pairs))' $trace.json)"
done
