#!/bin/bash
# timeout: 900
# Linux's own Yama, on a host of the lab: with ptrace_scope 1 and no privilege, ranks read each
# other's memory once they have named their launcher, and no other process does.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "reading other ranks' memory under Yama" -c 2 -m 1024 -t 800

scope=/proc/sys/kernel/yama/ptrace_scope
if ! echo 1 >$scope; then
    skip "ranks read each other's memory under Yama" "the lab's kernel is without it"
    exit 0
fi
USER_ID=65534

# unprivileged NAME COMMAND...: three ranks of the user nobody, in their own directory
unprivileged() {
    local name=$1 place
    shift
    place=$(mktemp -d /tmp/yama-XXXXXX)
    chmod 777 "$place"
    (cd "$place" && setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups --inh-caps=-all \
        --bounding-set=-all env HOME="$PWD" YAMA_DIR="$PWD" YAMA_SCOPE=real \
        STAGGER_DIR="$PWD/trace" timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD \
        "$PROGRAMS/libyama.so:$LIB" -n 3 "$@" </dev/null) >"$name.out" 2>"$name.err"
    status=$?
    touch "$place/calls" "$place/reads"
    mv "$place" "$name.yama"
}
ended_well() { is 0 "$status" || { cat "$1.err"; return 1; }; }
# reads_of NAME BYTES: the number of reads that returned more than BYTES
reads_of() { awk -v low="$2" '$2 > low { reads++ } END { print reads + 0 }' "$1.yama/reads"; }

UCX_TLS=posix,self UCX_MODULES='^cma' unprivileged named "$PROGRAMS/large" 1000000 2
check "ranks that name their launcher can read each other" all 'ended_well named' \
    'is 12 "$(wc -l <named.yama/calls)"' '[ "$(reads_of named 1000)" -ge 6 ]'
check "... the first try, before naming it, was refused" has named.yama/reads ' -1$'
check "... no later read was refused" is "" \
    "$(awk '$2 > 1000 { large = 1 } large && $2 < 0' named.yama/reads)"
UCX_TLS=sm,self UCX_MODULES='*' unprivileged ucx "$PROGRAMS/large" 1000000 2
check "processes that UCX has opened are read as they are" all 'ended_well ucx' \
    '[ "$(reads_of ucx 1000)" -ge 6 ]' "lacks ucx.yama/reads ' -1$'" \
    "has ucx.yama/calls ' -1$'" "lacks ucx.yama/calls ' [0-9]'"
echo 2 >$scope
UCX_TLS=posix,self UCX_MODULES='^cma' unprivileged refused "$PROGRAMS/large" 100000 2
check "with ptrace_scope 2 ranks copy operands" all 'ended_well refused' 'is 0 "$(reads_of refused 0)"'
