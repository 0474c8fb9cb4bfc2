#!/bin/bash
# User actions on the output of a running job: the tools report that it runs, and its end is
# unchanged.
. "$(dirname "$0")/../lib/sh.sh"

rounds=50

# during NAME COMMAND: runs the command in the middle of a job with its output in NAME.trace; its
# output is in NAME.said, its exit status in NAME.result
during() {
    local name=$1
    observe "$name" 2 "$PROGRAMS/between" "$rounds" \
        "cd '$WORK' && { $2; } >'$name.said' 2>&1 </dev/null; echo \$? >'$name.result'"
}

# The job ended as if nobody had looked.
undisturbed() { ran_well "$1" && archive_agrees "$1.trace" "$1.out" && absent "$1.trace/rank-000000.log"; }

during report "'$STAGGER' report report.trace"
check "report says that the job is still running, and shows the calls so far" all \
    'is 0 "$(cat report.result)"' 'has report.said "^stagger: report.trace: the run is still in progress"' \
    'has report.said "MPI_Allreduce .*between"' 'lacks report.said "ended"'
check "the job ends undisturbed" undisturbed report

STAGGER_TRACE=stats during stats "'$STAGGER' report stats.trace"
check "report does the same for a job with statistics" all 'is 0 "$(cat stats.result)"' \
    'has stats.said "^stagger: stats.trace: the run is still in progress"' \
    'has stats.said "MPI_Allreduce .*between"' 'is 0 "$status"'

for command in recover 'recover --force'; do
    during recover "'$STAGGER' $command recover.trace"
    check "$command refuses a running job with one line" all 'is 1 "$(cat recover.result)"' \
        'has_lines recover.said . 1' 'has recover.said "^stagger: recover.trace: the run is still in progress"'
    check "the job ends undisturbed ($command)" undisturbed recover
    rm -rf recover.trace
done

during beside "'$STAGGER' recover --output so-far beside.trace"
check "recover --output makes an archive of the calls so far in another directory" all \
    'is 0 "$(cat beside.result)"' 'archive_sound so-far' \
    'is "True $((4 * rounds))" "$(report_json so-far so-far.json &&
         json so-far.json "str(d[\"partial\"]) + \" \" + str(sum(s[\"calls\"] for s in d[\"sites\"]))")"'
check "the job ends undisturbed (elsewhere)" undisturbed beside

for command in arrivals 'export --perfetto x.json' 'advise' 'compare beside.trace'; do
    during other "'$STAGGER' $command other.trace"
    check "$command says in one line that the job is running" all 'is 1 "$(cat other.result)"' \
        'is 1 "$(grep -c "^stagger: .*other.trace: the run is still in progress" other.said)"'
    rm -rf other.trace
done

# A process that holds a log's file open without writing to it does not count as its writer. It
# would also keep the launcher waiting, so it closes its other descriptors.
cat >hold <<'HOLD'
for held in /proc/$$/fd/*; do
    held=${held##*/}
    case $held in [0-2] | 255) ;; *) eval "exec $held>&-" ;; esac
done
sleep 300 &
echo $! >child.pid
HOLD
during child "bash ./hold"
kill "$(cat child.pid)" 2>/dev/null
observe killed 2 "$PROGRAMS/ending" kill "$rounds"
"$STAGGER" report --all killed.trace >report.out 2>report.err
check "a killed job counts as ended" all 'has_lines report.err . 1' \
    'has report.err "^stagger: killed.trace: the run ended without an archive"' \
    '"$STAGGER" recover killed.trace' 'archive_sound killed.trace'

# The program closes every descriptor that it does not know, and opens files of its own.
STAGGER_TRACE_BYTES=64m observe closing 2 "$PROGRAMS/closing" 30000
check "a program that closes and reuses the library's descriptors keeps its files" all 'is 0 "$status"' \
    'is "" "$(find . -maxdepth 1 -name "closing.*.own" ! -size 10c)"' \
    'is 2 "$(ls closing.*.own | wc -l)"'
check "such a program gets its archive" archive_agrees closing.trace closing.out
