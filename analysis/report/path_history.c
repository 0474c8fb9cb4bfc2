/* Keeps the calls of each location, and the links, in blocks of a mapped temporary file. The file
 * grows in steps; each block belongs to one series. A number of blocks are in use, and the pages of
 * the others are released, so resident memory stays bounded.
 */
#include "report/path_history.h"

#include "core/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Around the page that is accessed, the kernel may map those of the same 64 KiB, which must be in
 * use with it. */
#define BLOCK_BYTES (UINT64_C(64) << 10)
/* The file first grows by this much; each step doubles, up to LAST_STEP_BYTES. */
#define FIRST_STEP_BYTES (UINT64_C(1) << 20)
#define LAST_STEP_BYTES (UINT64_C(64) << 20)
/* Blocks in use: one more for each location, because the analysis proceeds in the order of time. */
#define BLOCKS_IN_USE 64u
#define BLOCKS_IN_USE_EACH 1u

/* A mapped part of the file. */
struct stretch {
    unsigned char *base;
    uint64_t size_bytes;
};

enum use { NOT_IN_USE, IDLE, ACCESSED };

struct block {
    unsigned char *base;
    enum use use; /* IDLE: not accessed since its turn to be released came */
};

/* Records of one size in their order. */
struct series {
    uint32_t *blocks;     /* their numbers */
    uint32_t block_count; /* at 0 and at a power of two, the array is full */
    uint64_t count;
};

struct sg_history {
    FILE *file;
    struct stretch *stretches;
    uint32_t stretch_count;
    uint64_t file_bytes, used_bytes; /* used_bytes: within the last mapping */
    struct block *blocks;            /* as the array of a series */
    uint32_t block_count;
    uint32_t *in_use; /* a ring */
    uint32_t most_in_use;
    uint64_t turns; /* those taken; the next is at turns % most_in_use */
    struct series *locations;
    struct series links; /* the first is not used */
    uint32_t location_count;
    bool is_lost, has_lost_links;
};

enum sg_status sg_history_create(uint32_t locations, struct sg_history **out)
{
    struct sg_history *history = calloc(1, sizeof *history);

    if (history == NULL)
        return SG_ERR_MEMORY;
    history->location_count = locations;
    history->locations = calloc((size_t)locations + 1, sizeof *history->locations);
    history->most_in_use = BLOCKS_IN_USE + BLOCKS_IN_USE_EACH * locations;
    history->in_use = malloc(history->most_in_use * sizeof *history->in_use);
    if (history->locations == NULL || history->in_use == NULL) {
        free(history->locations);
        free(history->in_use);
        free(history);
        return SG_ERR_MEMORY;
    }
    *out = history;
    return SG_OK;
}

static void forget(struct sg_history *history)
{
    for (uint32_t i = 0; i < history->stretch_count; i++)
        munmap(history->stretches[i].base, history->stretches[i].size_bytes);
    free(history->stretches);
    history->stretches = NULL;
    history->stretch_count = 0;
    for (uint32_t i = 0; i < history->location_count; i++)
        free(history->locations[i].blocks);
    free(history->links.blocks);
    free(history->blocks);
    history->blocks = NULL;
    history->block_count = 0;
    history->turns = 0;
    history->links = (struct series){0};
    memset(history->locations, 0, history->location_count * sizeof *history->locations);
    if (history->file != NULL)
        fclose(history->file);
    history->file = NULL;
}

void sg_history_destroy(struct sg_history *history)
{
    if (history == NULL)
        return;
    forget(history);
    free(history->locations);
    free(history->in_use);
    free(history);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void give_up(struct sg_history *history)
{
    sg_log("no space for a temporary file: the critical path is omitted: %m");
    forget(history);
    history->is_lost = true;
}

/* Returns false if the history was given up, or if memory ran out. */
static bool extend(struct sg_history *history)
{
    uint64_t size_bytes = history->file_bytes > 0 ? history->file_bytes : FIRST_STEP_BYTES;
    struct stretch *stretches =
        realloc(history->stretches, (history->stretch_count + 1) * sizeof *stretches);
    struct stretch *added;

    if (stretches == NULL)
        return false;
    history->stretches = stretches;
    added = &stretches[history->stretch_count];
    if (size_bytes > LAST_STEP_BYTES)
        size_bytes = LAST_STEP_BYTES;
    if (history->file == NULL)
        history->file = tmpfile();
    if (history->file == NULL ||
        sg_file_allocate(fileno(history->file), history->file_bytes, size_bytes) != 0) {
        give_up(history);
        return false;
    }
    added->base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(history->file),
                       (off_t)history->file_bytes);
    if (added->base == MAP_FAILED) {
        give_up(history);
        return false;
    }
    /* Pages of other blocks are not read ahead. */
    madvise(added->base, size_bytes, MADV_RANDOM);
    added->size_bytes = size_bytes;
    history->stretch_count++;
    history->file_bytes += size_bytes;
    history->used_bytes = 0;
    return true;
}

/* Returns the array with room for one more; NULL: memory ran out. */
static void *with_room(void *array, uint32_t count, size_t size_bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    return realloc(array, (count > 0 ? 2 * (size_t)count : 1) * size_bytes);
}

/* Returns false as extend() does. */
static bool add_block(struct sg_history *history, struct series *series)
{
    struct block *blocks = with_room(history->blocks, history->block_count, sizeof *blocks);
    uint32_t *numbers = with_room(series->blocks, series->block_count, sizeof *numbers);
    const struct stretch *last;

    if (blocks != NULL)
        history->blocks = blocks;
    if (numbers != NULL)
        series->blocks = numbers;
    if (blocks == NULL || numbers == NULL)
        return false;
    if ((history->stretch_count == 0 ||
         history->used_bytes == history->stretches[history->stretch_count - 1].size_bytes) &&
        !extend(history))
        return false;
    last = &history->stretches[history->stretch_count - 1];
    series->blocks[series->block_count++] = history->block_count;
    history->blocks[history->block_count++] =
        (struct block){last->base + history->used_bytes, NOT_IN_USE};
    history->used_bytes += BLOCK_BYTES;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Begins the use of a block, in place of one that was not accessed for a turn of the ring. In the
 * order of time, each location's last block is accessed again and again: to release the one that
 * has been in use longest would release those. */
static void begin_use(struct sg_history *history, uint32_t number)
{
    uint32_t *place = &history->in_use[history->turns++ % history->most_in_use];

    if (history->turns > history->most_in_use) {
        struct block *idle;

        while ((idle = &history->blocks[*place])->use == ACCESSED) {
            idle->use = IDLE;
            place = &history->in_use[history->turns++ % history->most_in_use];
        }
        idle->use = NOT_IN_USE;
        madvise(idle->base, BLOCK_BYTES, MADV_DONTNEED);
    }
    *place = number;
}

static void access_block(struct sg_history *history, uint32_t number)
{
    if (history->blocks[number].use == NOT_IN_USE)
        begin_use(history, number);
    history->blocks[number].use = ACCESSED;
}

/* Inlined, so that the size is a constant. */
static inline __attribute__((always_inline)) void *
record_at(struct sg_history *history, struct series *series, uint64_t number, uint64_t size_bytes)
{
    uint64_t in_block = BLOCK_BYTES / size_bytes;
    uint32_t block = series->blocks[number / in_block];

    if (history->blocks[block].use != ACCESSED)
        access_block(history, block);
    return history->blocks[block].base + number % in_block * size_bytes;
}

/* Returns the series' new record; NULL as add_block(). */
static void *append(struct sg_history *history, struct series *series, uint64_t size_bytes)
{
    if (series->count == series->block_count * (BLOCK_BYTES / size_bytes) &&
        !add_block(history, series))
        return NULL;
    return record_at(history, series, series->count++, size_bytes);
}

static struct sg_history_call *call_at(struct sg_history *history, uint32_t location,
                                       uint64_t number)
{
    return record_at(history, &history->locations[location], number,
                     sizeof(struct sg_history_call));
}

enum sg_status sg_history_add(struct sg_history *history, uint32_t index, int64_t begin_ns,
                              int64_t end_ns, uint32_t place)
{
    struct series *location = &history->locations[index];
    struct sg_history_call *call;

    if (history->is_lost || end_ns < begin_ns ||
        (location->count > 0 && begin_ns < call_at(history, index, location->count - 1)->end_ns))
        return SG_OK;
    call = append(history, location, sizeof *call);
    if (call == NULL)
        return history->is_lost ? SG_OK : SG_ERR_MEMORY;
    *call = (struct sg_history_call){
        .begin_ns = begin_ns, .end_ns = end_ns, .place = place, .other = SG_HISTORY_NOBODY};
    return SG_OK;
}

uint64_t sg_history_before_among(struct sg_history *history, uint32_t location, uint64_t count,
                                 int64_t time_ns)
{
    uint64_t low, high = count, step = 1;

    /* The call is usually one of the last: search backwards in doubling steps first. */
    while (step < high && call_at(history, location, high - step)->begin_ns >= time_ns) {
        high -= step;
        step *= 2;
    }
    low = step < high ? high - step : 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (call_at(history, location, middle)->begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t sg_history_before(struct sg_history *history, uint32_t location, int64_t time_ns)
{
    return sg_history_before_among(history, location, history->locations[location].count, time_ns);
}

/* The location's call that contains the moment; NULL: none. */
static struct sg_history_call *find(struct sg_history *history, uint32_t location, int64_t at_ns)
{
    uint64_t count = history->locations[location].count, number;
    struct sg_history_call *call = count > 0 ? call_at(history, location, count - 1) : NULL;

    /* It is usually the last. A call that begins at this moment contains it, too. */
    if (call != NULL && call->begin_ns > at_ns) {
        number = sg_history_before_among(history, location, count, at_ns);
        if (call_at(history, location, number)->begin_ns == at_ns)
            number++;
        call = number > 0 ? call_at(history, location, number - 1) : NULL;
    }
    return call != NULL && at_ns <= call->end_ns ? call : NULL;
}

void sg_history_wait(struct sg_history *history, uint32_t location, int64_t at_ns, int64_t until_ns,
                     uint32_t other)
{
    struct sg_history_call *call;

    if (history->is_lost || other >= history->location_count)
        return;
    call = find(history, location, at_ns);
    if (call == NULL || until_ns <= call->begin_ns ||
        (call->other != SG_HISTORY_NOBODY && call->until_ns >= until_ns))
        return;
    call->until_ns = until_ns;
    call->other = other;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void put(struct sg_history *history, uint32_t *list, uint32_t location, int64_t value)
{
    struct sg_history_link *link;
    uint64_t number;

    if (history->is_lost || history->has_lost_links)
        return;
    if (history->links.count == 0)
        append(history, &history->links, sizeof *link);
    number = history->links.count;
    link =
        number > 0 && number < UINT32_MAX ? append(history, &history->links, sizeof *link) : NULL;
    if (link == NULL) {
        history->has_lost_links = true;
        return;
    }
    *link = (struct sg_history_link){.begin_ns = value, .location = location, .next = *list};
    *list = (uint32_t)number;
}

void sg_history_link(struct sg_history *history, uint32_t *list, uint32_t location,
                     int64_t begin_ns)
{
    if (location < history->location_count)
        put(history, list, location, begin_ns);
}

void sg_history_join(struct sg_history *history, uint32_t *list, uint32_t other)
{
    if (*list == 0)
        *list = other;
    else if (other != 0 && other != *list)
        put(history, list, SG_HISTORY_LIST, other);
}

void sg_history_need(struct sg_history *history, uint32_t location, int64_t at_ns, uint32_t list)
{
    struct sg_history_call *call =
        list != 0 && !history->is_lost ? find(history, location, at_ns) : NULL;
    uint32_t needs;

    if (call == NULL)
        return;
    /* A new link may release the call's page, but not unmap it. */
    needs = call->needs;
    sg_history_join(history, &needs, list);
    if (!history->is_lost)
        call->needs = needs;
}

struct sg_history_link *sg_history_link_at(struct sg_history *history, uint32_t number)
{
    return number > 0 && number < history->links.count
               ? record_at(history, &history->links, number, sizeof(struct sg_history_link))
               : NULL;
}

bool sg_history_has_lost_links(const struct sg_history *history)
{
    return history->is_lost || history->has_lost_links;
}

bool sg_history_is_lost(const struct sg_history *history)
{
    return history->is_lost;
}

uint64_t sg_history_count(const struct sg_history *history, uint32_t location)
{
    return history->locations[location].count;
}

struct sg_history_call *sg_history_at(struct sg_history *history, uint32_t location,
                                      uint64_t number)
{
    return call_at(history, location, number);
}
