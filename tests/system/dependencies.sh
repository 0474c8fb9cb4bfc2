#!/bin/bash
# Permitted dependencies: includes point one way, one file reads the environment, and the library
# adds nothing to a process except its wrappers.
. "$(dirname "$0")/../lib/sh.sh"
cd "$ROOT" || exit 1

# Prints a folder's sources and headers that include a matching file; FOLDER/ excludes its
# subfolders.
include() {
    local folder=$1 pattern=$2 depth=()
    [ -d "$folder" ] || return 0
    [ "$folder" = "${folder%/}" ] || depth=(-maxdepth 1)
    find "$folder" "${depth[@]}" -name '*.[ch]' \
        -exec grep -HEn "^[[:space:]]*#[[:space:]]*include[[:space:]]+[<\"]$pattern" {} +
}

# loops_are includes|symbols OPTION...: structure.py prints exactly the loops that the table allows.
loops_are() {
    local kind=$1
    shift
    diff <(sed -n "s/^$kind: *//; t found; d; : found; s/ *#.*//; p" tests/system/loops | sort) \
        <("$PYTHON" tests/system/structure.py "$@" "$ROOT" | sort) >"$WORK/loops" && return
    sed -n 's/^< /in tests\/system\/loops, but gone: /p; s/^> /new: /p' "$WORK/loops"
    return 1
}

# keeps_from FOLDER PATTERN
keeps_from() { is "" "$(include "$1" "$2")"; }
# keeps_out FOLDER FOLDER|...
keeps_out() { keeps_from "$1" "($2)/"; }

outer='runtime|profile|intercept|report|cli'
live="mpi|wait|progress|internode|intranode/mpi|$outer"
check "core includes no other part" \
    keeps_out shim/core "rule|trace|algos|transport|intranode|$live"
check "only core/cpu names an architecture" is "" "$(grep -rnE \
    '__(x86_64|i386|aarch64|amd64)__|__builtin_(ia32|cpu)_|_mm_|intrin\.h|cpuid|target\("' --include='*.[ch]' shim analysis |
    grep -v '^shim/core/cpu/')"
check "rule includes core and rule only" \
    keeps_out shim/rule "trace|transport|intranode|$live"
check "... rule includes only the tables of parameters from algos" is "" "$(include shim/rule 'algos/' | grep -vF algos/parameters.h)"
check "trace includes core and trace only" \
    keeps_out shim/trace "rule|algos|transport|intranode|$live"
check "causes includes core, trace and itself only" \
    keeps_out shim/causes "rule|algos|transport|intranode|$live"
for part in shim/core shim/rule shim/trace shim/causes shim/algos shim/bcs/ shim/transport shim/intranode/ shim/progress \
    analysis/options analysis/output analysis/report analysis/compare analysis/advise analysis/page analysis/perfetto analysis/watch analysis/sim analysis/bcs \
    analysis/papers tests/verify analysis/cli; do
    check "$part does not know MPI" keeps_from "$part" '[^">]*(mpi\.h|bench/mpi/[^">]*)[">]'
done
for part in algos bcs/; do
    check "$part includes core, algos and bcs only" keeps_out "shim/$part" "rule|trace|transport|intranode|$live"
done
check "intranode includes core, algos and intranode only, except its part that knows MPI" \
    keeps_out shim/intranode/ "rule|trace|transport|$live"
check "transport includes core, algos and transport only" \
    keeps_out shim/transport "rule|trace|intranode|sim|$live"
check "the simulator includes core, algos, options, output, the programs of bcs and itself only" \
    keeps_out analysis/sim "rule|trace|transport|intranode|mpi|wait|progress|internode|runtime|intercept|report|papers"
check "only the simulator computes the papers' figures" \
    keeps_out analysis/papers "rule|trace|transport|intranode|mpi|wait|progress|internode|runtime|intercept|report"
check "only the explorer's own files include the explorer" is "" \
    "$(grep -rlE '^ *# *include *"verify/' --include='*.[ch]' shim analysis)"
check "progress includes core, rule, intranode, transport and itself only" \
    keeps_out shim/progress "trace|algos|mpi|wait|internode|intranode/mpi|$outer"
check "mpi includes no part that runs calls" \
    keeps_out shim/mpi "trace|transport|wait|progress|internode|intranode/mpi|$outer"
check "wait includes core, mpi and itself only" \
    keeps_out shim/wait "rule|trace|algos|transport|intranode|progress|internode|$outer"
check "collectives inside a node do not know those between nodes" \
    keeps_out shim/intranode "trace|transport|progress|internode|$outer"
check "collectives between nodes do not know those inside a node" keeps_out shim/internode "trace|intranode/mpi|$outer"
check "runtime does not include profile or intercept" keeps_out shim/runtime 'profile|intercept|report|cli'
check "profile includes neither intercept nor parts that run calls" \
    keeps_out shim/profile 'intercept|wait|progress|internode|intranode/mpi|report|cli'
check "nothing in shim includes the tools" keeps_out shim 'report|cli|sim|bench'
check "bench knows MPI only in its folder mpi" is "" \
    "$(include analysis/bench '[^">]*(mpi\.h|bench/mpi/[^">]*)[">]' | grep -v '^analysis/bench/mpi/')"
check "processes includes core, MPI and itself only" \
    keeps_out analysis/processes "rule|trace|algos|transport|intranode|compare|advise|page|perfetto|sim|bench|options|output|$live"
check "options includes core and itself only" \
    keeps_out analysis/options "rule|trace|algos|transport|intranode|compare|advise|page|perfetto|sim|bench|output|$live"
check "output includes core and itself only" \
    keeps_out analysis/output "rule|trace|algos|transport|intranode|compare|advise|page|perfetto|sim|bench|$live"
check "the tools include no part that runs calls" \
    keeps_out analysis 'wait|progress|internode|intranode/mpi|runtime|profile|intercept'
check "the report includes neither the commands nor the watch of a job" keeps_out analysis/report "cli|watch"
check "the advice includes neither of them" keeps_out analysis/advise cli

check "no file includes itself through others, except those in tests/system/loops" loops_are includes --loops
check "no file calls itself through others" loops_are symbols --symbols "$BUILD"
check "one file reads the environment" is "shim/core/config.c" \
    "$(grep -rlE '\b(secure_)?getenv *\(|\benviron\b([^"]|$)' --include='*.[ch]' shim analysis)"
check "only the export and the report include OTF2's headers" is "" \
    "$(grep -rlE '^ *# *include *[<"]otf2/' --include='*.[ch]' shim analysis |
        grep -Ev '^(shim/trace/export|analysis/report)/')"
check "only profile includes libunwind's headers" is "" \
    "$(grep -rlE '^ *# *include *[<"](libunwind|unwind)' --include='*.[ch]' shim analysis |
        grep -v '^shim/profile/')"
# The rest of the library compiles where libibverbs is not installed.
check "only the transport for verbs includes the headers of libibverbs and librdmacm" is "shim/transport/verbs/" \
    "$(grep -rlE '^ *# *include *[<"](infiniband|rdma)/' --include='*.[ch]' shim analysis |
        sed 's/[^/]*$//' | sort -u)"
check "... other parts include one header of this transport, which includes none of them" is "" \
    "$(grep -rnE '^ *# *include *"transport/verbs/' --include='*.[ch]' shim analysis |
        grep -vE '^shim/transport/verbs/|"transport/verbs/verbs\.h"'
        grep -HE '^ *# *include *[<"](infiniband|rdma|transport/verbs)/' shim/transport/verbs/verbs.h)"

check "the library needs only the C library" is "" "$(readelf -d "$LIB" |
    sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -Ev '^(libc|libdl|libpthread|ld-linux[^.]*)\.so' |
    grep -Ev '^lib(a|ub|t)san\.so')"
check "the library exports only MPI's functions, its hooks', dlsym, dlclose and a sanitizer's defaults" is "" \
    "$(nm -D --defined-only "$LIB" | awk '{ print $3 }' | sed 's/@.*//' |
        grep -Ev '^(MPI_|mpi_|MPIX_)|^(ucp_worker_progress|fi_fabric|dlsym|dlclose|__asan_default_options)$')"
check "its companion exports one symbol" is "sg_companion" \
    "$(nm -D --defined-only "$BUILD/libstagger-otf2.so" | awk '{ print $3 }')"
check "the companion for RDMA exports one symbol" is "sg_verbs" \
    "$(nm -D --defined-only "$BUILD/libstagger-verbs.so" | awk '{ print $3 }')"
check "the library binds its symbols at start" has <(readelf -d "$LIB") 'BIND_NOW|NOW'

# Exceptions: the benchmark's late ranks and its quiet waits, random delays of the soak, an
# application that sleeps as applications do, programs that poll for a file of their script,
# stderr's pipe, which gives no event when it empties, the tools' wait for ranks that are being
# killed, and MPICH's waiting, which rings no doorbell.
check "no other place waits by sleeping" is "" \
    "$(grep -rnE '\b(u?sleep|(clock_)?nanosleep) *\(' --include='*.[ch]' --include='*.cc' \
        shim analysis tests bench |
        grep -Ev '^(shim/core/status\.c|shim/wait/(turn|yielding)\.c|shim/trace/export/logread_all\.c|analysis/bench/mpi/bench_machine\.c|bench/bench_wakes\.c|tests/mpi/(known_causes|mixed_causes|soak|late_calls|internode_apps|trial|served)\.c|tests/mpi/(clock|given|known_stamps|mpi_test)\.h|tests/wait/test_turn\.c|tests/causes/test_(reader|switches)\.c):')"
# Each transport defines its own, behind one interface.
check "a type's name has one meaning" is "sg_transport" \
    "$(grep -rhoE '^(struct|enum|union) sg_[a-z0-9_]+ \{' --include='*.[ch]' shim analysis | sort | uniq -d | cut -d ' ' -f 2)"
check "no source has more than 900 lines" is "" \
    "$(find shim analysis tests/verify -name '*.[ch]' -exec awk 'END { if (NR > 900) print FILENAME }' {} \;)"
# Short files with a reason: one instruction set each; parts that tests replace; one object that
# changes with each commit; one format; code that would put any file that absorbed it into a loop.
alone='cli/sim|algos/kernels/[a-z_]+|algos/algos|core/(account|calibration|thread_store)|internode/drain|output/(commit|progress_line)|profile/handles|progress/progress_table|transport/(local_memory|payload|verbs_stub/stub)|report/counts|rule/rule|trace/(figure|export/(clockmap|markers))|wait/(chosen|hook_mpich|scheduling_group)'
check "no source has fewer than 80 lines without a reason" is "" \
    "$(find shim analysis tests/verify -name '*.c' -exec awk 'END { if (NR < 80) print FILENAME }' {} \; | grep -vE "/($alone)\.c$")"
check "no two sources share a name, except main" is "main" \
    "$(find shim analysis tests/verify -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u | sed 's/.*\///' | sort | uniq -d)"
check "no line of a source has more than 100 columns" is "" \
    "$(grep -rnE '.{101}' --include='*.[ch]' --include='*.cc' shim analysis tests bench)"
# Comments name the actor (docs/style.md).
check "no comment, name of a test, text or sentence of a document begins with a clause for a noun" "$PYTHON" tests/system/english.py
check "documents and comments refer to documents, sections and chapters that exist" "$PYTHON" tests/system/references.py
printf '[a section](%s/README.md#nothing)\n' "$ROOT" >"$WORK/absent.md"
echo 'decisions/''99' >"$WORK/absent.c"
check "... the check finds others" all '! "$PYTHON" tests/system/references.py "$WORK/absent.md" >/dev/null' \
    '! "$PYTHON" tests/system/references.py "$WORK/absent.c" >/dev/null'
