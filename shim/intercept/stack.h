/* Whether a function that was entered is still on the calling thread's stack, or was left by an
 * exception or by longjmp.
 *
 * Walks the stack with the compiler's unwinder: some microseconds, and the first time it may load
 * libgcc_s. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_STACK_H
#define SG_INTERCEPT_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* A function's frame: what it has of __builtin_frame_address(0) and __builtin_return_address(0). */
struct sg_stack_frame {
    uintptr_t address; /* 0: none */
    void *caller;
};

/* False where the frame is gone, and where frames without unwind information hide it. */
bool sg_stack_holds(const struct sg_stack_frame *frame);

#endif
