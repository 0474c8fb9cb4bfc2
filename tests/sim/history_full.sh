#!/bin/bash
# The same seed gives the same history in every build of the simulator. Compiles only the simulator
# and the protocols for each variant, because nothing else takes part.
. "$(dirname "$0")/../lib/sh.sh"

echo '#include "sim/sim_commands.h"
int main(int argc, char **argv)
{
    return argv[1][0] == '\''c'\'' ? sg_sim_cpu_command(argc - 1, argv + 1)
                            : sg_sim_delay_command(argc - 1, argv + 1);
}' >main.c

# build NAME COMPILER FLAG...
build() {
    local name=$1 compiler=$2
    shift 2
    nice -n 10 "$compiler" -std=gnu11 -D_GNU_SOURCE -DSG_VERSION='"test"' -DSG_COMMIT='"test"' \
        -ffp-contract=off -pthread "$@" -I"$ROOT/shim" -I"$ROOT/analysis" -I"$ROOT/tests" main.c \
        "$ROOT"/analysis/{sim,papers,options,output}/*.c "$ROOT"/analysis/bcs/{bcs_command,program_*}.c "$ROOT"/tests/verify/*.c \
        $(find "$ROOT"/shim/{algos,bcs} -name '*.c' ! -path '*/kernels/*' ! -path '*/live/*') "$ROOT"/shim/core/{clocksync,config,file,slice,status,text,waiting}.c \
        -o "$name" -ljansson -lm
}

# history NAME: the history of reductions with skew, noise and interrupts, and of barriers and
# allreduces with losses and jitter.
history() {
    local network=$ROOT/analysis/sim/networks
    {
        timeout "$PROGRAM_SECONDS" "./$1" cpu --algo bypass,handoff,tree --nodes 13 --skew-us 300 --elements 32 \
            --iterations 100 --stats --json --network "$network/myrinet2000.conf" &&
            timeout "$PROGRAM_SECONDS" "./$1" delay --algo 'adaptive(tokens=2),tree,dissemination' --nodes 21 \
                --skew-us 50 --iterations 50 --set multicast_loss=0.1 --set jitter_us=2 --stats \
                --json --network "$network/infiniband-sdr.conf" &&
            timeout "$PROGRAM_SECONDS" "./$1" delay --op allreduce --algo 'adaptive(predict=1),pairwise,handoff' \
                --nodes 21 --skew-us 50 --iterations 50 --set multicast_loss=0.1 --stats --json \
                --network "$network/infiniband-sdr.conf"
    } >"$1.json" || return 1
    grep '"history"' "$1.json" >"$1.history"
}

check "the simulator compiles with gcc -O2" build gcc-O2 gcc -O2
check "its runs have histories" all 'history gcc-O2' 'has_lines gcc-O2.history history 9' \
    'is 9 "$(sort -u gcc-O2.history | wc -l)"'
while read -r name compiler flags; do
    check "the histories of $name are those of gcc-O2" all \
        'build '"$name $compiler $flags" 'history '"$name" 'same gcc-O2.history '"$name"'.history'
done <<'END'
gcc-O0 gcc -O0
clang-O2 clang -O2
sanitizers gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
END
