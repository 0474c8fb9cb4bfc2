#include "profile/function_log.h"

#include "runtime/process.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64

_Atomic uint32_t sg_function_numbers[SG_FUNCTION_COUNT];
static _Atomic(struct sg_record_function *) records[SG_FUNCTION_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t count;

/* Under the lock. Large counts make no difference to a name. */
static uint32_t define(enum sg_function function)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    size_t text_bytes = strlen(facts->name) + 1 - (facts->counts_wide ? strlen("_c") : 0);
    struct sg_record_function *entry;
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)text_bytes - 1, facts->name);
    entry = sg_log_definition(sg_process.log, name, text_bytes);
    if (entry == NULL)
        return 0;
    entry->mode = facts->mode;
    entry->class = facts->class;
    entry->index = count++;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_FUNCTION);
    /* Release: whoever sees it may count in it. */
    atomic_store_explicit(&records[function], entry, memory_order_release);
    atomic_store_explicit(&sg_function_numbers[function], count, memory_order_relaxed);
    return count;
}

uint32_t sg_function_define(enum sg_function function)
{
    uint32_t number;

    pthread_mutex_lock(&lock);
    number = atomic_load_explicit(&sg_function_numbers[function], memory_order_relaxed);
    if (number == 0)
        number = define(function);
    pthread_mutex_unlock(&lock);
    return number;
}

void sg_function_leave_out(enum sg_function function)
{
    struct sg_record_function *entry =
        sg_function_number(function) > 0
            ? atomic_load_explicit(&records[function], memory_order_acquire)
            : NULL;

    if (entry != NULL)
        atomic_fetch_add_explicit(&entry->left_out, 1, memory_order_relaxed);
}
