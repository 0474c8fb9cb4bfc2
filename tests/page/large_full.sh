#!/bin/bash
# The page of a thousand ranks, ten million events and messages between all ranks: below 1 MB, made
# within 1 GB of memory. Prints the time that it takes.
. "$(dirname "$0")/../lib/sh.sh"

for fixture in make_large make_traffic; do
    "${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
        "$ROOT/tests/report/$fixture.c" -o $fixture -lotf2 ||
        { echo "not ok - the fixture's writer compiles"; exit 1; }
done
./make_large 1000 2500 40 large && ./make_traffic 1000 600 large || exit 1

measured=$("$PYTHON" -c 'import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, round(time.monotonic() - start, 1))' \
    "$STAGGER" report --html large.html large) || exit 1
echo "# ten million events: ${measured% *} KiB, ${measured#* } s, $(stat -c %s large.html) bytes"
check "the page for ten million events is below 1 MB" within 1 999999 "$(stat -c %s large.html)"
check "the page is sound" "$PYTHON" "$ROOT/tests/page/check_page.py" large.html
if grep -q __asan_init "$STAGGER"; then
    skip "the page is made within 1 GB" "a sanitizer build"
else
    check "the page is made within 1 GB" within 1 1000000 "${measured% *}"
fi
