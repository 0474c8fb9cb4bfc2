#!/bin/bash
# The report of ten million message events: prints its time, and checks that its memory equals that
# of a tenth of them.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
golden_update=
. "$ROOT/tests/report/golden.bash"

fixtures report/make_messages

# measured DIR: KiB and seconds of its report, which is in DIR.json
measured() {
    "$PYTHON" -c 'import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, round(time.monotonic() - start, 1))' \
        "$1.json" "$STAGGER" report --json "$1"
}

./make_messages ring 8 14000 tenth && ./make_messages ring 8 140000 whole || exit 1
tenth=$(measured tenth) && whole=$(measured whole) || exit 1
echo "# 1 008 000 events: ${tenth% *} KiB, ${tenth#* } s; 10 080 000: ${whole% *} KiB, ${whole#* } s"
check "every message is matched, and every wait found" is "1120000 140000 8960000" "$(json whole.json \
    '"%d %d %d" % tuple(d["wait_states"][n] for n in ("matched_messages", "waits", "wait_ns"))')"
if grep -q __asan_init "$STAGGER"; then
    skip "the report takes less than 200 MB" "a sanitizer build"
else
    check "the report takes less than 200 MB" within 1 200000 "${whole% *}"
    check "ten times the events need hardly more memory" within 1 $((${tenth% *} + 8000)) "${whole% *}"
fi
