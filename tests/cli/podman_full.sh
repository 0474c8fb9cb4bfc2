#!/bin/bash
# Runs MPI inside a Podman container as users do: read-only root, small /dev/shm, limited memory.
. "$(dirname "$0")/../lib/sh.sh"
title="ranks in a container of Podman's have the library"

for command in podman runc; do
    command -v "$command" >/dev/null || { skip "$title" "$command is not installed"; exit 0; }
done
[ "$(id -u)" = 0 ] || { skip "$title" "not root"; exit 0; }

# Provides this machine's programs and libraries read-only, and a writable folder.
mkdir root store run room
for name in usr etc bin sbin lib lib64 dev proc sys tmp var run; do
    if [ -L "/$name" ]; then cp -a "/$name" root/; else mkdir "root/$name"; fi
done
# contained OPTION... -- COMMAND...
contained() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" podman --runtime runc --cgroup-manager=cgroupfs --storage-driver=vfs \
        --root "$PWD/store" --runroot "$PWD/run" run --rm --network=none --read-only \
        --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
        -v /usr:/usr:ro -v /etc:/etc:ro -v "$ROOT:$ROOT:ro" -v "$BUILD:$BUILD:ro" -v "$PWD/room:$PWD/room" \
        "${options[@]+"${options[@]}"}" --rootfs "$PWD/root" "$@" </dev/null
}
if ! contained -- true 2>why; then
    skip "$title" "no container runs here: $(tail -n 1 why)"
    exit 0
fi
plain 2 "$PROGRAMS/calls" 9 >plain.out 2>&1

# runs NAME OUTPUT OPTION...: stagger run in a container with these options
runs() {
    local name=$1 output=$2
    shift 2
    contained "$@" -- env UCX_TLS=sysv,tcp,self "$STAGGER" run -o "$output" "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 \
        >"$name.out" 2>"$name.err"
    status=$?
}
recorded() {
    is 0 "$status" && archive_agrees "room/$1" "$1.out" && same <(own_counts plain.out) <(own_counts "$1.out") && return
    cat "$1.err"
    return 1
}
runs usual "$PWD/room/usual"
check "$title" all 'recorded usual' 'has usual.err "^Where ranks wait for others "'
runs limited "$PWD/room/limited" --memory 256m --shm-size 64k
check "... they have it with a /dev/shm of 64 KiB and a memory limit" recorded limited
runs nowhere /nowhere
check "when the output cannot be written, one line says so and the program runs" all 'is 0 "$status"' \
    'same <(own_counts plain.out) <(own_counts nowhere.out)' 'has_lines nowhere.err "^stagger: .*/nowhere.*Read-only" 1'
