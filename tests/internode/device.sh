#!/bin/bash
# Reductions of GPU buffers between nodes: MPICH runs all of them, including nonblocking ones, if
# any rank has a driver; with a driver loaded later, data go through host memory.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

export MPIR_CVAR_DEVICE_COLLECTIVES=none # MPICH 4.0.2 crashes in reduces in place at other roots
export HWLOC_COMPONENTS=-levelzero,-opencl,-gl # it would load real drivers beside the stand-ins
libraries=$LIB:$PROGRAMS/libgpumpi.so
driver=$PROGRAMS/drivers/libcuda.so.1
finished() { all 'is 0 "$status"' "has $1.out finished" "lacks $1.err 'BAD TERM|assert'"; }

device() { # NAME ARG...
    local name=$1
    shift
    PRELOAD=$libraries run_across "$name" thread 1 '*=tree' 3 "$PROGRAMS/device" "$driver" "$@"
}

for form in '' posted; do
    device early early one $form
    check "a GPU driver on one rank makes MPICH run reductions on all ranks${form:+, $form}" finished early
    calls_of early
    check "the library still runs barriers${form:+, $form}" all \
        'is mpich "$(algorithms_of early on_device)"' 'is mpich "$(algorithms_of early on_host)"' \
        'is tree "$(algorithms_of early main)"'
    check "one line says so${form:+, $form}" has_lines early.err \
        "^stagger: a rank has a GPU driver: MPICH runs reductions between nodes" 1
done

device late late one
check "a driver loaded after MPI_Init is noticed between nodes" finished late
calls_of late
check "its data go through the host's memory" is tree "$(algorithms_of late on_device)"

until_printed posted.err '^stagger: MPI_I' device posted late one posted
check "a nonblocking call with a GPU buffer ends the job with a message" all \
    'within 1 123 "$status"' \
    "has posted.err '^stagger: MPI_I[a-z]+ has a buffer in GPU memory.*; aborting the job'"
