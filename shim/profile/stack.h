/* Functions that call back, and what is called meanwhile: collectives of the callbacks of
 * MPI_Comm_free, which all ranks run, pass through; calls of MPI inside calls of MPI count once.
 * Either holds as long as the function's frame is on the calling thread's stack. An exception or
 * longjmp may leave the function unnoticed, so that only the stack tells.
 *
 * The look walks the stack with the compiler's unwinder: some microseconds, and the first time it
 * may load libgcc_s. Not from a signal handler.
 */
#ifndef SG_PROFILE_STACK_H
#define SG_PROFILE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* A function's frame: what it has of __builtin_frame_address(0) and __builtin_return_address(0). */
struct sg_stack_frame {
    uintptr_t address; /* 0: none */
    void *caller;
};

/* The calling thread's function whose callbacks pass through; and the one that is counted. */
extern __thread struct sg_stack_frame sg_stack_ending, sg_stack_outermost;

/* held: of the calling thread; zeroed: none. From here to release, which takes what hold
 * returned. */
struct sg_stack_frame sg_stack_hold(struct sg_stack_frame *held, void *frame, void *caller);
void sg_stack_release(struct sg_stack_frame *held, struct sg_stack_frame before);

/* True where the function that holds is live above the frame. False where its frame is gone, and
 * where frames without unwind information hide it. */
bool sg_stack_look(struct sg_stack_frame *held, void *frame);

static inline bool sg_stack_is_held(struct sg_stack_frame *held, void *frame)
{
    return __builtin_expect(held->address != 0, 0) && sg_stack_look(held, frame);
}

#endif
