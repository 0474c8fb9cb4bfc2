#!/bin/bash
# Wrong message matching is detected: the unit test of wait states fails with each of these faults.
. "$(dirname "$0")/../lib/sh.sh"

source=$ROOT/analysis/report
test=$BUILD/tests/report/test_waits
cc=$(command -v cc || command -v gcc)
flags="-std=gnu11 -D_GNU_SOURCE -O1 -w -I$ROOT/shim -I$ROOT/analysis -I$ROOT/tests"

# fault NAME FILE SED SENTENCE...: these tests fail with the fault.
fault() {
    local name=$1 file=$source/$2.c edit=$3 expected
    shift 3
    sed "$edit" "$file" >"$name.c"
    same "$file" "$name.c" >/dev/null && return 1
    # shellcheck disable=SC2086
    "$cc" $flags "$ROOT/tests/report/test_waits.c" "$name.c" \
        "$BUILD/tests/lib/unit.o" "$BUILD/tests/lib/unit_main.o" "$BUILD/parts.a" -o "$name" \
        -lcunit -lotf2 -ldw -lelf -pthread -ldl -lm -ljansson || return 1
    env -C "$ROOT" "$PWD/$name" >"$name.out" 2>&1 && return 1
    for expected; do has "$name.out" "^not ok - $expected" || return 1; done
}

if grep -q __asan_init "$test" || grep -q __tsan_init "$test"; then
    skip "faults of matching are found" "a sanitizer build"
else
    check "the unchanged code passes" env -C "$ROOT" "$test"
    check "last-in, first-out matching is found" fault lifo wait_messages \
        's/first = channel != NULL ? channel->first : NULL;/first = channel != NULL ? channel->last : NULL;/' \
        "messages match first in, first out" "receives match in the order of their posts" \
        "MPI_Mprobe waits for its message"
    check "ignored tags are found" fault tags wait_messages \
        's/message->tag}/0}/' \
        "messages with different tags are matched separately"
    check "matching receives in the order of completion is found" fault completion wait_messages \
        's/messages->receives\[rank\].complete++;/dequeue(\&messages->receives[rank], receive); return join(messages, \&receive->end);/' \
        "receives match in the order of their posts"
    check "ignored gaps at the other end are found" fault other wait_messages \
        's/if (other->gap > 0) {/if (false) {/' \
        "messages missing at one end do not shift messages received before"
    check "ignored gaps at the own end are found" fault own wait_messages \
        's/status = close_gap(messages, end);/status = SG_OK;/' \
        "messages missing at one end do not shift messages sent before"
fi
