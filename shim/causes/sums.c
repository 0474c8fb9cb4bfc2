#include "causes/sums.h"

#include "core/hash.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64u /* a power of two */

#define ADD(counter, value)                                                                        \
    atomic_store_explicit(&(counter),                                                              \
                          atomic_load_explicit(&(counter), memory_order_relaxed) + (value),        \
                          memory_order_relaxed)

/* Where the pair is, or is to be. */
static uint32_t place_of(const struct sg_causes_sums *sums, uint32_t left, uint32_t entered)
{
    uint32_t at = sg_hash_fold((uint64_t)left << 32 | entered);

    for (;; at++) {
        const struct sg_record_interval_sum *sum = sums->slots[at % sums->capacity];

        if (sum == NULL || (sum->left == left && sum->entered == entered))
            return at % sums->capacity;
    }
}

static bool grow(struct sg_causes_sums *sums)
{
    uint32_t capacity = sums->capacity > 0 ? 2 * sums->capacity : FIRST_CAPACITY;
    struct sg_causes_sums grown = {calloc(capacity, sizeof *grown.slots), capacity, sums->used};

    if (grown.slots == NULL)
        return false;
    for (uint32_t i = 0; i < sums->capacity; i++) {
        if (sums->slots[i] != NULL)
            grown.slots[place_of(&grown, sums->slots[i]->left, sums->slots[i]->entered)] =
                sums->slots[i];
    }
    free(sums->slots);
    *sums = grown;
    return true;
}

static struct sg_record_interval_sum *make(struct sg_causes_sums *sums, struct sg_log *log,
                                           uint32_t left, uint32_t entered)
{
    struct sg_record_interval_sum *sum;

    if (2 * sums->used >= sums->capacity && !grow(sums))
        return NULL;
    sum = sg_log_entry(log, SG_INTERVAL_SLOTS);
    if (sum == NULL)
        return NULL;
    sum->left = left;
    sum->entered = entered;
    atomic_store_explicit(&sum->mask, UINT32_MAX, memory_order_relaxed);
    sums->slots[place_of(sums, left, entered)] = sum;
    sums->used++;
    return sum;
}

bool sg_causes_sums_add(struct sg_causes_sums *sums, struct sg_log *log, uint16_t thread,
                        uint32_t left, uint32_t entered, const struct sg_reading *interval)
{
    struct sg_record_interval_sum *sum =
        sums->capacity > 0 ? sums->slots[place_of(sums, left, entered)] : NULL;
    uint32_t mask;

    if (sum == NULL) {
        sum = make(sums, log, left, entered);
        if (sum == NULL)
            return false;
        sum->thread = thread;
        sg_log_publish(sum, SG_RECORD_INTERVAL_SUM);
    }
    mask = atomic_load_explicit(&sum->mask, memory_order_relaxed) & interval->mask;
    atomic_store_explicit(&sum->mask, mask, memory_order_relaxed);
    for (unsigned figure = 0; figure < SG_FIGURE_COUNT; figure++) {
        if ((mask & 1u << figure) != 0)
            sg_figure_write(sum->figures, figure,
                            sg_figure_read(sum->figures, figure) + interval->figures[figure]);
    }
    ADD(sum->time_ns, interval->time_ns);
    ADD(sum->intervals, 1);
    return true;
}

void sg_causes_sums_reset(const struct sg_causes_sums *sums)
{
    for (uint32_t i = 0; i < sums->capacity; i++) {
        struct sg_record_interval_sum *sum = sums->slots[i];

        for (unsigned figure = 0; sum != NULL && figure < SG_FIGURE_COUNT; figure++)
            sg_figure_write(sum->figures, figure, 0);
        if (sum == NULL)
            continue;
        atomic_store_explicit(&sum->mask, UINT32_MAX, memory_order_relaxed);
        atomic_store_explicit(&sum->intervals, 0, memory_order_relaxed);
        atomic_store_explicit(&sum->time_ns, 0, memory_order_relaxed);
    }
}

void sg_causes_sums_clear(struct sg_causes_sums *sums)
{
    free(sums->slots);
    *sums = (struct sg_causes_sums){0};
}
