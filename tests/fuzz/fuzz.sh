#!/bin/bash
# long
# timeout: 3600
# Fuzzes the readers of external text and bytes under clang's libFuzzer, with AddressSanitizer and
# UndefinedBehaviorSanitizer: the corpus in tests/fuzz/corpus, and a fixed number of inputs derived
# from it, the same ones each time, five times as many with "full". `make fuzz` continues from
# there.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/fuzz/fuzz.bash"

if ! fuzz_can_build; then
    skip "fuzzing" "clang or its libFuzzer is not installed"
    exit
fi
check "the targets build" fuzz_build

# Targets that write files take a thousand times as long as the others.
declare -A runs=([archive]=40 [log]=150 [watch]=150)
clean() {
    local most=${runs[${1%% *}]:-4000}
    [ "$1" = "${1%% *}" ] || most=30
    ! in_full || most=$((5 * most))
    fuzz_run "$1" -runs="$most"
}
while read -r target; do
    check "fuzzing: $target passes the corpus and its mutations" clean "$target"
done < <(fuzz_targets)

# A target that reads past its input proves that the sanitizers are active.
cat >wrong.c <<'C'
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint8_t sink;

    if (size > 3 && data[0] == 'f' && data[1] == 'z')
        sink = data[size];
    return 0;
}
C
finds() {
    clang -g -O1 -fsanitize=fuzzer,address wrong.c -o wrong || return
    ./wrong -seed=1 -runs=200000 -artifact_prefix="$WORK/" >wrong.out 2>&1
    is 77 $? || is 1 $?
    has wrong.out 'heap-buffer-overflow'
}
check "a read beyond the input is found" finds
