#!/bin/bash
# long
# Under ThreadSanitizer: the parts that threads share without locks, and MPI programs with several
# threads over a library built so. MPICH is not, so its synchronisation between threads is
# invisible; tsan.supp lists the false races that follow.
. "$(dirname "$0")/../lib/sh.sh"

tsan=$BUILD/variant-san-thread
units=(trace/test_log intranode/test_threads transport/test_crowd progress/test_handler)
# They need nothing from the commands, which are most of what unit tests link.
parts='shim/core shim/core/altstack shim/rule shim/trace shim/trace/export $(ALGO_DIRS) shim/intranode $(TRANSPORT_DIRS)'
# gcc's sanitizer does not support fences, and warns of each. Here they order stores before loads,
# which is irrelevant to races.
check "the lock-free parts and the library build under ThreadSanitizer" \
    make -C "$ROOT" --no-print-directory -j2 SAN=thread CFLAGS=-Wno-tsan B="$tsan" \
    PARTS_DIRS="$parts" "${units[@]/#/$tsan/tests/}" \
    "$tsan/libstagger.so" "$tsan/libstagger-otf2.so"
for unit in "${units[@]}"; do
    check "unit test tests/$unit has no data race" timeout 600 "$tsan/tests/$unit"
done

# ---- MPI programs ------------------------------------------------------------------------------
mpicc=$("$ROOT/.ci/find-mpi" cc)
build() { # NAME SOURCE
    "$mpicc" -std=gnu11 -O1 -g -fsanitize=thread -fPIE -pie -I"$ROOT/tests/mpi" "$2" -o "$1" -pthread
}
PRELOAD="$(gcc -print-file-name=libtsan.so) $tsan/libstagger.so"
# UCX patches mmap and similar functions for its own use, which breaks the sanitizer, and catches
# faults for its own report.
export UCX_MEM_MMAP_HOOK_MODE=none UCX_ERROR_SIGNALS=
export TSAN_OPTIONS=suppressions=$ROOT/tests/system/tsan.supp:exitcode=66:history_size=4
export STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass'

has_no_race() { # NAME
    ran_well "$1" && lacks "$1.err" 'ThreadSanitizer' && return
    grep -h -A14 'WARNING: ThreadSanitizer' "$1.err" "$1.out" | head -n 50
    return 1
}
for program in threads posts; do
    check "$program builds under ThreadSanitizer" build "$program" "$ROOT/tests/mpi/$program.c"
done
STAGGER_RANKS_PER_NODE=0 STAGGER_RULES='*=srm' observe inside 2 ./threads 20
check "threads with one communicator each have no data race (inside a node)" has_no_race inside
for STAGGER_PROGRESS in thread signal; do
    export STAGGER_PROGRESS
    name=blocking-$STAGGER_PROGRESS
    observe "$name" 2 ./threads 20
    check "threads with one communicator each have no data race ($STAGGER_PROGRESS)" has_no_race "$name"
    for case in threads handed mixed; do
        name=$case-$STAGGER_PROGRESS
        observe "$name" 3 ./posts "$case"
        check "threads that post have no data race ($case, $STAGGER_PROGRESS)" has_no_race "$name"
    done
done

cat >seeded.c <<'END'
#include <mpi.h>
#include <pthread.h>
static int shared;
static void *add(void *context)
{
    for (int i = 0; i < 10000; i++)
        shared++;
    return context;
}
int main(int argc, char **argv)
{
    pthread_t other;
    MPI_Init(&argc, &argv);
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
END
check "a program with a race builds" build seeded seeded.c
observe seeded 1 ./seeded
check "... ThreadSanitizer reports the race" all 'has <(cat seeded.out seeded.err) "data race.*seeded.c"' \
    'has <(nm -D "$tsan/libstagger.so") __tsan_read8'
