#include "sim/timed_queue.h"

#include <stdlib.h>

#define WAYS 4
#define FIRST_CAPACITY 1024

static bool before(const struct sg_queue_entry *left, const struct sg_queue_entry *right)
{
    return left->time_ns != right->time_ns ? left->time_ns < right->time_ns
                                           : left->number < right->number;
}

static bool grow(struct sg_queue *queue)
{
    size_t capacity = queue->capacity > 0 ? queue->capacity * 2 : FIRST_CAPACITY;
    struct sg_queue_entry *list = realloc(queue->list, capacity * sizeof *list);

    if (list == NULL)
        return false;
    queue->list = list;
    queue->capacity = capacity;
    return true;
}

bool sg_queue_push(struct sg_queue *queue, uint64_t time_ns, uint32_t kind, uint32_t index)
{
    struct sg_queue_entry entry = {time_ns, queue->pushed, kind, index};
    size_t at = queue->count;

    if (queue->count == queue->capacity && !grow(queue))
        return false;
    queue->pushed++;
    queue->count++;
    while (at > 0) {
        size_t parent = (at - 1) / WAYS;

        if (!before(&entry, &queue->list[parent]))
            break;
        queue->list[at] = queue->list[parent];
        at = parent;
    }
    queue->list[at] = entry;
    return true;
}

static size_t least_child(const struct sg_queue *queue, size_t first)
{
    size_t end = first + WAYS < queue->count ? first + WAYS : queue->count;
    size_t least = first;

    for (size_t child = first + 1; child < end; child++) {
        if (before(&queue->list[child], &queue->list[least]))
            least = child;
    }
    return least;
}

bool sg_queue_pop(struct sg_queue *queue, struct sg_queue_entry *entry)
{
    struct sg_queue_entry last;
    size_t at = 0;

    if (queue->count == 0)
        return false;
    *entry = queue->list[0];
    last = queue->list[--queue->count];
    while (at * WAYS + 1 < queue->count) {
        size_t child = least_child(queue, at * WAYS + 1);

        if (!before(&queue->list[child], &last))
            break;
        queue->list[at] = queue->list[child];
        at = child;
    }
    if (queue->count > 0)
        queue->list[at] = last;
    return true;
}

void sg_queue_clear(struct sg_queue *queue)
{
    free(queue->list);
    *queue = (struct sg_queue){0};
}
