#include "causes/stretches.h"

#include <stddef.h>

static void remove_at(struct sg_open_stretches *stretches, int at)
{
    stretches->count--;
    for (; at < stretches->count; at++)
        stretches->open[at] = stretches->open[at + 1];
}

void sg_stretches_add(struct sg_open_stretches *stretches, const struct sg_open_stretch *stretch)
{
    if (stretches->count == SG_STRETCHES_MOST)
        remove_at(stretches, 0);
    stretches->open[stretches->count++] = *stretch;
}

bool sg_stretches_take(struct sg_open_stretches *stretches, uint64_t key, bool is_armed,
                       struct sg_open_stretch *out)
{
    for (int i = 0; i < stretches->count; i++) {
        const struct sg_open_stretch *stretch = &stretches->open[i];

        if (stretch->key != key || stretch->is_armed != is_armed)
            continue;
        *out = *stretch;
        remove_at(stretches, i);
        return true;
    }
    return false;
}

const struct sg_open_stretch *sg_stretches_current(const struct sg_open_stretches *stretches)
{
    for (int i = stretches->count; i > 0; i--) {
        if (!stretches->open[i - 1].is_armed)
            return &stretches->open[i - 1];
    }
    return NULL;
}
