#!/bin/bash
# Programs built with a sanitizer run under the library, which is built without, and the sanitizer
# still finds their errors. tests/system/sanitizers.sh covers sanitizers in the library.
. "$(dirname "$0")/../lib/sh.sh"

mpicc=$("$ROOT/.ci/find-mpi" cc)
# Not stagger's: MPICH and UCX leak memory, patch mmap and catch faults for their own reports.
export UCX_MEM_MMAP_HOOK_MODE=none UCX_ERROR_SIGNALS= LSAN_OPTIONS=exitcode=0
export TSAN_OPTIONS=suppressions=$ROOT/tests/system/tsan.supp

cat >wrong.c <<'END'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile char *bytes = malloc(8);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    bytes[8] = 1;
    MPI_Finalize();
    return 0;
}
END
cat >defaults.c <<'END'
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
END
build() { # NAME FLAGS SOURCE...
    local name=$1 flags=$2
    shift 2
    # shellcheck disable=SC2086 # flags are words
    "$mpicc" -std=gnu11 -O1 -g $flags -I"$ROOT/tests/mpi" "$@" -o "$name" -pthread
}
runs() { # NAME COMMAND...: as ever, its calls recorded
    local name=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$@" >"$name.out" 2>"$name.err" </dev/null
    is 0 $? && lacks "$name.err" 'Sanitizer.*(come first|ERROR)|does not come first' &&
        archive_agrees "$name.trace" "$name.out" && return
    cat "$name.err"
    return 1
}
clang_flags() { # where the compiler is and has a shared runtime
    local runtime
    runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null)
    [ -e "$runtime" ] && echo "-shared-libsan -Wl,-rpath,$(dirname "$runtime")"
}

for sanitizer in address thread undefined; do
    check "a program builds with -fsanitize=$sanitizer" build "$sanitizer" "-fsanitize=$sanitizer" \
        "$ROOT/tests/mpi/counts_c.c"
    check "it runs under stagger run before the launcher ($sanitizer)" runs "$sanitizer" \
        "$STAGGER" run -o "$sanitizer.trace" "$MPIEXEC" -n 2 "./$sanitizer"
done
check "it runs under stagger run after the launcher" runs inner \
    "$MPIEXEC" -n 2 "$STAGGER" run -o inner.trace ./address
check "it runs in a script" runs script \
    "$STAGGER" run -o script.trace "$MPIEXEC" -n 2 sh -c ./address
check "it runs with only the library preloaded" runs preloaded env STAGGER_DIR=preloaded.trace \
    LD_PRELOAD="$LIB" "$MPIEXEC" -n 2 ./address
check "it runs when the user preloads the sanitizer" runs first env \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 \
    "$STAGGER" run -o first.trace "$MPIEXEC" -n 2 ./address
build own -fsanitize=address "$ROOT/tests/mpi/counts_c.c" defaults.c
check "it runs when the program sets the sanitizer's defaults" runs own \
    "$STAGGER" run -o own.trace "$MPIEXEC" -n 2 ./own
if flags=$(MPICH_CC=clang clang_flags); then
    MPICH_CC=clang build clang "-fsanitize=address $flags" "$ROOT/tests/mpi/counts_c.c"
    check "a program built by clang runs with its shared runtime" runs clang \
        "$STAGGER" run -o clang.trace "$MPIEXEC" -n 2 ./clang
else
    skip "a program built by clang runs with its shared runtime" "clang has none here"
fi

build wrong -fsanitize=address wrong.c
LSAN_OPTIONS='' ASAN_OPTIONS=detect_leaks=0 "$STAGGER" run -q "$MPIEXEC" -n 2 ./wrong >wrong.out 2>&1 </dev/null
status=$?
check "the sanitizer's findings end the program as ever" all 'is 1 "$status"' \
    'has wrong.out "AddressSanitizer: heap-buffer-overflow"'
