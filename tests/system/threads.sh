#!/bin/bash
# timeout: 900
# Under ThreadSanitizer: the parts that threads share without locks. Whole MPI programs are not,
# because MPICH itself does not run under it.
. "$(dirname "$0")/../lib/sh.sh"

tsan=$BUILD/variant-san-thread
tests="$tsan/tests/trace/test_log $tsan/tests/node/test_threads \
    $tsan/tests/transport/test_crowd"
check "the lock-free parts build under ThreadSanitizer" \
    make -C "$ROOT" --no-print-directory -j2 SAN=thread B="$tsan" $tests
for program in $tests; do
    check "unit test ${program#"$tsan"/tests/} has no data race" timeout 600 "$program"
done
