#include "profile/groups.h"

#include "core/hash.h"
#include "runtime/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

/* Never given back to malloc. */
struct known {
    struct known *next;
    int number, size;
    int text[]; /* of the record: an empty name, which is a word of zeros, then the members */
};

static struct known *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int group_count;

static int record(const struct known *known)
{
    size_t text_bytes = (size_t)(1 + known->size) * sizeof known->text[0];
    struct sg_record_group *entry = sg_log_definition(sg_process.log, known->text, text_bytes);

    if (entry == NULL)
        return SG_NO_NUMBER;
    entry->index = (uint32_t)group_count;
    entry->size = (uint32_t)known->size;
    entry->text_bytes = (uint32_t)text_bytes;
    sg_log_publish(entry, SG_RECORD_GROUP);
    return group_count++;
}

/* Under the lock. */
static int find(const int *members, int size)
{
    size_t size_bytes = (size_t)size * sizeof *members;
    struct known **link = &buckets[sg_hash_bytes(SG_HASH_START, members, size_bytes) % BUCKETS];
    struct known *known = *link;

    while (known != NULL &&
           (known->size != size || memcmp(known->text + 1, members, size_bytes) != 0))
        known = known->next;
    if (known != NULL)
        return known->number;
    known = calloc(1, sizeof *known + sizeof known->text[0] + size_bytes);
    if (known == NULL)
        return SG_NO_NUMBER;
    known->size = size;
    memcpy(known->text + 1, members, size_bytes);
    known->number = record(known);
    known->next = *link;
    *link = known;
    return known->number;
}

int sg_group_of_members(const int *members, int size)
{
    int number;

    pthread_mutex_lock(&lock);
    number = find(members, size);
    pthread_mutex_unlock(&lock);
    return number;
}
