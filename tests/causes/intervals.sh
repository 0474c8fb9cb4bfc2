#!/bin/bash
# The recorded figures of intervals between MPI calls match the rank's known activity. A busy machine
# may add to each figure of an interval, but not to those of every interval.
. "$(dirname "$0")/../lib/sh.sh"

KNOWN=$PROGRAMS/known_causes
ROUNDS=20
export STAGGER_CAUSES=all

# intervals NAME: writes the intervals of its archive to NAME.json
intervals() { "$PYTHON" "$ROOT/tests/causes/intervals.py" "$1.trace/traces.otf2" >"$1.json"; }

# holds NAME EXPRESSION: with own (rank 1's intervals in which it worked), others (rank 0's
# intervals in the meantime), every one, and least(LIST, FIGURE), total(LIST, FIGURE).
holds() {
    "$PYTHON" -c '
import json, sys
rounds, expression = int(sys.argv[2]), sys.argv[3]
every = json.load(open(sys.argv[1]))
def total(intervals, figure):
    return sum(i[figure] for i in intervals)
def least(intervals, figure):
    return min(i[figure] for i in intervals)
# The first barrier begins a stretch of its own, the second the way to the next round.
def between(rank):
    return [i for i in every if i["rank"] == rank and i.get("stretch", 1) % 2 == 0]
own, others = between(1), between(0)
assert len(own) == len(others) == rounds, (len(own), len(others))
if not eval(expression):
    print(expression)
    for i in own[:5] + others[:5]:
        print(i)
    sys.exit(1)' "$1.json" "$ROUNDS" "$2"
}

# done_by NAME, cpu_of NAME: the amount of work and the processor time that rank 1 reports
done_by() { sed -n 's/^rank 1: \([0-9]*\) .*/\1/p' "$1.out"; }
cpu_of() { sed -n 's/^rank 1: .* cpu \([0-9]*\)$/\1/p' "$1.out"; }

# known NAME [FILE]: runs it, and writes its intervals
known() {
    observe "$1" 2 "$KNOWN" "$1" "$ROUNDS" "${@:2}"
    check "a program with known causes runs ($1)" ran_well "$1"
    check "its archive is sound ($1)" archive_sound "$1.trace"
    intervals "$1"
    check "the archive has every interval from MPI_Init to MPI_Finalize ($1)" holds "$1" \
        'len(every) == 2 * (2 * rounds + 1)'
    check "no interval's processor time exceeds its length ($1)" holds "$1" \
        'every and not [i for i in every if i["cpu"] > i["interval"]]'
}

schedstat=$([ -r /proc/thread-self/schedstat ] && echo 1)

known work
check "a rank that computes is on a processor for the time of the computation" holds work \
    "least(own, 'cpu') >= 4000000 and $(done_by work) <= total(own, 'cpu') <= $(cpu_of work)"
check "a rank that computes does not sleep" holds work 'least(own, "voluntary switches") == 0'
check "the other rank does not compute meanwhile" holds work 'least(others, "cpu") < 4000000'

known faults
check "page faults are counted in the intervals in which they happen" holds faults \
    'least(own, "minor faults") == 64'
check "... other intervals have none" holds faults 'least(others, "minor faults") == 0'

known sleep
check "a rank that sleeps gives its processor away each time" holds sleep 'least(own, "voluntary switches") == 3'
[ -z "$schedstat" ] || check "time neither on a processor nor runnable is sleep" holds sleep \
    'any(i["interval"] - i["cpu"] - i["runnable"] >= 2000000 for i in own)'

known hog
if [ -n "$schedstat" ]; then
    check "a rank that shares its processor is runnable while the other one runs" holds hog \
        "total(own, 'runnable') >= $(done_by hog) and least(own, 'involuntary switches') > 0"
    check "... time on a processor and runnable time add up to its interval" holds hog \
        'any(i["cpu"] + i["runnable"] > 0.9 * i["interval"] for i in own)'
    check "the other rank does not share its processor" holds hog 'least(others, "runnable") < least(own, "runnable")'
else
    skip "runnable time is measured" "the kernel has no schedstat"
fi

head -c 4194304 /dev/urandom >read.bin && sync read.bin
if [ "$("$PYTHON" -c '
import os, resource
file = os.open("read.bin", os.O_RDONLY)
before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
while os.read(file, 65536):
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_inblock - before)')" -ge 8192 ]; then
    known read "$WORK/read.bin"
    check "blocks read are counted in the intervals in which they are read" holds read \
        "total(own, 'blocks in') >= $(done_by read) >= 8192 and least(others, 'blocks in') == 0"
else
    skip "blocks read are measured" "this directory's file system counts none, or keeps all in memory"
fi

# ---- a quota -------------------------------------------------------------------------------------

group=/sys/fs/cgroup/cpu/stagger-test-$$
[ -d /sys/fs/cgroup/cpu ] || group=/sys/fs/cgroup/stagger-test-$$
limit_group() {
    mkdir "$group" || return
    at_exit+=('rmdir "$group"')
    if [ -e "$group/cpu.cfs_quota_us" ]; then
        echo 50000 >"$group/cpu.cfs_period_us" && echo 5000 >"$group/cpu.cfs_quota_us"
    else
        echo "5000 50000" >"$group/cpu.max"
    fi
}
if limit_group 2>/dev/null; then
    (
        echo $BASHPID >"$group/cgroup.procs" && observe quota 2 "$KNOWN" long "$ROUNDS" "$group/cpu.stat"
        echo "$status" >quota.status
    )
    status=$(cat quota.status)
    # A busy machine gives the group its quota late: ranks may say that they wait for long.
    check "a program runs within a quota" all 'is 0 "$status"' 'archive_sound quota.trace'
    intervals quota
    check "the group was throttled while the rank computed" holds quota \
        'total(own, "throttles") > 0 and total(own, "throttled") > 0'
    [ -z "$schedstat" ] || check "... the rank did not run while the group was throttled" holds quota \
        'any(i["interval"] > 3 * i["cpu"] for i in own)'
    check "without a quota there is no throttled time" holds work \
        'not [i for i in every if "throttles" in i]'
else
    skip "a quota throttles a rank" "no control groups can be made here"
fi

# ---- the application's own state -----------------------------------------------------------------

for what in files fork; do
    observe "$what" 2 "$KNOWN" "$what" "$ROUNDS"
    check "a program with its own files or children runs as without the library ($what)" all 'is 0 "$status"' \
        'archive_sound "$what.trace"'
done

check "a program may take over descriptors, and sampling goes on" all '[ "$(done_by files)" -gt 0 ]' \
    'intervals files' 'holds files "all(\"cpu\" in i for i in own)"' \
    '[ -z "$schedstat" ] || holds files "all(\"runnable\" in i for i in own[2:])"'

# If the processor has no counters, the kernel stands in and counts.
"$STAGGER" info | grep -q '^ *counters: [0-9]' || PRELOAD=$BUILD/tests/causes/standin_counters.so:$PRELOAD
if LD_PRELOAD=$PRELOAD "$STAGGER" info | grep -q '^ *counters: [0-9]'; then
    observe long 2 "$KNOWN" long "$ROUNDS"
    check "a rank that computes has instructions and cycles" all 'ran_well long' 'intervals long' \
        'holds long "least(own, \"instructions\") > 1e7 > least(others, \"instructions\") and least(own, \"cycles\") > 1e7"'
else
    skip "hardware counters are measured" "the kernel has no events for this process; what is made of them is tested by figures made by hand (test_reader, test_blame, test_before)"
fi

exit $((failures > 0))
