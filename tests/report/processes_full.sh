#!/bin/bash
# Memory of a report: of a process for its share of 1024 locations with many events, and of one
# process for 4096 locations with few.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
golden_update=
. "$ROOT/tests/report/golden.bash"

fixtures report/make_large
./make_large 1024 1100 40 many && ./make_large 4096 30 10 few || exit 1
cat >measure.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True, close_fds=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END

# most N DIR: the KiB of the process with the most memory; the report is in N.json
most() {
    "$MPIEXEC" -n "$1" bash -c '"$1" measure.py "$2.$PMI_RANK" "$3" report --json "$4"' measure \
        "$PYTHON" "$1" "$STAGGER" "$2" | sort -n | tail -n 1 && cp "$1.0" "$1.json"
}

one=$(most 1 many) && eight=$(most 8 many) || exit 1
echo "# 1024 locations, 4.5 million events: $one KiB in one process, at most $eight in each of eight"
check "eight processes report what one does" cmp 1.json 8.json
few=$(most 1 few) || exit 1
echo "# 4096 locations, 0.5 million events: $few KiB"
if grep -q __asan_init "$STAGGER"; then
    skip "memory is bounded" "a sanitizer build"
else
    check "each of eight processes takes at most half of the memory of one" within 1 $((one / 2)) "$eight"
    check "4096 locations with few events take at most 100 MB" within 1 100000 "$few"
fi
