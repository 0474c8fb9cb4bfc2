#!/bin/bash
# The signal handler is async-signal-safe: by the machine code that it can reach, and in a storm of
# signals while the program is inside malloc, stdio and MPI.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

# Called by pointers that are set up in MPI_Init: the protocols, the transport's table but for what
# opens and closes it, the observer of what is late. sg_kernel_find's tables follow from the code.
reach() { "$PYTHON" "$ROOT/tests/progress/reach.py" "$LIB" "$@"; }
reach -x shm_open_shared -x shm_close -x shm_bytes on_signal sg_transport_shm sg_algos on_late >reached
# What may call by a pointer: the feeding of those protocols, who receives, switches of the transport's, who
# answers a transport's descriptor, and who tells the observer.
pointer_users() {
    nm "$BUILD"/shim/{engine/span_feed,engine/span_look,engine/progress,engine/observer,transport/parts}.o |
        awk '$2 ~ /[tT]/ { print $3 }'
}
# signal-safety(7), and: errno, a system call without a state of the C library's, the end of the
# process by a broken assertion, the compiler's own arithmetic.
safe='mem(cpy|move|set|cmp)|clock_gettime|getpid|getuid|kill|sigaction'
allowed="$safe|__errno_location|sched_yield|syscall|__assert_fail|__mul[sdx]c3"

if nm -D "$LIB" | grep -Eq ' _*(asan|ubsan|tsan|gcov|llvm_prof)'; then
    skip "the handler reaches async-signal-safe functions only" "built with sanitizers or coverage"
else
    check "the handler reaches async-signal-safe functions only" is "" \
        "$(sed -n 's/^external //p' reached | grep -Evx "$allowed")"
    check "... by way of the protocols, the transport and the kernels" all \
        'has reached "^reached on_message"' 'has reached "^reached sg_shm_lane_send$"' \
        'has reached "^reached sg_shm_lane_receive$"' 'has reached "^reached sum_"' \
        'has reached "^reached sg_log_event$"' \
        'has reached "^external memcpy$"'
    check "nothing else on the way calls by a pointer" is "" \
        "$(sed -n 's/^indirect //p' reached | grep -Fvxf <(pointer_users))"
    reach sg_process_start >others
    check "... and what is not safe would be seen" all 'has others "^external (malloc|calloc)$"' \
        'has others "^external (free|snprintf|__snprintf_chk)$"'
fi

run_late storm signal "$PROGRAMS/late_storm" "$WORK/words" 100
check "a storm of signals inside malloc, stdio and MPI changes no result" finished storm
for mode in thread signal; do
    rm -rf many.trace
    STAGGER_PROGRESS=$mode STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass' \
        observe many 2 "$PROGRAMS/lifetimes" 40 200
    check "communicators come and go beside it ($mode)" all 'is 0 "$status"' 'ran_well many'
done
