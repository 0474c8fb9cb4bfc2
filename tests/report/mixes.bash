# Sourced after sh.sh by the tests of the causes of lateness: runs mixed_causes, and checks that the
# report has the causes and shares that the program measured itself.
# shellcheck shell=bash
. "$ROOT/tests/lib/groups.bash"
MIXED=$PROGRAMS/mixed_causes
MIX_FILE=$WORK/data # what is read
head -c 8000000 /dev/urandom >"$MIX_FILE"

# Name, ranks, rounds, steps (mixed_causes.c) and, after |, the number of other ranks that wait for
# a rank's step (shares.py). Times are long because of noise: the kernel distinguishes user from
# system time by ticks of 4 ms.
MIXES=(
    'twice-the-work   2  30 0:work:4000 1:work:8000 | 1:work=1 0:work=-1'
    'sleep            2  20 1:sleep:4000 | 1:sleep=1'
    'faults           2  60 1:faults:6000 | 1:faults=1'
    'hog              2  30 1:hog:4000 | 1:hog=1'
    'rival            2  30 1:rival:4000 | 1:rival=1'
    'hog-and-rival    2  60 1:hog:4000 1:rival:8000 | 1:hog=1 1:rival=1'
    'read             2  20 1:read:1 | 1:read=1'
    'two-back         4  20 0:sleep:6000 0>1 1>2 | 0:sleep=1 0:steps=2'
    'work-and-sleep   2  30 1:work:6000 1:sleep:4000 | 1:work=1 1:sleep=1'
    'faults-and-work  2 120 1:faults:6000 1:work:4000 | 1:faults=1 1:work=1'
    'sleep-or-work    2  40 0:sleep:8000 or 1:work:12000 | 0:sleep=1 1:work=1'
    'sleep-then-work  3  30 1:sleep:5000 1>2 2:work:5000 | 1:sleep=1 2:work=2'
    'in-calls         2  20 1:insleep:4000 1:inwork:4000 | 1:insleep=1 1:inwork=1'
    'hog-in-calls     2  30 1:inhog:4000 | 1:inhog=1'
    'rival-in-calls   2  30 1:inrival:4000 | 1:inrival=1'
    'both-in-calls    2  60 1:inhog:4000 1:inrival:8000 | 1:inhog=1 1:inrival=1'
    'made-up-for      2  30 0:sleep:3000 1:work:9000 | 1:work=1'
)

# tells_shares NAME TOLERANCE KNOWN...: checks the report of the observed run
tells_shares() {
    ran_well "$1" && report_json "$1.trace" "$1.json" &&
        "$PYTHON" "$ROOT/tests/report/shares.py" "$1.json" "$1.out" "${@:2}"
    local result=$?
    rm -rf "$1.trace"
    return $result
}

# run_mix MIX TOLERANCE: runs it once; its causes are the known ones, with shares at most TOLERANCE
# off.
run_mix() {
    local name ranks rounds steps known
    read -r name ranks rounds steps <<<"${1%|*}"
    known=${1#*|}
    # shellcheck disable=SC2086 # words
    STAGGER_CAUSES=all observe "$name" "$ranks" "$MIXED" "$rounds" "$MIX_FILE" $steps
    # shellcheck disable=SC2086
    tells_shares "$name" "$2" $known
}

# reads_from_disk: once it was dropped from the cache the file is read from a device
reads_from_disk() {
    sync "$MIX_FILE"
    "$PYTHON" -c 'import os, sys
def read_bytes():
    return next(int(line.split()[1]) for line in open("/proc/self/io") if line.startswith("read_bytes:"))
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
before = read_bytes()
while os.read(file, 65536):
    pass
sys.exit(read_bytes() - before < os.fstat(file).st_size)' "$MIX_FILE" 2>disk.err
}

# make_quota: creates a group limited to a tenth of a processor, in $group
make_quota() {
    if make_group 2 cpu cpu.max; then
        echo "10000 100000" >"$group/cpu.max"
    else
        make_group 1 cpu cpu.cfs_quota_us && echo 100000 >"$group/cpu.cfs_period_us" &&
            echo 10000 >"$group/cpu.cfs_quota_us"
    fi 2>/dev/null
}

# run_held TOLERANCE [KIND]: as run_mix, with only rank 1 in such a group
run_held() {
    # shellcheck disable=SC2016 # the inner shell's
    local in_group='echo $$ >"$0"/cgroup.procs && exec "$@"'
    STAGGER_CAUSES=all observe held 1 "$MIXED" 8 - : \
        -n 1 sh -c "$in_group" "$group" "$MIXED" 8 "$group/cpu.stat" "1:${2:-held}:15000"
    tells_shares held "$1" "1:${2:-held}=1"
}
