#!/bin/bash
# The signal handler is async-signal-safe: checks the machine code that it can reach, and runs a
# storm of signals while the program is inside malloc, stdio and MPI.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

reach() { "$PYTHON" "$ROOT/tests/progress/reach.py" "$@"; }

# Prints the transports, as LIBRARY TABLE, from the tables that the sources define.
transports() {
    local table library
    grep -rhoP 'const struct sg_transport_ops \K\w+(?= = )' "$ROOT/shim" | sort -u | while read -r table; do
        for library in "$LIB" "$BUILD/libstagger-verbs.so"; do
            nm "$library" | grep -Eq " $table\$" && echo "$library $table" && continue 2
        done
        echo "none $table"
    done
}
# Byte ranges in struct sg_transport_ops: `remote`, and `send` with the members after it
# (test_handler.c checks them). A handler may use every transport without a `remote`.
remote=16:24 functions=48:88
is_between_machines() { [ -n "$(reach "$1" "$2+$remote")" ]; }

# Roots called through pointers that MPI_Init sets up: the handler's work, the protocols, the
# transports, the recorder of late contributions, and the first member of struct sg_progress_ops
# (test_handler.c checks it). The code itself leads to sg_kernel_find's tables. Two functions are
# excluded. One runs user-defined operations: while there are any, a handler delivers nothing
# (may_deliver of internode/endpoint.c), and the operations of internode/user_operations.sh abort in
# a handler. The other is the wait in MPICH of internode/host.c, which checks that an application
# call delivers.
handlers_reach() {
    local library table
    reach "$LIB" -x sg_user_fold -x serve_mpich on_signal look_by_signal sg_algos on_late progress_ops+0:8
    while read -r library table; do
        is_between_machines "$library" "$table" || reach "$library" "$table+$functions"
    done <tables
}
# Code that may call through pointers: the handler and its loop over clients, the delivery of events
# to those protocols, the receiver of messages, the transport's switches, the code that answers a
# transport's descriptor, and the trace events.
pointer_users() {
    nm "$BUILD"/shim/{internode/host,internode/endpoint,progress/{signal,doorbell,background},mpi/user_lines,transport/local_memory}.o |
        awk '$2 ~ /[tT]/ { print $3 }'
}
# signal-safety(7), plus: errno, a system call without C library state, the abort of a failed
# assertion, the compiler's arithmetic.
safe='mem(cpy|move|set|cmp)|clock_gettime|getpid|getuid|kill|sigaction'
allowed="$safe|__errno_location|sched_yield|syscall|__assert_fail|__mul[sdx]c3"

# A library whose handler calls one such function in each possible way.
seeded() {
    cat >seeded.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
pthread_mutex_t lock;
static __attribute__((noinline)) void *direct(void) { return malloc(1); }
static void by_table(void) { pthread_mutex_lock(&lock); puts("by a table"); }
static void by_ops(void) { dlopen("by an ops table's function", RTLD_NOW); }
static void (*const table[])(void) = {by_table};
struct ops { const char *name; void (*open)(void), (*send)(void); };
void opened(void) { exit(1); }
const struct ops ops = {"ops", opened, by_ops};
void (*unknown)(void), (*kept)(void *) = free;
static __attribute__((noinline)) void tail(void *memory) { kept(memory); }
int which;
void on_signal(int signal)
{
    void *memory = direct();
    table[which]();
    if (unknown != NULL)
        unknown();
    tail(memory);
}
END
    "${CC:-cc}" -O2 -fvisibility=hidden -shared -fPIC -o seeded.so seeded.c || return
    reach seeded.so on_signal ops+16:24 >seeded
    cat seeded
    for name in malloc pthread_mutex_lock puts dlopen free; do
        has seeded "^external $name$" || return
    done
    has seeded '^indirect on_signal$' && lacks seeded '^external exit$'
}

if nm -D --undefined-only "$LIB" | grep -Eq ' _*(asan|ubsan|tsan|gcov|llvm_prof)'; then
    skip "the handler reaches async-signal-safe functions only" "built with sanitizers or coverage"
else
    transports >tables
    check "every transport is analysed" all 'lacks tables ^none' 'has tables " sg_transport_shm$"' \
        'has tables "libstagger-verbs.so ops$"'
    handlers_reach | sort -u >reached
    check "the handler reaches async-signal-safe functions only" is "" \
        "$(sed -n 's/^external //p' reached | grep -Evx "$allowed")"
    check "... the handler reaches nothing of the thread or of transports between machines" all \
        'lacks reached "^reached (attend_wire|attend_by_thread|look_by_helper)"' \
        'has <(reach "$LIB" look_by_helper) "^reached attend_by_thread$"'
    check "... the handler reaches the protocols, the transport and the kernels" all \
        'has reached "^reached on_message"' 'has reached "^reached sg_shm_channel_send$"' \
        'has reached "^reached sg_shm_channel_receive$"' 'has reached "^reached sum_"' \
        'has reached "^reached sg_log_event$"' \
        'has reached "^external memcpy$"'
    check "nothing else in the handler's path calls by a pointer" is "" \
        "$(sed -n 's/^indirect //p' reached | grep -Fvxf <(pointer_users))"
    check "... the check finds unsafe calls of every kind" seeded
fi

run_late storm signal "$PROGRAMS/late_storm" "$WORK/words" 100
check "a storm of signals inside malloc, stdio and MPI changes no result" finished storm
for mode in thread signal; do
    rm -rf many.trace
    STAGGER_PROGRESS=$mode STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass' \
        observe many 2 "$PROGRAMS/lifetimes" 40 200
    check "communicators are created and freed during the storm ($mode)" all 'is 0 "$status"' 'ran_well many'
done
