/* Plain accesses: if two access one byte and one of them writes, one happens before the other, or
 * it is a data race, which is a failure. So a plain read has one value to read: that of the
 * memory itself. */
#include "weak/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRANULE 8u
#define CELLS_MAX (1u << 16) /* a power of two */

struct byte {
    uint32_t read[WEAK_THREADS_MAX]; /* by each, before its operation of that number; 0: not */
    uint32_t written;
    uint8_t writer;
};

struct cell {
    uintptr_t granule;
    uint32_t execution;
    bool has_atomics;
    struct byte bytes[GRANULE];
};

static struct cell *cells;

static struct cell *cell_of(uintptr_t granule)
{
    size_t index = granule * UINT64_C(0x9e3779b97f4a7c15) >> 48;

    if (cells == NULL)
        cells = calloc(CELLS_MAX, sizeof *cells);
    for (unsigned tries = 0; tries < CELLS_MAX; tries++, index++) {
        struct cell *cell = &cells[index % CELLS_MAX];

        if (cell->granule == granule && cell->execution == weak_execution)
            return cell;
        if (cell->execution != weak_execution) {
            memset(cell, 0, sizeof *cell);
            cell->granule = granule;
            cell->execution = weak_execution;
            return cell;
        }
    }
    fprintf(stderr, "weak: too much memory\n");
    abort();
}

static bool is_known(uint32_t number, int thread)
{
    return thread == weak_current || number <= weak_threads[weak_current].now.at[thread];
}

static void __attribute__((noreturn))
report(uintptr_t address, int other, const char *how, const void *site)
{
    weak_fail("data race: thread %d's access to %#lx in %s has no order with what thread %d %s",
              weak_current, (unsigned long)address, weak_site_text(site), other, how);
}

static void check_atomic(uintptr_t address, bool is_write, const void *site)
{
    const struct location *location = weak_find_location(address);

    if (location == NULL)
        return;
    if (is_write)
        weak_fail("plain write to an atomic object in %s", weak_site_text(site));
    for (int i = 1; i < location->count; i++) {
        if (!weak_is_known(&weak_stores[location->order[i]], &weak_threads[weak_current].now))
            report(address, -1, "stored there", site);
    }
}

static void check_byte(struct byte *byte, uintptr_t at, bool is_write, const void *site)
{
    uint32_t number = weak_threads[weak_current].now.at[weak_current] + 1;

    if (byte->written != 0 && !is_known(byte->written, byte->writer))
        report(at, byte->writer, "wrote", site);
    if (!is_write) {
        byte->read[weak_current] = number;
        return;
    }
    for (int i = 0; i < WEAK_THREADS_MAX; i++) {
        if (byte->read[i] != 0 && !is_known(byte->read[i], i))
            report(at, i, "read", site);
    }
    byte->written = number;
    byte->writer = (uint8_t)weak_current;
}

/* Accesses like one that the thread has made since its last operation tell nothing new, if it wrote
 * what it writes again: most are such. */
static bool is_repeated(uintptr_t address, size_t bytes, bool is_write)
{
    static struct {
        uintptr_t address;
        size_t bytes;
        uint32_t execution, number;
        bool is_write;
    } recent[WEAK_THREADS_MAX][256], *entry;
    uint32_t number = weak_threads[weak_current].now.at[weak_current];

    entry = &recent[weak_current][(address >> 2 ^ address >> 10) % 256];
    if (entry->address == address && entry->bytes == bytes && entry->execution == weak_execution &&
        entry->number == number && entry->is_write >= is_write)
        return true;
    entry->address = address;
    entry->bytes = bytes;
    entry->execution = weak_execution;
    entry->number = number;
    entry->is_write = is_write;
    return false;
}

void weak_plain(uintptr_t address, size_t bytes, bool is_write, const void *site)
{
    uintptr_t at = address, end = address + bytes;

    if (is_repeated(address, bytes, is_write))
        return;
    while (at < end) {
        struct cell *cell = cell_of(at / GRANULE);

        do {
            if (cell->has_atomics)
                check_atomic(at, is_write, site);
            check_byte(&cell->bytes[at % GRANULE], at, is_write, site);
        } while (++at < end && at % GRANULE != 0);
    }
}

void weak_atomic_on_plain(uintptr_t address, uint32_t bytes, const void *site)
{
    struct cell *cell = cell_of(address / GRANULE);
    const struct byte *byte = &cell->bytes[address % GRANULE];

    cell->has_atomics = true;
    if (byte->written != 0 && !is_known(byte->written, byte->writer))
        report(address, byte->writer, "wrote", site);
}
