#!/bin/bash
# A signal of the library interrupts exactly those application calls that libstagger(7) names. A
# progress thread interrupts none.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

page=$ROOT/docs/libstagger.7
# named BEGINNING CALL: in that paragraph of the page
named() { has <(sed -n "/^$1/,/^\.PP/p" "$page") "\\b$2\\b"; }
for call in sleep nanosleep poll select epoll_wait; do
    run_late call signal "$PROGRAMS/late_calls" "$call" "$WORK/words"
    check "$call returns early by a signal, as the manual page says" all 'is 0 "$status"' \
        "has call.out '^$call: EINTR\$'" "named 'The signal interrupts' $call"
done
for call in read waitpid system sem_wait pthread_cond_wait; do
    run_late call signal "$PROGRAMS/late_calls" "$call" "$WORK/words"
    check "$call goes on after a signal, as the manual page says" all 'is 0 "$status"' \
        "has call.out '^$call: restarted\$'" "named 'The signal does not interrupt' $call"
    run_late call thread "$PROGRAMS/late_calls" "$call" "$WORK/words"
    check "$call goes on beside a thread" all 'is 0 "$status"' "has call.out '^$call: restarted\$'"
done
