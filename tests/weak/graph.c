/* Executions as graphs: the store that each load has read, and each location's modification
 * order.
 *
 * A load may read any store that is not older than one its thread knows of; known stores happen
 * before it or were read before it. A store goes anywhere behind those in modification order, but
 * not between a read-modify-write and the store that it has read. Both are chosen. Loads do not
 * read later stores (no load buffering): program order and reads-from together have no cycle, as
 * in RC11.
 */
#include "weak/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 8192
#define LOCATIONS_MAX 4096 /* a power of two; at most half of them are used */

struct event weak_events[EVENTS_MAX];
int weak_event_count;
struct store weak_stores[EVENTS_MAX];
int weak_store_count;

static struct location *locations[LOCATIONS_MAX];
static int location_count;

void weak_graph_reset(void)
{
    weak_event_count = 0;
    weak_store_count = 0;
}

void weak_forget_locations(void)
{
    for (int i = 0; i < LOCATIONS_MAX; i++) {
        free(locations[i]);
        locations[i] = NULL;
    }
    location_count = 0;
}

static void __attribute__((noreturn)) give_up(const char *what)
{
    fprintf(stderr, "weak: %s\n", what);
    abort();
}

/* ---- locations ---- */

static struct location **place_of(uintptr_t address)
{
    size_t index = (address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 52;

    while (locations[index % LOCATIONS_MAX] != NULL &&
           locations[index % LOCATIONS_MAX]->address != address)
        index++;
    return &locations[index % LOCATIONS_MAX];
}

struct location *weak_find_location(uintptr_t address)
{
    struct location *location = *place_of(address);

    return location != NULL && location->execution == weak_execution ? location : NULL;
}

static int new_store(uint64_t value)
{
    if (weak_store_count == EVENTS_MAX)
        give_up("too many stores");
    weak_stores[weak_store_count] = (struct store){.value = value};
    return weak_store_count++;
}

struct location *weak_location(uintptr_t address, uint32_t bytes)
{
    struct location **place = place_of(address);
    struct location *location = *place;
    uint64_t value = 0;

    if (location == NULL) {
        if (2 * ++location_count > LOCATIONS_MAX)
            give_up("too many atomic objects");
        *place = location = calloc(1, sizeof *location);
        location->address = address;
        location->bytes = bytes;
    }
    if (location->bytes != bytes)
        give_up("accesses of different sizes to one atomic object");
    if (location->execution != weak_execution) {
        location->execution = weak_execution;
        memset(location->stored, 0, sizeof location->stored);
        memcpy(&value, (const void *)address, bytes);
        location->last_event = -1;
        location->count = 1;
        location->order[0] = new_store(value);
    }
    return location;
}

static void insert(struct location *location, int store, int position)
{
    if (location->count == STORES_MAX)
        give_up("too many stores to one object");
    for (int i = location->count++; i > position; i--) {
        location->order[i] = location->order[i - 1];
        weak_stores[location->order[i]].position = i;
    }
    location->order[position] = store;
    weak_stores[store].position = position;
    if (position == location->count - 1)
        memcpy((void *)location->address, &weak_stores[store].value, location->bytes);
}

static void count_store(struct location *location)
{
    uint32_t *stored = &location->stored[weak_current];

    if (++*stored > location->most[weak_current]) {
        location->most[weak_current] = *stored;
        weak_growth++;
    }
}

/* ---- what is known ---- */

bool weak_is_known(const struct store *store, const struct clock *clock)
{
    for (int i = 0; i < WEAK_THREADS_MAX; i++) {
        if (store->touched[i] != 0 && store->touched[i] <= clock->at[i])
            return true;
    }
    return false;
}

/* The position of the newest store that the thread knows of. */
static int known_position(const struct location *location)
{
    int position = location->count - 1;

    while (position > 0 &&
           !weak_is_known(&weak_stores[location->order[position]], &weak_threads[weak_current].now))
        position--;
    return position;
}

static void touch(struct store *store, uint32_t operation)
{
    if (store->touched[weak_current] == 0)
        store->touched[weak_current] = operation;
}

/* ---- events ---- */

/* As it is before it has chosen what to read or where to go. */
static struct event begin(enum operation operation, memory_order order, struct location *location,
                          const void *site)
{
    struct event event = {.thread = (uint8_t)weak_current,
                          .operation = (uint8_t)operation,
                          .order = (uint8_t)order,
                          .location = location,
                          .store = -1,
                          .clock = weak_threads[weak_current].now,
                          .site = site};

    event.clock.at[weak_current]++;
    return event;
}

static void end(const struct event *event)
{
    if (weak_event_count == EVENTS_MAX)
        give_up("too many events");
    weak_threads[weak_current].now = event->clock;
    weak_events[weak_event_count] = *event;
    if (event->location != NULL) {
        weak_events[weak_event_count].previous = event->location->last_event;
        event->location->last_event = weak_event_count;
    }
    weak_event_count++;
}

/* Begins the event of a load, or of an update, that reads a store. */
static struct event begin_read(const struct access *access, int store)
{
    bool updates = access->operation == OPERATION_UPDATE &&
                   (!access->compares || weak_stores[store].value == access->expected);
    struct event event = begin(updates ? OPERATION_UPDATE : OPERATION_LOAD,
                               updates || !access->compares ? access->order : access->failure_order,
                               access->location, access->site);

    event.store = store;
    event.value = weak_stores[store].value;
    if (weak_acquires(event.order))
        clock_join(&event.clock, &weak_stores[store].released);
    return event;
}

bool weak_may_read(const struct access *access, int store)
{
    struct event event = begin_read(access, store);

    if (weak_stores[store].position < known_position(access->location))
        return false;
    if (event.operation == OPERATION_UPDATE && weak_stores[store].has_successor)
        return false;
    return weak_order_allows(&event, weak_stores[store].position);
}

static void read_store(const struct event *event)
{
    struct store *store = &weak_stores[event->store];

    if (!weak_acquires(event->order))
        clock_join(&weak_threads[weak_current].pending, &store->released);
    touch(store, event->clock.at[weak_current]);
    weak_has_read(event->location, event->store);
}

uint64_t weak_load(uintptr_t address, uint32_t bytes, memory_order order, const void *site)
{
    struct access access = {.operation = OPERATION_LOAD,
                            .order = weak_order_at(site, OPERATION_LOAD, order),
                            .location = weak_location(address, bytes),
                            .site = site};

    weak_atomic_on_plain(address, bytes, site);
    struct event event = begin_read(&access, weak_choose_store(&access));
    weak_order_add(&event, weak_stores[event.store].position);
    read_store(&event);
    end(&event);
    return event.value;
}

/* ---- stores ---- */

/* Returns the clock that a thread gets when it acquires the store. */
static struct clock released_by(const struct event *event)
{
    return weak_releases(event->order) ? event->clock : weak_threads[weak_current].released;
}

/* Behind which position: chosen. */
static int choose_position(const struct event *event)
{
    struct location *location = event->location;
    int positions[STORES_MAX], count = 0;

    /* The end first. */
    for (int i = location->count - 1; i >= known_position(location); i--) {
        if (!weak_stores[location->order[i]].has_successor && weak_order_allows(event, i))
            positions[count++] = i;
    }
    return positions[weak_choose(count)];
}

static void add_store(struct event *event, int after, uint64_t value, struct clock released)
{
    int store = new_store(value);

    weak_order_add(event, after);
    weak_stores[store].released = released;
    touch(&weak_stores[store], event->clock.at[weak_current]);
    insert(event->location, store, after + 1);
    count_store(event->location);
    event->store = store;
    event->value = value;
    end(event);
    weak_stored();
}

void weak_store(uintptr_t address, uint32_t bytes, uint64_t value, memory_order order,
                const void *site)
{
    struct event event = begin(OPERATION_STORE, weak_order_at(site, OPERATION_STORE, order),
                               weak_location(address, bytes), site);

    weak_atomic_on_plain(address, bytes, site);
    add_store(&event, choose_position(&event), value, released_by(&event));
}

static uint64_t update(const struct access *access, int store, uint64_t value)
{
    struct event event = begin_read(access, store);
    uint64_t old = event.value;

    read_store(&event);
    /* A thread that acquires it acquires what it has read, too: a release sequence. */
    struct clock released = released_by(&event);
    clock_join(&released, &weak_stores[store].released);
    weak_stores[store].has_successor = true;
    add_store(&event, weak_stores[store].position, value, released);
    return old;
}

static uint64_t mask(uint32_t bytes)
{
    return UINT64_MAX >> (64 - 8 * bytes);
}

uint64_t weak_update(uintptr_t address, uint32_t bytes, weak_change change, uint64_t operand,
                     memory_order order, const void *site)
{
    struct access access = {.operation = OPERATION_UPDATE,
                            .order = weak_order_at(site, OPERATION_UPDATE, order),
                            .location = weak_location(address, bytes),
                            .site = site};

    weak_atomic_on_plain(address, bytes, site);
    int store = weak_choose_store(&access);
    return update(&access, store, change(weak_stores[store].value, operand) & mask(bytes));
}

bool weak_compare(uintptr_t address, uint32_t bytes, uint64_t *expected, uint64_t desired,
                  memory_order order, memory_order failure_order, const void *site)
{
    struct access access = {.operation = OPERATION_UPDATE,
                            .order = weak_order_at(site, OPERATION_UPDATE, order),
                            .failure_order = weak_order_at(site, OPERATION_LOAD, failure_order),
                            .location = weak_location(address, bytes),
                            .compares = true,
                            .expected = *expected,
                            .site = site};

    weak_atomic_on_plain(address, bytes, site);
    int store = weak_choose_store(&access);
    if (weak_stores[store].value == *expected) {
        update(&access, store, desired);
        return true;
    }
    struct event event = begin_read(&access, store);
    weak_order_add(&event, weak_stores[store].position);
    read_store(&event);
    end(&event);
    /* In another execution it may store: what keeps it from it may be a load that waits for it. */
    count_store(access.location);
    *expected = event.value;
    return false;
}

void weak_fence(memory_order order, const void *site)
{
    struct event event =
        begin(OPERATION_FENCE, weak_order_at(site, OPERATION_FENCE, order), NULL, site);
    struct thread *thread = &weak_threads[weak_current];

    if (weak_acquires(event.order))
        clock_join(&event.clock, &thread->pending);
    if (weak_releases(event.order))
        thread->released = event.clock;
    weak_order_add(&event, -1);
    end(&event);
}
