#!/bin/bash
# Long mixed runs of collectives on overlapping communicators, with delays: neither algorithm loses,
# mixes up or overwrites anything, with one thread and with several.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# soak SENTENCE ALGORITHM RANKS COLLECTIVES SEED THREADS: a third of COLLECTIVES in the short check
soak() {
    local sentence=$1 algorithm=$2 ranks=$3 collectives=$(($4 / part))
    run_by soak "$algorithm" "$ranks" "$PROGRAMS/soak" "$collectives" "$5" "$6"
    check "$sentence ($algorithm, $ranks ranks, $collectives collectives)" gave soak
}

export STAGGER_TRACE=stats
part=$(in_full && echo 1 || echo 3)
for algorithm in srm handoff; do
    soak "results stay right on overlapping communicators" "$algorithm" 2 100000 1 1
    soak "results stay right with more ranks than processors" "$algorithm" 3 50000 2 1
    soak "results stay right with even more ranks" "$algorithm" 4 10000 3 1
    soak "four threads on communicators of their own do not disturb one another" \
        "$algorithm" 2 100000 4 4
    soak "two threads with more ranks do not disturb one another" "$algorithm" 3 20000 5 2
    STAGGER_SLOTS=2 soak "two slots a rank are enough" "$algorithm" 3 10000 6 1
done
# The first arriver's choice, which rules by call site enable.
STAGGER_RULES='reduce@reduce=handoff; allreduce@allreduce=srm; *=handoff' \
    observe sites 3 "$PROGRAMS/soak" 10000 7 1
check "results stay right with rules for call sites" gave sites

unset STAGGER_TRACE
run_by soak srm 3 "$PROGRAMS/soak" 1000 8 1
check "the archive of such a run has exactly the calls that were made" all 'gave soak' \
    'archive_agrees soak.trace soak.out'
