/* The hook in use, separate from the table of hooks, so that hooks do not depend on each other. */
#include "wait/hook.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const struct sg_hook *) chosen;

void sg_hook_choose(const struct sg_hook *hook)
{
    atomic_store_explicit(&chosen, hook, memory_order_relaxed);
}

const struct sg_hook *sg_hook_chosen(void)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed);
}
