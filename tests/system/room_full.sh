#!/bin/bash
# timeout: 3600
# Every point at which the disk or a limit of file sizes can stop the writing of a log or an
# archive.
. "$(dirname "$0")/room.bash"

# Megabytes: from too little for a log's first segment to enough for everything.
sizes=(1 2 3 {4..40})
if disk 1m; then
    for size in "${sizes[@]}"; do
        disk "${size}m" && job "$WORK/disk/a"
        check "a job on a disk of $size MiB ends well, and its logs give the archive" \
            held "$WORK/disk/a"
    done
    observe logs 2 "$PROGRAMS/ending" kill "$rounds"
    for size in "${sizes[@]}"; do
        disk "${size}m" || break
        cp -r logs.trace "$WORK/disk/a" 2>/dev/null || continue # no room for the logs alone
        check "stagger recover on a disk of $size MiB makes an archive or prints one line" \
            recovers_or_says "$WORK/disk/a"
        check "with enough space afterwards, it makes the archive ($size MiB)" recoverable "$WORK/disk/a"
    done
else
    skip "jobs on small disks end well" "no file system can be mounted"
    observe logs 2 "$PROGRAMS/ending" kill "$rounds"
fi

# KiB. MPICH itself writes files; below their size nothing runs.
for size in 3000 {4000..12000..250}; do
    limit "$size" plain 1 "$PROGRAMS/calls" 5 >/dev/null 2>&1 || continue
    rm -rf limited
    job "$WORK/limited" limit "$size"
    check "a job with files limited to $size KiB ends well" held "$WORK/limited"
done
for size in 0 1 2 4 8 64 100 1000 {2000..12000..500}; do
    rm -rf again && cp -r logs.trace again
    check "stagger recover with files limited to $size KiB makes an archive or prints one line" \
        recovers_or_says again limit "$size"
    check "with enough space afterwards, it makes the archive ($size KiB)" recoverable again
done
