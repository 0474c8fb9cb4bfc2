#!/bin/bash
# What may know of what: includes point one way, the environment is read in one file, and the
# library brings nothing into a process but its own wrappers.
. "$(dirname "$0")/../lib/sh.sh"
cd "$ROOT" || exit 1

# The files of a folder's sources and headers that include what matches.
include() {
    local folder=$1 pattern=$2
    [ -d "$folder" ] || return 0
    find "$folder" -name '*.[ch]' -exec grep -HEn "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]$pattern" {} +
}

# keeps_from FOLDER PATTERN
keeps_from() { is "" "$(include "$1" "$2")"; }

check "core includes no other part" \
    keeps_from shim/core '(rule|trace|engine|algos|transport|node|intercept|report|cli)/'
check "rule includes core and rule only" \
    keeps_from shim/rule '(trace|engine|algos|transport|node|intercept|report|cli)/'
check "trace includes core and trace only" \
    keeps_from shim/trace '(rule|engine|algos|transport|node|intercept|report|cli)/'
for part in shim/core shim/rule shim/trace shim/algos shim/transport shim/node analysis/report \
    analysis/sim analysis/cli; do
    check "$part knows nothing of MPI" keeps_from "$part" '[^">]*mpi\.h[">]'
done
check "algos includes core and algos only" \
    keeps_from shim/algos '(rule|trace|engine|transport|node|intercept|report|cli)/'
check "node includes core, algos and node only" \
    keeps_from shim/node '(rule|trace|engine|transport|intercept|report|cli)/'
check "transport includes core, algos and transport only" \
    keeps_from shim/transport '(rule|trace|engine|node|intercept|report|cli|sim)/'
check "the simulator includes core, algos, plot and itself only" \
    keeps_from analysis/sim '(rule|trace|engine|node|transport|intercept|report)/'
check "engine does not include intercept" keeps_from shim/engine '(intercept|report|cli)/'
check "nothing in shim includes the tools" keeps_from shim '(report|cli|sim|bench)/'
check "plot includes core and itself only" \
    keeps_from analysis/plot '(rule|trace|algos|engine|node|transport|intercept|report|sim|bench|cli)/'
check "the tools do not include intercept or engine" keeps_from analysis '(intercept|engine)/'
check "the report does not include the commands" keeps_from analysis/report 'cli/'
check "neither does the advice" keeps_from analysis/advise 'cli/'

check "the environment is read in one file" is "shim/core/config.c" \
    "$(grep -rlE '\b(secure_)?getenv *\(|\benviron\b' --include='*.[ch]' shim analysis)"
check "OTF2's headers are included by the export and the report only" is "" \
    "$(grep -rlE '^ *# *include *[<"]otf2/' --include='*.[ch]' shim analysis |
        grep -Ev '^(shim/trace/export|analysis/report)/')"
check "libunwind's are included nowhere but in intercept" is "" \
    "$(grep -rlE '^ *# *include *[<"](libunwind|unwind)' --include='*.[ch]' shim analysis |
        grep -v '^shim/intercept/')"
check "those of libibverbs and librdmacm nowhere but in the transport for them" is "" \
    "$(grep -rlE '^ *# *include *[<"](infiniband|rdma)/' --include='*.[ch]' shim analysis |
        grep -v '^shim/transport/verbs/')"

check "the library needs the C library alone" is "" "$(readelf -d "$LIB" |
    sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -Ev '^(libc|libdl|libpthread|ld-linux[^.]*)\.so' |
    grep -Ev '^lib(a|ub|t)san\.so')"
check "the library exports MPI's functions and nothing else" is "" \
    "$(nm -D --defined-only "$LIB" | awk '{ print $3 }' | sed 's/@.*//' |
        grep -Ev '^(MPI_|mpi_|MPIX_)')"
check "its companion exports one symbol" is "sg_companion" \
    "$(nm -D --defined-only "$BUILD/libstagger-otf2.so" | awk '{ print $3 }')"
check "the companion for RDMA exports one symbol" is "sg_verbs" \
    "$(nm -D --defined-only "$BUILD/libstagger-verbs.so" | awk '{ print $3 }')"
check "the library binds its symbols at start" has <(readelf -d "$LIB") 'BIND_NOW|NOW'

# The benchmark's late ranks and its quiet waits, random delays of the soak, an application
# that sleeps as applications do, programs that look for a file of their script's again and again,
# and stderr's pipe, whose emptiness is no event.
check "nothing else waits by sleeping" is "" \
    "$(grep -rnE '\b(u?sleep|(clock_)?nanosleep) *\(' --include='*.[ch]' --include='*.cc' \
        shim analysis tests |
        grep -Ev '^(shim/core/status\.c|analysis/bench/quiet\.c|tests/mpi/(soak|late_calls|span_apps|trial)\.c|tests/mpi/mpi_test\.h):')"
check "no source is over 500 lines" is "" \
    "$(find shim analysis -name '*.[ch]' -exec awk 'END { if (NR > 500) print FILENAME }' {} \;)"
check "no line of a source is over 100 columns" is "" \
    "$(grep -rnE '.{101}' --include='*.[ch]' --include='*.cc' shim analysis tests)"
