#!/bin/bash
# In the archive's system tree, ranks are placed on the core or socket that their affinity allows.
. "$(dirname "$0")/../lib/sh.sh"

read -r first last < <("$PYTHON" -c 'import os; a = sorted(os.sched_getaffinity(0)); print(a[0], a[-1])')

# places MASK: the kernel's place, below the host, for ranks with this affinity mask.
places() {
    "$PYTHON" - "$1" <<'END'
import sys

def number(cpu, name):
    return int(open(f"/sys/devices/system/cpu/cpu{cpu}/topology/{name}").read())

cpus = sorted({int(cpu) for cpu in sys.argv[1].split(",")})
sockets = {number(cpu, "physical_package_id") for cpu in cpus}
cores = {number(cpu, "core_id") for cpu in cpus}
path = []
if len(sockets) == 1 and min(sockets) >= 0:
    path.append(f"socket {min(sockets)}")
    if len(cores) == 1 and min(cores) >= 0:
        path.append(f"core {min(cores)}")
print(*path, sep="/")
END
}

# found NAME RANK: the rank's place in the archive, below the host.
found() {
    "$PYTHON" "$ROOT/tests/lib/check_archive.py" --json found.json "$1.trace/traces.otf2" >check.out || cat check.out
    "$PYTHON" -c 'import json, sys; print(*json.load(open("found.json"))["places"][sys.argv[1]][1:], sep="/")' "$2"
}

if [ ! -r "/sys/devices/system/cpu/cpu$first/topology/core_id" ]; then
    skip "ranks are placed on cores" "the kernel does not tell of them"
    exit
fi
observe bound 2 taskset -c "$first" "$PROGRAMS/cg" 16
check "a rank bound to a processor is placed on its core" all 'ran_well bound' 'archive_sound bound.trace' \
    'is "$(places "$first")" "$(found bound 0)"' 'is "$(places "$first")" "$(found bound 1)"'
observe wide 2 taskset -c "$first,$last" "$PROGRAMS/cg" 16
check "a rank with several processors is placed on their common ancestor" all 'ran_well wide' \
    'archive_sound wide.trace' 'is "$(places "$first,$last")" "$(found wide 0)"'
