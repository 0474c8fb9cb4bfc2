# The build that the fuzzers and system/sanitizers.sh share: by clang, with AddressSanitizer and
# UndefinedBehaviorSanitizer, and what fuzzers read instrumented for libFuzzer. Needs ROOT and BUILD.
# shellcheck shell=bash
SANITIZED=$BUILD/variant-sanitized

# sanitized_build TARGET...: one script at a time
sanitized_build() {
    mkdir -p "$SANITIZED" && flock "$SANITIZED" \
        make -C "$ROOT" --no-print-directory -j2 CC=clang SAN=address,undefined B="$SANITIZED" "$@"
}
