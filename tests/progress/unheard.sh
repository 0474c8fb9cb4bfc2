#!/bin/bash
# An undeliverable signal delays nothing: its thread has ended or blocks it, or the application has
# taken the signal. A thread takes over; if the library detects this itself, it prints one line.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

rounds=2
RUNS=1 # signals are not handled, whatever the machine does
# unheard WAY: reduces use mode signal; MPICH runs the barriers
unheard() {
    RULES='reduce=bypass;*=mpich' run_late "$1" signal "$PROGRAMS/late_unheard" "$1" "$WORK/words" $rounds
}
# by_thread NAME: a thread handled everything that was late
by_thread() {
    is 0 "$(total "$1" signals)" && is "$rounds x Progress thread: $2 MPI_Reduce \
MPI_COMM_WORLD from 3, wait avoided" "$(late_regions "$1" | sed 's/ x [0-9]* / x /')"
}

unheard exits
check "when the interrupted thread has ended, the helper thread takes over" all 'finished exits' \
    'by_thread exits reduce'
unheard blocked
check "when all threads block all signals, the helper thread takes over" all \
    'finished blocked' 'by_thread blocked reduce'
for way in blocks waits signalfd takes; do
    unheard $way
    check "a signal without effect is detected, and a thread takes over ($way)" all \
        "finished $way 3" "has_lines $way.err '^stagger: signal 42 .* a thread handles late' 1" \
        "is $rounds \$(late_records $way)"
done
unheard ignores
check "a signal that becomes ignored during the run is detected, too" all 'finished ignores 3' \
    "has_lines ignores.err '^stagger: signal 42 .* a thread handles late' 1" \
    "is $rounds \$(late_records ignores)"
unheard ignored
check "a signal that is ignored from the start stays ignored" all 'finished ignored 3' \
    "has_lines ignored.err '^stagger: signal 42 has a handler' 1" 'by_thread ignored reduce'
