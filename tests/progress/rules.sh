#!/bin/bash
# A rule's progress mode applies only to its calls: others of the same process and communicator keep
# theirs.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

rounds=4
half=$((rounds / 2))
words=$WORK/words
# The parent is rank 2; a rank's second location is its first other thread.
declare -A location=([signal]='2 Master thread' [thread]='4294967298 Progress thread')

# modes FIRST SECOND WAY MODE: runs with those modes at late's two call sites, and MODE elsewhere
modes() {
    RULES="reduce@at_first=bypass(progress=$1);reduce@at_second=bypass(progress=$2);*=mpich" \
        run_late "$3" "$4" "$PROGRAMS/late" "$3" "$words" $rounds
}
# handled NAME [COUNT MODE SITE]...: the archive has these regions of late contributions
handled() {
    local name=$1 expected=
    shift
    while [ $# -gt 0 ]; do
        expected+="$1 x ${location[$2]}: $3 MPI_Reduce MPI_COMM_WORLD from 3, wait avoided"$'\n'
        shift 3
    done
    is "${expected%$'\n'}" "$(late_regions "$name")"
}

modes signal thread turns poll
check "in one run, a signal serves one call site and the thread another" all 'finished turns' \
    'archive_sound turns.trace' 'is $half "$(total turns signals)"' \
    "handled turns $half signal at_first $half thread at_second"
modes auto signal turns thread
check "a rule without progress= uses STAGGER_PROGRESS" all 'finished turns' \
    "handled turns $half signal at_second $half thread at_first"
for order in 'signal thread' 'thread signal'; do
    # shellcheck disable=SC2086 # two words
    modes $order both poll
    check "late messages for both modes are handled by a signal ($order)" all 'finished both' \
        "handled both $rounds signal at_first $rounds signal at_second"
done
modes signal thread apart poll
check "a blocked signal does not keep the thread from its own messages" finished apart

RULES='reduce=bypass(progress=thread);*=mpich' run_late thread poll "$PROGRAMS/late" async "$words" \
    $rounds
check "a rule with the thread works with STAGGER_PROGRESS=poll" all 'finished thread' \
    'is 0 "$(total thread signals)"' "handled thread $rounds thread late_reduce"
for mode in signal thread; do
    RULES='reduce=bypass(progress=poll);*=mpich' run_late nobody $mode "$PROGRAMS/late" nobody \
        "$words" $rounds
    check "a rule with poll has no thread and no handler with STAGGER_PROGRESS=$mode" all 'finished nobody' \
        'is 0 "$(total nobody signals)"' 'lacks <(late_regions nobody) "wait avoided"'
done

STAGGER_QUIET=1 RULES='reduce=bypass(progress=sometimes);*=adaptive' run_late wrong thread \
    "$PROGRAMS/late" async "$words" 2
wrong='expected progress to be one of auto\|poll\|thread\|signal, found .sometimes.; ignored:'
check "a rule with an unknown mode is reported and skipped" all 'finished wrong 1' \
    "has wrong.err '^stagger: STAGGER_RULES, column 24: $wrong'"
RULES='reduce=bypass(progress=signal);*=mpich' run_late own poll "$PROGRAMS/late" own "$words" \
    $rounds
check "the thread takes over a rule's signal that the application handles" all 'finished own 3' \
    "has_lines own.err '^stagger: signal 42 has a handler' 1" \
    "handled own $rounds thread late_reduce"
