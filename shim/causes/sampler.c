/* Sets the level of sampling from recent costs (sampler.h), and keeps open stretches and sums. The
 * level follows a moving estimate; the check against the budget holds at every sample.
 */
#include "causes/sampler.h"

#include "core/hash.h"

#include <stddef.h>
#include <stdlib.h>

/* Samples taken at first, one after the other, if the budget allows. */
#define FIRST 64
/* The estimates cover at least this many recent samples and candidates. */
#define MEMORY 16.0
#define MEMORY_CHANCES 1024.0
/* The level aims below the share: the next sample may cost more. */
#define AIM 0.75
#define LEVEL_MOST 40u
/* The level is reviewed when PATIENCE samples should have been taken. */
#define PATIENCE 4.0
#define REVIEW_LEAST_NS 1e6

static void set_level(struct sg_sampler *sampler, unsigned level)
{
    sampler->level = level;
    sampler->mask = (UINT64_C(1) << level) - 1;
}

void sg_sampler_start(struct sg_sampler *sampler, double share, uint64_t start_ns)
{
    *sampler = (struct sg_sampler){.share = share,
                                   .start_ns = start_ns,
                                   .noted_ns = start_ns,
                                   .review_ns = UINT64_MAX,
                                   .has_begun = share == 0};
}

static void note(struct sg_sampler *sampler, uint64_t now_ns)
{
    if (now_ns > sampler->noted_ns)
        sampler->time_ns += (double)(now_ns - sampler->noted_ns);
    sampler->noted_ns = now_ns;
    sampler->chances += sampler->uncounted;
    sampler->uncounted = 0;
}

/* Halves old data: costs by the number of samples, times by the number of candidates. */
static void forget(struct sg_sampler *sampler)
{
    if (sampler->taken > MEMORY) {
        sampler->taken /= 2;
        sampler->cost_ns /= 2;
        sampler->dearest_ns /= 2;
    }
    if (sampler->chances > MEMORY_CHANCES) {
        sampler->chances /= 2;
        sampler->time_ns /= 2;
    }
}

void sg_sampler_review(struct sg_sampler *sampler, uint64_t now_ns)
{
    double ratio, wait_ns;
    unsigned level = 0;

    note(sampler, now_ns);
    if (sampler->taken < 1 || sampler->chances < 1 || sampler->time_ns <= 0)
        return;
    ratio = sampler->cost_ns / sampler->taken * sampler->chances /
            (sampler->time_ns * sampler->share * AIM);
    while (level < LEVEL_MOST && (double)(UINT64_C(1) << level) < ratio)
        level++;
    set_level(sampler, level);
    wait_ns = PATIENCE * (double)(UINT64_C(1) << level) * sampler->time_ns / sampler->chances;
    if (wait_ns < REVIEW_LEAST_NS)
        wait_ns = REVIEW_LEAST_NS;
    sampler->review_ns = now_ns + (uint64_t)wait_ns;
    forget(sampler);
}

/* True if the budget covers a sample as expensive as the most expensive recent one. */
static bool has_room(struct sg_sampler *sampler, uint64_t now_ns)
{
    uint64_t last_ns = sampler->spent_ns - sampler->taken_at_ns;

    if (last_ns > sampler->dearest_ns)
        sampler->dearest_ns = last_ns;
    sampler->taken_at_ns = sampler->spent_ns;
    return now_ns > sampler->start_ns && (double)(sampler->spent_ns + sampler->dearest_ns) <=
                                             sampler->share * (double)(now_ns - sampler->start_ns);
}

bool sg_sampler_affords(struct sg_sampler *sampler, uint64_t now_ns)
{
    bool affords;

    if (sampler->share == 0)
        return true;
    affords = has_room(sampler, now_ns);
    if (!sampler->has_begun && (!affords || sampler->taken >= FIRST)) {
        sampler->has_begun = true;
        note(sampler, now_ns);
    }
    if (sampler->has_begun)
        sg_sampler_review(sampler, now_ns);
    if (affords)
        sampler->taken++;
    return affords;
}

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

#define FIRST_CAPACITY 64u /* a power of two */

#define ADD(counter, value)                                                                        \
    atomic_store_explicit(&(counter),                                                              \
                          atomic_load_explicit(&(counter), memory_order_relaxed) + (value),        \
                          memory_order_relaxed)

/* Returns the slot of the pair, or the free one for it. */
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
