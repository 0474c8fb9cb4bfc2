# Sourced by the tests of archives for which there is no room: file systems of a given size, limits
# of file sizes, and what a job and `stagger recover` do there. shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib/sh.sh"

# An unprivileged user mounts in a user namespace, if available.
if [ "$(id -u)" != 0 ] && [ -z "${SG_TEST_NAMESPACE:-}" ] &&
    unshare --user --map-root-user --mount true 2>/dev/null; then
    SG_TEST_NAMESPACE=1 unshare --user --map-root-user --mount bash "$0"
    exit
fi

rounds=33000 # of calls: 99 000 a rank, 6.3 MB of log
compare room 2 "$PROGRAMS/calls" "$rounds"

# disk SIZE: an empty file system of that size at $WORK/disk
disk() {
    umount "$WORK/disk" 2>/dev/null
    mkdir -p "$WORK/disk" && mount -t tmpfs -o "size=$1" tmpfs "$WORK/disk" 2>/dev/null
}
at_exit+=("umount '$WORK/disk' 2>/dev/null")

# job DIRECTORY [PREFIX...]: leaves job.out, job.err and $status
job() {
    local directory=$1
    shift
    STAGGER_DIR=$directory "$@" mpirun_stagger 2 "$PROGRAMS/calls" "$rounds" >job.out 2>job.err
    status=$?
}

# limit KIB COMMAND...: limits files to that size
limit() { (ulimit -f "$1" && shift && "$@"); }

# The program was unaffected: same results, same exit status; at most one line of complaint besides
# those at the start and the end.
unnoticed() {
    is 0 "$status" && lacks job.err 'BAD TERM|assert|Bus error|signal' &&
        same <(own_counts room.plain.out) <(own_counts job.out) &&
        within 1 2 "$(grep -c '^stagger: ' job.err)" && is "" "$(grep -v '^stagger: ' job.err)"
}

# readable DIRECTORY: its archive is readable to the last event
readable() { otf2-print --silent "$1/traces.otf2" && "$STAGGER" report --all "$1" >/dev/null; }

# whole_or_none DIRECTORY: it holds a readable archive, or none and no leftovers of one
whole_or_none() {
    if [ -e "$1/traces.otf2" ]; then
        readable "$1"
    else
        is "" "$(find "$1" -name 'traces*' 2>/dev/null)"
    fi
}

# recoverable DIRECTORY: the archive exists, or `stagger recover` makes it from the logs, where
# there is space
recoverable() {
    rm -rf roomy && cp -r "$1" roomy || return 1
    if [ ! -e roomy/traces.otf2 ]; then
        "$STAGGER" recover roomy >recover.out 2>recover.err || { cat recover.err; return 1; }
    fi
    readable roomy
}

# held DIRECTORY: the invariants after a job that ran out of space. A disk that is full before the
# first call gives no directory at all.
held() {
    unnoticed && { [ ! -e "$1/rank-000000.log" ] && [ ! -e "$1/traces.otf2" ] ||
        { whole_or_none "$1" && recoverable "$1"; }; }
}

# recovers_or_says DIRECTORY [PREFIX...]: leaves an archive and status 0, or no trace of one, status
# 1 and one line, which a limit of file sizes does not suppress
recovers_or_says() {
    "${@:2}" "$STAGGER" recover "$1" 2>&1 >/dev/null | cat >recover.err
    local result=${PIPESTATUS[0]}
    if [ "$result" = 0 ]; then
        readable "$1"
    else
        is 1 "$result" && has_lines recover.err . 1 && has recover.err '^stagger: .*(No space|too large)' &&
            is "" "$(find "$1" -name 'traces*')"
    fi
}
