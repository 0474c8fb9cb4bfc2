#!/bin/bash
# A thread or a signal handles late contributions while their receiver computes and makes no MPI
# calls; without either they wait for its next collective.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

rounds=10
words=$WORK/words

# ops_with NAME COLUMN: operations of the report's sites whose column is not zero
ops_with() { of_report "$1" "' '.join(s['op'] for s in d['sites'] if s['$2'])"; }

run_late async default "$PROGRAMS/late" async "$words" 2
check "an unknown mode is reported, and the thread is used" all 'finished async 3' \
    'has async.err "STAGGER_PROGRESS=default is ignored: expected thread, signal or poll"'
for mode in thread signal poll; do
    run_late blocked $mode "$PROGRAMS/late" blocked "$words" 5
    check "a parent that waits for the root's message gets it ($mode)" finished blocked
done
check "in mode poll no signal is raised, and no rank avoids a wait: it stays in its call" all \
    'archive_sound blocked.trace' 'is 0 "$(total blocked signals)"' \
    'is 0 "$(total blocked wait_avoided_ns)"' 'lacks <(late_regions blocked) "wait avoided"'

# MPICH runs the barriers, so every counted call is a reduce. Events between two reduces are
# reported with the second.
for mode in thread signal; do
    RULES='reduce=bypass;*=mpich' run_late counts $mode "$PROGRAMS/late" async "$words" $rounds
    check "the root has its result while the late rank's parent computes; the trace is sound ($mode)" all \
        'finished counts' 'archive_sound counts.trace'
    if [ $mode = signal ]; then
        check "every late message raised one signal" is $((rounds - 1)) "$(total counts signals)"
    else
        check "no signal was raised ($mode)" is 0 "$(total counts signals)"
    fi
    check "every late message is counted as late ($mode)" is $((rounds - 1)) "$(total counts late)"

    # The parent is rank 2, the leaf rank 3; a rank's second location is its first other thread.
    if [ $mode = signal ]; then where='2 Master thread'; else where='4294967298 Progress thread'; fi
    check "every late message is a region at its handler, with its sender ($mode)" is \
        "$rounds x $where: late_reduce MPI_Reduce MPI_COMM_WORLD from 3, wait avoided" \
        "$(late_regions counts)"
    check "... a region says whether a signal handled it ($mode)" \
        is "$([ $mode = signal ] && echo $rounds || echo 0)" \
        "$(otf2-print counts.trace/traces.otf2 | grep -cF '("by signal"')"
    check "the report has the handlers' time and the wait avoided ($mode)" is "reduce reduce" \
        "$(ops_with counts handler_ns) $(ops_with counts wait_avoided_ns)"
    check "... the report has the number handled by signals, and the parent ran ahead each time ($mode)" all \
        "is $([ $mode = signal ] && echo $rounds || echo 0) \"\$(total counts late_by_signal)\"" \
        '[ "$(total counts ran_ahead)" -ge '$rounds' ]'
done
STAGGER_TRACE=stats RULES='reduce=bypass;*=mpich' run_late counts signal "$PROGRAMS/late" async "$words" $rounds
check "statistics have the handlers' time, too" all 'finished counts' \
    'is reduce "$(ops_with counts handler_ns)"' 'is $((rounds - 1)) "$(total counts late)"'
for trace in otf2 stats; do
    STAGGER_TRACE=$trace run_late paused thread "$PROGRAMS/late" paused "$words" 20
    check "late messages of calls that are not recorded are not recorded, either ($trace)" all \
        'finished paused' "is $([ $trace = otf2 ] && echo 10 || echo 0) \$(late_records paused)"
done
run_late thread thread "$PROGRAMS/late" thread "$words" 2
check "the thread starts when calls are outstanding, sleeps while nothing arrives, and ends" \
    finished thread
for mode in thread signal; do
    run_late fork $mode "$PROGRAMS/late" fork "$words" 5
    check "a forked child has no thread and no handler, and does not disturb its parent ($mode)" finished fork
done

# ---- signals ---------------------------------------------------------------------------------------
run_late queue signal "$PROGRAMS/late" queue "$words" $rounds
check "a full queue of signals delays nothing" finished queue
for way in own taken; do
    run_late $way signal "$PROGRAMS/late" $way "$words" 5
    check "a signal that the application handles stays its own, and a thread takes over ($way)" all \
        "finished $way 3" "has_lines $way.err '^stagger: signal 42 has a handler' 1"
done
STAGGER_SIGNAL=43 run_late other signal "$PROGRAMS/late" own "$words" 5
check "with STAGGER_SIGNAL another signal serves" finished other
for number in 33 65 SIGUSR1; do
    STAGGER_SIGNAL=$number "$STAGGER" info >/dev/null 2>number.err
    check "signal $number is refused" has number.err \
        "STAGGER_SIGNAL=$number is ignored: expected a number from 34 to 64"
done
