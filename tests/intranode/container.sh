#!/bin/bash
# Under a container's limits: a control group with little memory left, a refused system call, and a
# small /dev/shm. The program survives with its results, and one line names what is unavailable.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/lib/groups.bash"

# ---- memory ------------------------------------------------------------------------------------------

about="when a control group leaves too little memory for all segments"
communicators=40 # with 9 MiB each
if make_group 2 memory memory.max; then
    usage=$group/memory.current limit=$group/memory.max
elif make_group 1 memory memory.limit_in_bytes; then
    usage=$group/memory.usage_in_bytes limit=$group/memory.limit_in_bytes
else
    usage=
fi
# grouped NAME ALGORITHM: runs all reductions of all communicators with it, in the group
grouped() {
    (
        echo "$BASHPID" >"$group/cgroup.procs" || exit 1
        STAGGER_MEMORY=1g STAGGER_SLOTS=1024 run_by "$1" "$2" 2 "$PROGRAMS/memory" "$communicators" "$usage"
        echo "$status" >"$1.status"
    )
    status=$(cat "$1.status")
}
if [ -n "$usage" ]; then
    grouped without mpich
    taken=$(awk '$1 == "made" { print $3 }' without.out)
    check "stock MPICH runs in the group" all 'is 0 "$status"' '[ "$taken" -gt 0 ]'
    echo $((taken + 64 * 1048576)) >"$limit"
    grouped few handoff
    check "$about, the program survives and has its results" all 'is 0 "$status"' 'has few.out "^again"' \
        'archive_sound few.trace' || cat few.err
    check "... one line says so" all 'has_lines few.err "^stagger: .*no shared memory .Cannot allocate memory.*" 1' \
        'has_lines few.err "^stagger: " 3'
    check "... the communicators without memory run in MPICH" \
        [ "$(awk '$1 == "made" { print int($2 / 1048576) }' few.out)" -gt 8 ]
else
    skip "$about" "no memory control group can be made here"
fi

# ---- system calls ------------------------------------------------------------------------------------

# MPICH tests only process_vm_writev before it relies on both calls.
cat >refused.py <<'END'
import ctypes, os, struct, sys
number = {"x86_64": 310, "aarch64": 270}[os.uname().machine]
steps = (0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)  # EPERM; allow
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
if libc.prctl(22, 2, program, 0, 0) != 0:  # PR_SET_SECCOMP
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
END
about="when process_vm_readv is refused the program runs as without the library"
refused=("$PYTHON" "$WORK/refused.py")
if ! "${refused[@]}" true 2>why; then
    skip "$about" "$(tail -n 1 why)"
else
    observe refused 2 "${refused[@]}" "$PROGRAMS/calls" 9
    timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >plain.out 2>&1 </dev/null
    check "$about" all 'ran_well refused' 'same <(own_counts plain.out) <(own_counts refused.out)'
fi

# ---- /dev/shm ------------------------------------------------------------------------------------------

about="with a /dev/shm of 64 KiB the program runs as without the library"
# shellcheck disable=SC2016 # expanded by the inner shell
small=(unshare --mount sh -c 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$@"' -)
[ "$(id -u)" = 0 ] || small=(unshare --user --map-root-user "${small[@]:1}")
# MPICH's own shared memory would otherwise be there.
export UCX_TLS=sysv,self
if ! "${small[@]}" true 2>why; then
    skip "$about" "$(tail -n 1 why)"
    exit
fi
"${small[@]}" timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >plain.out 2>&1 </dev/null
if [ $? -ne 0 ]; then
    skip "$about" "MPICH itself does not run there"
    exit
fi
for rules in '*=handoff' '*=srm'; do
    rm -rf small.trace
    STAGGER_DIR=$WORK/small.trace STAGGER_RULES=$rules timeout --kill-after=5 "$PROGRAM_SECONDS" \
        "${small[@]}" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n 2 "$PROGRAMS/calls" 9 >small.out 2>small.err </dev/null
    status=$?
    check "$about ($rules)" all 'ran_well small' 'same <(own_counts plain.out) <(own_counts small.out)' \
        'archive_agrees small.trace small.out'
done
