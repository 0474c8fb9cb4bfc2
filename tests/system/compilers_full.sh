#!/bin/bash
# The other compiler and the other options: everything builds without warnings, and clang's build
# works.
. "$(dirname "$0")/../lib/sh.sh"

for option in DEBUG=1 COVERAGE=1 SAN=address,undefined; do
    check "everything builds with $option" \
        make -C "$ROOT" --no-print-directory -j2 "$option" B="$BUILD/variant-$(tr =, - <<<"$option")" all
done

if ! command -v clang >/dev/null; then
    skip "clang builds everything" "clang is not installed"
    exit
fi
clang=$BUILD/variant-clang
check "clang builds the library, the command and the tests without a warning" \
    make -C "$ROOT" --no-print-directory -j2 CC=clang B="$clang" all unit
PRELOAD=$clang/libstagger.so
observe counts 2 "$PROGRAMS/counts_c"
check "a program runs under clang's library" ran_well counts
check "its calls are in the archive once" archive_agrees counts.trace counts.out
STAGGER=$clang/stagger
check "the command built by clang reports on it" report_json counts.trace counts.json
