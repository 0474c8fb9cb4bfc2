#!/bin/bash
# A signal of the library interrupts exactly those application calls that libstagger(7) names. A
# progress thread interrupts none.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

page=$ROOT/docs/libstagger.7
# named BEGINNING CALL: in that paragraph of the page
named() { has <(sed -n "/^$1/,/^\.PP/p" "$page") "\\b$2\\b"; }
# interrupts MODE OUTCOME CALL...: each call of the parent has the outcome
interrupts() {
    local mode=$1 outcome=$2
    shift 2
    run_late calls "$mode" "$PROGRAMS/late_calls" "$WORK/words" "$@"
    is 0 "$status" && same <(printf "%s: $outcome\n" "$@") calls.out
}

early='sleep nanosleep poll select epoll_wait' on='read waitpid system sem_wait pthread_cond_wait'
# shellcheck disable=SC2086 # words
check "a signal interrupts $early" interrupts signal EINTR $early
# shellcheck disable=SC2086
check "$on go on after a signal" interrupts signal restarted $on
# shellcheck disable=SC2086
check "$on go on beside a thread" interrupts thread restarted $on
for call in $early; do
    check "the manual page says that $call returns early" named 'The signal interrupts' $call
done
for call in $on; do
    check "the manual page says that $call goes on" named 'The signal does not interrupt' $call
done
