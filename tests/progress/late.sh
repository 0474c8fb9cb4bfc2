#!/bin/bash
# Late contributions are handled while their receiver computes and calls nothing of MPI, by a thread
# or by a signal; without either they wait for its next collective.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

rounds=20
words=$WORK/words
# total NAME COLUMN: over the sites of the report
total() {
    report_json "$1.trace" "$1.json" && json "$1.json" "sum(s['$2'] for s in d['sites'])"
}

for mode in thread signal; do
    run_late async $mode "$PROGRAMS/late" async "$words" $rounds
    check "the root has its result while the late rank's parent computes ($mode)" finished async
done
run_late async default "$PROGRAMS/late" async "$words" $rounds
check "a mode that there is not is named, and it is a thread's work" all 'finished async 3' \
    'has async.err "STAGGER_PROGRESS=default is ignored: expected thread, signal or poll"'
for mode in thread signal poll; do
    run_late blocked $mode "$PROGRAMS/late" blocked "$words" $rounds
    check "a parent that waits for a message of the root's gets it ($mode)" finished blocked
done
check "in mode poll no signal is taken" is 0 "$(total blocked signals)"

# The barriers are MPICH's: every call that counts is a reduce. What happens between two is told by
# the second.
for mode in thread signal; do
    RULES='reduce=bypass;*=mpich' run_late counts $mode "$PROGRAMS/late" async "$words" $rounds
    check "the trace is sound ($mode)" all 'finished counts' 'archive_sound counts.trace'
    if [ $mode = signal ]; then
        check "every late message took one signal" is $((rounds - 1)) "$(total counts signals)"
    else
        check "no signal was taken ($mode)" is 0 "$(total counts signals)"
    fi
    check "every late message is counted as late ($mode)" is $((rounds - 1)) "$(total counts late)"
done

run_late thread thread "$PROGRAMS/late" thread "$words" 5
check "the thread comes with what is outstanding, sleeps while nothing arrives, and ends" \
    finished thread
for mode in thread signal; do
    run_late fork $mode "$PROGRAMS/late" fork "$words" 5
    check "a forked child has no thread and no handler, and disturbs nothing ($mode)" finished fork
done

# ---- signals ---------------------------------------------------------------------------------------
run_late sigio signal "$PROGRAMS/late" sigio "$words" 5
check "SIGIO is the same event" finished sigio
run_late queue signal "$PROGRAMS/late" queue "$words" $rounds
check "a full queue of signals delays nothing" finished queue
for way in own taken; do
    run_late $way signal "$PROGRAMS/late" $way "$words" 5
    check "a signal that the application handles stays its own, and a thread steps in ($way)" all \
        "finished $way 3" "has_lines $way.err '^stagger: signal 42 has a handler' 1"
    STAGGER_SIGNAL=43 run_late other signal "$PROGRAMS/late" $way "$words" 5
    check "with STAGGER_SIGNAL another serves ($way)" finished other
done
for number in 33 65 SIGUSR1; do
    STAGGER_SIGNAL=$number run_late number signal "$PROGRAMS/late" async "$words" 2
    check "signal $number is refused" all 'finished number 3' \
        "has number.err 'STAGGER_SIGNAL=$number is ignored: expected a number from 34 to 64'"
done
