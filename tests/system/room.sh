#!/bin/bash
# Archives that run out of space: wherever the disk or a limit stops the writing, the job ends as
# usual, one line reports it, and the logs later give the archive.
. "$(dirname "$0")/room.bash"

if disk 14m; then
    for size in 14m 17m 20m; do
        disk "$size" && job "$WORK/disk/a"
        check "a job on a disk of $size ends well, and its logs give the archive" held "$WORK/disk/a"
    done
    disk 17m && job "$WORK/disk/a"
    check "its line says what is missing and gives the remedy" has job.err \
        '^stagger: .*/a: cannot write the trace: No space left.*; the logs are kept: run .stagger recover '
else
    skip "jobs on small disks end well" "no file system can be mounted"
fi

for size in 7000 9000; do
    rm -rf limited
    job "$WORK/limited" limit "$size"
    check "a job with files limited to $size KiB ends well, and its logs give the archive" held "$WORK/limited"
done

# Logs of a job that ends without MPI_Finalize.
observe logs 2 "$PROGRAMS/ending" kill "$rounds"
for size in 14m 17m 20m; do
    if disk "$size" && cp -r logs.trace "$WORK/disk/a"; then
        check "stagger recover on a disk of $size makes an archive or prints one line" \
            recovers_or_says "$WORK/disk/a"
    fi
done
for size in 1 100 7000; do
    rm -rf again && cp -r logs.trace again
    check "stagger recover with files limited to $size KiB makes an archive or prints one line" recovers_or_says again limit "$size"
    check "with enough space afterwards, it makes the archive ($size KiB)" recoverable again
done
