#!/bin/bash
# The export of ten million events, within 500 MB of memory. Prints the time that it takes.
. "$(dirname "$0")/../lib/sh.sh"

"${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
    "$ROOT/tests/report/make_large.c" \
    -o make_large -lotf2 || { echo "not ok - the fixture's writer compiles"; exit 1; }
./make_large 1000 2500 40 large || exit 1

if grep -q __asan_init "$STAGGER"; then
    skip "ten million events are exported within 500 MB" "a sanitizer build"
    exit 0
fi
measured=$("$PYTHON" -c 'import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, round(time.monotonic() - start, 1))' \
    "$STAGGER" export --perfetto large.json large) || exit 1
echo "# ten million events: ${measured% *} KiB, ${measured#* } s, $(stat -c %s large.json) bytes"
check "ten million events are exported within 500 MB" within 1 500000 "${measured% *}"
check "all calls are there" is 2500000 "$(grep -c '"cat":"collective"' large.json)"
