#!/bin/bash
# stagger doctor names each problem of the machine on one line, with a remedy. Stand-ins produce
# each bad state.
. "$(dirname "$0")/../lib/sh.sh"

# Loads the build's library without preloading the sanitizer's runtime first.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

# doctor NAME ARGUMENT...: its lines in NAME.out, its complaints in NAME.err, its status in $status
doctor() {
    local name=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$STAGGER" doctor "$@" >"$name.out" 2>"$name.err" </dev/null
    status=$?
}
# says NAME HEALTH CHECK REGEX
says() { has "$1.out" "^$2 +$3  +$4"; }

# ---- this machine ----------------------------------------------------------------------------------------

doctor here
check "there is one line for each check, and nothing else" all 'is 14 "$(wc -l <here.out)"' 'empty here.err' \
    'is 14 "$(grep -cE "^(ok  |note|BAD )  [A-Za-z].{12}  " here.out)"'
check "the exit status says whether a check is bad" all 'is "$(grep -c "^BAD" here.out | sed "s/^[1-9].*/1/")" "$status"'
check "it finds the library, and its companion loads" all 'says here ok libstagger.so "$LIB"' \
    'says here ok archive "libstagger-otf2.so loads"'
if command -v "$MPIEXEC" >/dev/null; then
    check "the launcher is found, and the library reaches ranks" all \
        'doctor mpich --launcher "$MPIEXEC"' 'says mpich ok launcher "$(command -v "$MPIEXEC")"' \
        'says mpich "(ok|note)" ranks "the library reaches "'
    check "MPI's version is reported" has here.out '^(ok  |note)  MPI  .*(MPICH Version|no MPI)'
else
    skip "the launcher is found, and the library reaches ranks" "no MPICH"
fi

# ---- launchers -------------------------------------------------------------------------------------------

mkdir bin empty
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
# shellcheck disable=SC2016 # for the stand-ins
{
    stand_in good 'shift 2; "$@"; "$@"'
    stand_in drops 'shift 2; unset LD_PRELOAD; "$@"; "$@"'
    stand_in half 'shift 2; "$@"; unset LD_PRELOAD; "$@"'
    stand_in fails 'echo "no slots: ask somebody" >&2; exit 3'
    stand_in one 'shift 2; "$@"'
    stand_in hangs 'sleep 600 & echo $! >hangs.pid; wait'
    stand_in bound 'shift 2; taskset -c 0 "$@"; taskset -c 0 "$@"'
}
# The launcher is a script and runs tools of this shell; these get the library preloaded, too.
doctor good --launcher bin/good
check "a launcher that passes the environment on is good" says good ok ranks 'the library reaches 2 of 2$'
doctor drops --launcher bin/drops
check "a launcher that drops LD_PRELOAD is bad, with a remedy" all 'is 1 "$status"' \
    'says drops BAD ranks "the library reaches 0 of 2 ranks: .*; start programs like this: mpiexec -n 4 stagger run ./app"'
doctor half --launcher bin/half
check "a launcher that passes LD_PRELOAD to some ranks only is bad" says half BAD ranks 'the library reaches 1 of 2 ranks'
doctor fails --launcher bin/fails
check "a launcher that fails is bad, with its own message" all 'is 1 "$status"' \
    'says fails BAD ranks "bin/fails -n 2 starts 0 ranks: no slots: ask somebody$"'
doctor one --launcher bin/one
check "a launcher that starts too few ranks is bad" says one BAD ranks 'bin/one -n 2 starts 1 rank: '
doctor hangs --launcher bin/hangs --limit 1
check "a launcher that hangs is bad, and doctor ends it" all 'is 1 "$status"' 'says hangs BAD ranks "bin/hangs -n 2 does not end in 1 s"' \
    '[ ! -s hangs.pid ] || gone "$(cat hangs.pid)"'
doctor none --launcher bin/nowhere
check "a missing launcher is bad" all 'is 1 "$status"' "says none BAD launcher \"no program 'bin/nowhere'\""
if [ "$(nproc)" -gt 1 ]; then
    doctor bound --launcher bin/bound
    check "ranks that are bound to one processor are noted" \
        says bound note ranks 'the library reaches them, but all are bound to processor 0; see .*-bind-to none'
else
    skip "ranks that are bound to one processor are noted" "one processor"
fi
timeout "$PROGRAM_SECONDS" env PATH="$WORK/empty" "$STAGGER" doctor >without.out 2>without.err </dev/null
status=$?
check "without MPI, doctor works and says so" all 'is 1 "$status"' 'empty without.err' 'is 14 "$(wc -l <without.out)"' \
    'says without BAD launcher "neither mpiexec.mpich nor mpiexec.hydra is in PATH; install MPICH"' \
    'says without BAD ranks "not tried: there is no launcher"'

# ---- libraries -------------------------------------------------------------------------------------------

mkdir -p tree/bin tree/lib/stagger bare/bin
cp "$STAGGER" tree/bin/stagger && cp "$LIB" tree/lib/stagger/ && cp "$STAGGER" bare/bin/stagger
# from NAME STAGGER: the executable of another tree
from() {
    timeout "$PROGRAM_SECONDS" "$2" doctor --launcher "$WORK/bin/good" >"$1.out" 2>"$1.err" </dev/null
    status=$?
}
from tree tree/bin/stagger
check "without the companion, doctor says that there is no archive" all 'is 1 "$status"' \
    'says tree BAD archive "runs leave logs but no archive: .*libstagger-otf2.so.*; install libotf2"'
from bare bare/bin/stagger
check "without the library, doctor says that nothing is recorded" all 'is 1 "$status"' \
    'says bare BAD libstagger.so "not found beside this program"' 'says bare BAD ranks "not tried: there is no library"'
# mpi NAME VERSION SONAME...: a stand-in for an MPI of that version
mpi() {
    local name=$1 version=$2 soname
    shift 2
    mkdir -p "$name"
    printf '#include <string.h>\nint MPI_Get_library_version(char *v, int *n)\n{ strcpy(v, "%s"); *n = strlen(v); return 0; }\n' \
        "$version" >"$name.c"
    for soname in "$@"; do
        "${CC:-cc}" -shared -fPIC "$name.c" -o "$name/$soname" || return 1
    done
}
if mpi mpich 'MPICH Version:\t9.9\nMore of it' libmpich.so.12; then
    LD_LIBRARY_PATH=$WORK/mpich doctor version --launcher bin/good
    check "the first line of MPI's version is reported" says version ok MPI 'libmpich.so.12: MPICH Version: 9.9$'
fi

# ---- the machine -----------------------------------------------------------------------------------------

taskset -c 0 "$STAGGER" doctor --launcher bin/good >mask.out 2>mask.err
if [ "$(nproc --all)" -gt 1 ]; then
    check "an affinity mask is noted" says mask note processors '1 of [0-9]+ by the affinity mask'
fi
OMP_NUM_THREADS=$(nproc) OMP_WAIT_POLICY=active "$STAGGER" doctor --launcher bin/good >active.out 2>active.err
OMP_WAIT_POLICY=PASSIVE "$STAGGER" doctor --launcher bin/good >passive.out 2>passive.err
check "threads of OpenMP that spin are noted if two ranks have more of them than processors" all \
    '[ "$(nproc)" -eq 1 ] || says active note OpenMP "with 2 ranks, $(nproc) threads each spin on $(nproc) processors"' \
    'says passive ok OpenMP "waiting threads sleep"'
# Replaces a function of the C library with one that answers differently.
printf '#include <errno.h>\n#include <sys/uio.h>\nssize_t process_vm_readv(pid_t p, const struct iovec *l, unsigned long n, const struct iovec *r, unsigned long m, unsigned long f)\n{ errno = EPERM; return -1; }\n' >refused.c
"${CC:-cc}" -shared -fPIC refused.c -o refused.so &&
    LD_PRELOAD=$PWD/refused.so "$STAGGER" doctor --launcher bin/good >refused.out 2>refused.err
check "a note says when ranks cannot read each other's memory" \
    says refused note 'single copy' "ranks may not read each other's memory \(Operation not permitted"
mkdir readonly
STAGGER_DIR=/proc/new doctor directory --launcher bin/good
check "a directory without write permission is bad" all 'is 1 "$status"' \
    'says directory BAD directory "runs cannot write into /proc: .*; stagger run --output DIR"'

# in_namespace COMMANDS: runs them as root in a mount namespace of their own
in_namespace() { unshare --mount --map-root-user sh -c "$1" 2>namespace.err || unshare --mount sh -c "$1" 2>namespace.err; }
if in_namespace 'mount -t tmpfs none /dev/shm' && [ -d /sys/class ]; then
    in_namespace "mount -t tmpfs -o size=1m none /dev/shm && '$STAGGER' doctor --launcher bin/good >shm.out 2>shm.err"
    check "a small /dev/shm is noted" says shm note 'shared memory' '1.0 MiB free in /dev/shm: .*; docker run --shm-size'
    in_namespace "mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/mlx9_0 && ulimit -l 64 &&
        '$STAGGER' doctor --launcher bin/good >rdma.out 2>rdma.err"
    check "an unusable device is noted, with the reason" says rdma note 'RDMA devices' 'mlx9_0 is there, but not used: '
    check "a small limit of locked memory is noted when there is a device" \
        says rdma note 'locked memory' 'a process may lock 0.1 MiB, RDMA needs up to [0-9]+ MiB; memlock unlimited'
else
    skip "a small /dev/shm is noted" "no namespace of mounts: $(head -1 namespace.err)"
fi
check "without a device the limit does not matter" \
    has <(ulimit -l 64 && "$STAGGER" doctor --launcher bin/good) '^ok +locked memory +(0 MiB a process, not needed|[0-9]+ MiB a process)'

# ---- the command line ------------------------------------------------------------------------------------

STAGGER_DEPHT=3 doctor settings --launcher bin/good
check "wrong settings get their line" has settings.err '^stagger: unknown variable STAGGER_DEPHT'
doctor extra here
check "doctor accepts no arguments" all 'is 2 "$status"' "has extra.err \"unexpected argument 'here'\""
for limit in 0 x 3601; do
    doctor limit --limit "$limit"
    check "a limit of $limit is refused" all 'is 2 "$status"' "has limit.err \"a number from 1 to 3600, not '$limit'\""
done
