#!/bin/bash
# Reductions of GPU buffers, which the host must not touch: MPICH runs them on all ranks, and the
# library runs those of host buffers. Stand-ins replace the drivers and an MPICH that takes such
# buffers; a host access to one ends the program.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

export MPIR_CVAR_DEVICE_COLLECTIVES=none # MPICH 4.0.2 crashes in reduces in place at other roots
export HWLOC_COMPONENTS=-levelzero,-opencl,-gl # it would load real drivers beside the stand-ins
libraries=$LIB:$PROGRAMS/libgpumpi.so
cuda=$PROGRAMS/drivers/libcuda.so.1
hip=$PROGRAMS/drivers/libamdhip64.so.6
ze=$PROGRAMS/drivers/libze_loader.so.1

# device NAME RULE RANKS ARG...
device() {
    local name=$1 rule=$2 ranks=$3
    shift 3
    PRELOAD=$libraries run_by "$name" "$rule" "$ranks" "$PROGRAMS/device" "$@"
}
finished() { all 'is 0 "$status"' "has $1.out finished" "lacks $1.err 'BAD TERM|assert'"; }

PRELOAD=$PROGRAMS/libgpumpi.so:$PROGRAMS/libpatient.so observe stock 3 "$PROGRAMS/device" "$cuda" early one
check "the stand-in for an MPICH with GPU support accepts GPU buffers on its own" finished stock

for driver in "$cuda" "$hip" "$ze"; do
    of=${driver##*/}
    device early srm 3 "$driver" early all
    check "buffers of ${of%%.*} give the right results" finished early
    calls_of early
    check "MPICH runs their calls (${of%%.*})" is mpich "$(algorithms_of early on_device)"
    check "the library runs calls with host buffers (${of%%.*})" is srm "$(algorithms_of early on_host)"
    check "one line says so (${of%%.*})" \
        has_lines early.err "^stagger: MPI_Allreduce has buffers in GPU memory" 1
    check "the calls left to MPICH are counted (${of%%.*})" has_lines early.err \
        "^stagger: ranks called reductions or broadcasts with buffers in GPU memory [1-9][0-9]* times" 1
done

# hwloc loads the drivers' libraries even on machines without a GPU.
devices=$(ls -d /dev/nvidia* /dev/nvmap /dev/dxg /dev/kfd /dev/dri/renderD* /dev/accel/accel* 2>/dev/null)
if [ -n "$devices" ]; then
    skip "drivers without a device change nothing" "this machine has a device: ${devices%%$'\n'*}"
else
    PRELOAD=$LIB:$cuda:$hip:$ze run_by without srm 3 "$PROGRAMS/large" 100 5
    calls_of without
    check "drivers without a device change nothing" all 'gave without' 'ran_by without srm main'
    PRELOAD=$LIB:$cuda:$hip:$ze STAGGER_RANKS_PER_NODE=1 run_by across tree 3 "$PROGRAMS/large" 100 5
    calls_of across
    check "... they change nothing between nodes, either" all 'gave across' 'ran_by across tree main' 'lacks across.err GPU'
fi

for algorithm in srm handoff; do
    device one "$algorithm" 3 "$cuda" early one
    check "one rank's GPU buffers make MPICH run the call on all ranks ($algorithm)" finished one
    calls_of one
    check "all ranks record MPICH's algorithm ($algorithm)" is mpich "$(algorithms_of one on_device)"
    in_turn all one
    for who in "${turn[@]}"; do
        device late "$algorithm" 3 "$cuda" late "$who"
        check "a driver loaded after MPI_Init is noticed ($algorithm, $who)" finished late
        calls_of late
        check "its data go through the host's memory ($algorithm, $who)" all \
            'is "$algorithm" "$(algorithms_of late on_device)"' \
            "has late.err \"^stagger: rank 2: .* the driver .libcuda.so. was loaded after\""
    done
done

PRELOAD=$libraries:$ze run_by second srm 3 "$PROGRAMS/device" "$cuda" late all
check "a second driver is noticed" finished second
calls_of second
check "MPICH runs the calls with its buffers" is mpich "$(algorithms_of second on_device)"

device none srm 2 "$cuda" late one posted
check "nonblocking calls inside a node are MPICH's with any buffers" finished none
