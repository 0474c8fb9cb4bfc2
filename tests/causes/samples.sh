#!/bin/bash
# Sampled intervals: all ranks choose the same ones; and which records each mode keeps. Their share of
# the time is test_causes's and test_sampler's.
. "$(dirname "$0")/../lib/sh.sh"

KNOWN=$PROGRAMS/known_causes

# printed NAME FILE...: prints records of logs to NAME.causes
printed() { "$BUILD/tests/causes/print_causes" "${@:2}" >"$1.causes"; }
intervals() { "$PYTHON" "$ROOT/tests/causes/intervals.py" "$1.trace/traces.otf2" >"$1.json"; }
# value NAME WORD RANK FIELD: from the only line with that word and rank
value() { sed -n "s/^$2 rank $3 .*\b$4=\([0-9]*\).*/\1/p" "$1.causes"; }

# alike NAME SHARE: the members of each communicator sampled the same intervals, except for SHARE of
# the count of the member that has fewest.
alike() {
    "$PYTHON" -c '
import collections, json, sys
taken = collections.defaultdict(lambda: collections.defaultdict(set))
for i in json.load(open(sys.argv[1])):
    if "stretch" in i and i["bounds"] % 2 == 1:
        taken[i["comm"]][i["rank"]].add(i["stretch"])
assert taken
for comm, by_rank in taken.items():
    common = set.intersection(*by_rank.values())
    least = min(map(len, by_rank.values()))
    print(comm, {rank: len(one) for rank, one in by_rank.items()}, "common", len(common))
    assert len(by_rank) > 1 and len(common) >= (1 - float(sys.argv[2])) * least > 0' "$1.json" "$2"
}

# ---- all -----------------------------------------------------------------------------------------

STAGGER_CAUSES=all observe comms-all 4 "$KNOWN" comms 100
check "a program with several communicators runs" ran_well comms-all
check "its archive is sound" archive_sound comms-all.trace
intervals comms-all
check "every interval is sampled, on every rank" is "[128, 128, 128, 128]" \
    "$(json comms-all.json '[sum(i["rank"] == rank for i in d) for rank in range(4)]')"
check "every collective begins sampled intervals on all members of its communicator" alike comms-all 0
# A half's barrier follows another 75 times, one of the world 25 times; both begin sampled
# intervals, and the last call before MPI_Finalize is MPI_Comm_free.
check "sampled intervals end at the communicator's next collective" is "[75, 50, 0, 1]" \
    "$(json comms-all.json '[sum(i["rank"] == 3 and i.get("bounds") == b for i in d) for b in (3, 1, 2, 0)]')"
check "an interval belongs to the collective that came last" is "[100, 26]" \
    "$(json comms-all.json '[sum(i["rank"] == 3 and i["comm"] != "MPI_COMM_WORLD" for i in d if "comm" in i), sum(i["rank"] == 3 and i.get("comm") == "MPI_COMM_WORLD" for i in d)]')"

# ---- sample --------------------------------------------------------------------------------------

# Ranks whose samples cost more, on a busy machine, take fewer of them: not in every run.
for _ in {1..10}; do
    rm -rf comms.trace
    observe comms 4 "$KNOWN" comms 400
    intervals comms
    alike comms 0.5 >/dev/null 2>&1 && break
done
check "samples are taken by default" all 'ran_well comms' 'archive_sound comms.trace'
check "a short run has some" within 1 100000 "$(json comms.json 'len(d)')"
check "the sampled intervals follow the same collectives on all members" alike comms 0.5

# The kernel's events are open only in samples: before a sampled interval, from the preceding
# collective on.
if [ "$(nproc)" -ge 2 ] && "$STAGGER" info | grep -q '^ *switches: [0-9]'; then
    observe pair 2 "$KNOWN" faults 400
    intervals pair
    check "a rank's state in the call before a sampled interval is recorded" is "[[], True]" "$(json pair.json '[
        [i for i in d if i.get("bounds", 0) % 2 == 1 and i.get("away") == 0 and i["resumed"] < i["call"]],
        any("resumed" in i for i in d if i.get("bounds", 0) % 2 == 1)]')"
else
    skip "a rank's state in the call before a sampled interval is recorded" "there is one processor, or the kernel records no switches for this process"
fi
one_processor() {
    taskset -cp "$(taskset -cp "$BASHPID" | sed 's/.*: *\([0-9]*\).*/\1/')" "$BASHPID" >/dev/null &&
        observe shared 2 "$KNOWN" faults 20
}
(one_processor)
printed shared shared.trace/traces/*.calls
for source in migrations counters switches; do
    check "ranks that share a processor do without the kernel's events ($source)" \
        has shared.causes "^source rank 0 name=$source there=0 error=125"
done

observe messages 2 "$KNOWN" messages 40000
check "a program with messages only runs" ran_well messages
intervals messages
printed messages messages.trace/traces/*.calls
check "a program with messages only has samples" within 1 100000 "$(json messages.json 'sum("stretch" not in i for i in d)')"
for rank in 0 1; do
    check "the sums include all samples (rank $rank)" is "$(value messages causes $rank intervals)" \
        "$(sed -n "s/^sum rank $rank .* intervals=\([0-9]*\) .*/\1/p" messages.causes | awk '{ s += $1 } END { print s }')"
done

# ---- kept records --------------------------------------------------------------------------------

STAGGER_TRACE=stats STAGGER_CAUSES=all observe stats 2 "$KNOWN" faults 20
check "a program with statistics only runs" ran_well stats
printed stats stats.trace/rank-*.log
check "the log has sums" all 'is 41 "$(value stats causes 1 intervals)"' 'lacks stats.causes "^interval "'
check "... sums count the rank's page faults" within 1280 100000 \
    "$(sed -n 's/^sum rank 1 .* minor_faults=\([0-9]*\) .*/\1/p' stats.causes | sort -n | tail -n 1)"
check "every source is listed, available or not" has_lines stats.causes '^source rank 1 name=.* there=[01] error=[0-9]+ cost=[0-9]+$' 11
check "sources that every system has are available" all 'has stats.causes "^source rank 0 name=thread_clock there=1 error=0 cost=[1-9]"' \
    'has stats.causes "^source rank 0 name=resource_usage there=1 error=0 cost=[1-9]"'

for trace in otf2 stats; do
    STAGGER_TRACE=$trace STAGGER_CAUSES=off observe "off-$trace" 2 "$KNOWN" faults 20
    check "without causes the program runs ($trace)" ran_well "off-$trace"
done
printed off-stats off-stats.trace/rank-*.log
check "... the log keeps no causes" empty off-stats.causes
intervals off-otf2
check "... the archive keeps no causes" is "[]" "$(cat off-otf2.json)"

# ---- threads, and parts of a run -----------------------------------------------------------------

STAGGER_TRACE=stats STAGGER_CAUSES=all observe threads 2 "$KNOWN" threads 50
check "threads have intervals of their own, and leave no files open" ran_well threads
printed threads threads.trace/rank-*.log
# Each of its 4 calls but the first ends one.
check "... every interval but the one before a thread's first call is recorded" is 150 \
    "$(sed -n 's/^sum rank 1 thread=1 .* intervals=\([0-9]*\) .*/\1/p' threads.causes | awk '{ s += $1 } END { print s }')"

STAGGER_CAUSES=some observe wrong 2 "$KNOWN" work 1
check "an unknown mode is reported in one line" has_lines wrong.err "STAGGER_CAUSES=some is ignored: expected off, sample or all" 1

exit $((failures > 0))
