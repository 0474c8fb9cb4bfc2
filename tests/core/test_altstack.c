/* Tests deep work on threads whose stacks have room for it, and on threads whose stacks have not.
 */
#include "core/altstack.h"
#include "lib/unit.h"

#include <execinfo.h>
#include <limits.h>
#include <pthread.h>

#define DEEP_BYTES ((size_t)128 << 10)
#define FRAMES 32

struct seen {
    uintptr_t at;     /* of the work's frame */
    uintptr_t caller; /* of the frame that wants it */
    bool has_room, holds_own, holds_callers;
    bool is_nested_there; /* work in the work runs on the same stack */
    int frames;
    void *frame[FRAMES];
};

static void look(void *context)
{
    *(uintptr_t *)context = (uintptr_t)__builtin_frame_address(0);
}

static void work(void *context)
{
    volatile char deep[DEEP_BYTES];
    struct seen *seen = context;
    uintptr_t nested;

    memset((char *)deep, 1, sizeof deep);
    seen->at = (uintptr_t)__builtin_frame_address(0);
    seen->has_room = sg_altstack_has_room();
    seen->holds_own = sg_altstack_holds(seen->at);
    seen->holds_callers = sg_altstack_holds(seen->caller);
    sg_altstack_run(look, &nested);
    seen->is_nested_there = seen->at - nested < DEEP_BYTES + 4096;
    seen->frames = backtrace(seen->frame, FRAMES);
}

static void *thread(void *context)
{
    struct seen *seen = context;

    seen->caller = (uintptr_t)__builtin_frame_address(0);
    sg_altstack_run(work, seen);
    return NULL;
}

static struct seen seen_with(size_t stack_bytes)
{
    struct seen seen = {0};
    pthread_attr_t attributes;
    pthread_t id;

    ASSERT(pthread_attr_init(&attributes) == 0,
           pthread_attr_setstacksize(&attributes, stack_bytes) == 0,
           pthread_create(&id, &attributes, thread, &seen) == 0, pthread_join(id, NULL) == 0);
    pthread_attr_destroy(&attributes);
    return seen;
}

TEST("deep work leaves a small stack, and nested work stays on the new one")
{
    for (int i = 0; i < 3; i++) {
        struct seen seen = seen_with((size_t)32 << 10);

        EXPECT(seen.has_room, seen.holds_own, !seen.holds_callers, seen.is_nested_there);
    }
    EXPECT(!sg_altstack_holds((uintptr_t) & (int){0}));
}

TEST("deep work stays on a large stack")
{
    struct seen seen = seen_with((size_t)4 << 20);

    EXPECT(seen.has_room, !seen.holds_own, seen.is_nested_there, sg_altstack_has_room());
    thread(&seen);
    EXPECT(!seen.holds_own, seen.caller - seen.at < 2 * DEEP_BYTES);
}

/* From the work to what started the thread. */
TEST("unwinders find the way from the alternate stack to the thread's stack")
{
    struct seen there = seen_with((size_t)32 << 10), here = seen_with((size_t)4 << 20);
    void *outermost = here.frame[here.frames - 1];

    EXPECT(here.frames > 3 && there.frames > here.frames,
           there.frame[there.frames - 1] == outermost,
           there.frame[there.frames - 2] == here.frame[here.frames - 2]);
}
