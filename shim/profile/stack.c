/* An address alone does not tell: what is called later from a deeper frame lies below a frame that
 * was left as it lies below one that was not. The walk compares the frame's caller and the stack
 * pointer at which it continues; both are found together only where the frame is live.
 */
#include "profile/stack.h"

#include "core/altstack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <unwind.h>

/* A frame begins with the caller's frame pointer and the return address. */
#define FRAME_LINK_BYTES (2 * sizeof(void *))

__thread struct sg_stack_frame sg_stack_ending, sg_stack_outermost;

/* Looked up and not linked to: libgcc_s belongs in no process that does not need it. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Word (*stack_pointer)(struct _Unwind_Context *);
    _Unwind_Ptr (*instruction)(struct _Unwind_Context *);
} unwinder;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return;
    *(void **)&unwinder.stack_pointer = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.instruction = dlsym(library, "_Unwind_GetIP");
    if (unwinder.stack_pointer != NULL && unwinder.instruction != NULL)
        *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

struct search {
    uintptr_t stack_pointer, instruction;
    bool found;
};

/* For each frame from the innermost out, with the stack pointer that it continues at. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t stack_pointer = unwinder.stack_pointer(context);

    if (sg_altstack_holds(stack_pointer) || stack_pointer < search->stack_pointer)
        return _URC_NO_REASON;
    search->found = stack_pointer == search->stack_pointer &&
                    unwinder.instruction(context) == search->instruction;
    return _URC_END_OF_STACK;
}

static void walk(void *search)
{
    pthread_once(&once, find_unwinder);
    if (unwinder.backtrace != NULL)
        unwinder.backtrace(look, search);
}

static bool is_live(const struct sg_stack_frame *frame)
{
    struct search search = {.stack_pointer = frame->address + FRAME_LINK_BYTES,
                            .instruction = (uintptr_t)frame->caller};

    sg_altstack_run(walk, &search);
    return search.found;
}

bool sg_stack_look(struct sg_stack_frame *held, void *frame)
{
    if ((uintptr_t)frame < held->address && is_live(held))
        return true;
    held->address = 0;
    return false;
}

struct sg_stack_frame sg_stack_hold(struct sg_stack_frame *held, void *frame, void *caller)
{
    struct sg_stack_frame before = {0};

    if (sg_stack_is_held(held, frame))
        before = *held;
    *held = (struct sg_stack_frame){(uintptr_t)frame, caller};
    return before;
}

void sg_stack_release(struct sg_stack_frame *held, struct sg_stack_frame before)
{
    *held = before;
}
