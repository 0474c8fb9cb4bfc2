/* Derives identities of communicators from their members and parents, and finds loaded objects and
 * their build ids (module.h).
 */
#include "profile/module.h"

#include "core/clock.h"
#include "core/hash.h"
#include "core/text.h"
#include "mpi/real.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 256u
#define PIECE 64 /* ranks translated per call */

/* Number of communicators made with these members. */
struct count {
    uint64_t members;
    uint32_t number;
    struct count *next;
};

/* A communicator that has not been freed. */
struct made {
    MPI_Comm handle;
    struct sg_identity identity;
    struct count *children; /* most recently used first */
    struct made *next;
};

static struct made *buckets[BUCKETS];
static struct count *without_parent[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- members ---- */

static bool translate(MPI_Group group, int size, MPI_Group world, int *world_ranks)
{
    int ranks[PIECE];

    for (int first = 0; first < size; first += PIECE) {
        int count = size - first < PIECE ? size - first : PIECE;

        for (int i = 0; i < count; i++)
            ranks[i] = first + i;
        if (sg_real.Group_translate_ranks(group, count, ranks, world, world_ranks + first) !=
            MPI_SUCCESS)
            return false;
        for (int i = 0; i < count; i++) {
            if (world_ranks[first + i] < 0)
                return false;
        }
    }
    return true;
}

static bool translate_groups(MPI_Comm comm, int own_count, int remote_count, int *world_ranks)
{
    MPI_Group world, group;
    bool known;

    sg_real.Comm_group(MPI_COMM_WORLD, &world);
    sg_real.Comm_group(comm, &group);
    known = translate(group, own_count, world, world_ranks);
    sg_real.Group_free(&group);
    if (known && remote_count > 0) {
        sg_real.Comm_remote_group(comm, &group);
        known = translate(group, remote_count, world, world_ranks + own_count);
        sg_real.Group_free(&group);
    }
    sg_real.Group_free(&world);
    return known;
}

int *sg_identity_members(MPI_Comm comm, int *count, int *own_count)
{
    int is_inter = 0, remote_count = 0;
    int *world_ranks;

    sg_real.Comm_test_inter(comm, &is_inter);
    sg_real.Comm_size(comm, own_count);
    if (is_inter)
        sg_real.Comm_remote_size(comm, &remote_count);
    *count = *own_count + remote_count;
    world_ranks = malloc((size_t)*count * sizeof *world_ranks);
    if (world_ranks != NULL && !translate_groups(comm, *own_count, remote_count, world_ranks)) {
        free(world_ranks);
        world_ranks = NULL;
    }
    return world_ranks;
}

static uint64_t hash_of_ranks(uint64_t hash, const int *ranks, int count)
{
    hash = sg_hash_word(hash, (uint64_t)count);
    for (int i = 0; i < count; i++)
        hash = sg_hash_word(hash, (uint64_t)ranks[i]);
    return hash;
}

static uint64_t hash_of_members(MPI_Comm comm)
{
    int count, own_count;
    int *ranks = sg_identity_members(comm, &count, &own_count);
    bool own_first;
    uint64_t hash;

    if (ranks == NULL)
        return 0;
    own_first = count == own_count || ranks[0] < ranks[own_count];
    hash = own_first ? hash_of_ranks(SG_HASH_START, ranks, own_count)
                     : hash_of_ranks(SG_HASH_START, ranks + own_count, count - own_count);
    if (count > own_count)
        hash = own_first ? hash_of_ranks(hash, ranks + own_count, count - own_count)
                         : hash_of_ranks(hash, ranks, own_count);
    free(ranks);
    hash = sg_hash_mix(hash);
    return hash != 0 ? hash : 1;
}

/* ---- identities ---- */

static struct made **bucket_of(MPI_Comm handle)
{
    return &buckets[sg_hash_mix((uint32_t)handle) % BUCKETS];
}

static struct made *find(MPI_Comm handle)
{
    struct made *made = *bucket_of(handle);

    while (made != NULL && made->handle != handle)
        made = made->next;
    return made;
}

/* Returns the ordinal of the next one with these members. False: no memory. */
static bool count_next(struct count **counts, uint64_t members, uint32_t *number)
{
    struct count **link = counts, *count;

    while (*link != NULL && (*link)->members != members)
        link = &(*link)->next;
    count = *link;
    if (count != NULL) {
        *link = count->next;
    } else {
        count = calloc(1, sizeof *count);
        if (count == NULL)
            return false;
        count->members = members;
    }
    count->next = *counts;
    *counts = count;
    *number = count->number++;
    return true;
}

static void identify(struct sg_identity *identity, MPI_Comm parent_handle)
{
    struct made *parent = parent_handle != MPI_COMM_NULL ? find(parent_handle) : NULL;
    uint64_t members = identity->members;
    uint64_t hash = members;

    if (members == 0)
        return;
    if (parent != NULL)
        hash = sg_hash_word(sg_hash_word(members, parent->identity.hash), parent->identity.ordinal);
    hash = sg_hash_mix(hash);
    if (count_next(parent != NULL ? &parent->children : &without_parent[members % BUCKETS], members,
                   &identity->ordinal))
        identity->hash = hash != 0 ? hash : 1;
}

static void forget(MPI_Comm handle)
{
    struct made **link = bucket_of(handle), *made;

    while (*link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    made = *link;
    if (made == NULL)
        return;
    *link = made->next;
    while (made->children != NULL) {
        struct count *count = made->children;

        made->children = count->next;
        free(count);
    }
    free(made);
}

void sg_identity_take(const struct sg_identity_source *source)
{
    struct sg_identity identity = {.members = hash_of_members(source->members),
                                   .parent = source->parent_index,
                                   .created_ns = sg_clock_ns()};
    struct made *made;

    pthread_mutex_lock(&lock);
    forget(source->handle);
    made = calloc(1, sizeof *made);
    identify(&identity, source->parent);
    if (made != NULL) {
        made->handle = source->handle;
        made->identity = identity;
        made->next = *bucket_of(source->handle);
        *bucket_of(source->handle) = made;
    }
    pthread_mutex_unlock(&lock);
}

struct sg_identity sg_identity_of(MPI_Comm handle)
{
    struct sg_identity identity = {0};
    const struct made *made;

    pthread_mutex_lock(&lock);
    made = find(handle);
    if (made != NULL)
        identity = made->identity;
    pthread_mutex_unlock(&lock);
    return identity;
}

void sg_identity_forget(MPI_Comm handle)
{
    pthread_mutex_lock(&lock);
    forget(handle);
    pthread_mutex_unlock(&lock);
}

static void read_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                          struct sg_module *module)
{
    const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
    const char *end = at + segment->p_memsz;
    size_t align = segment->p_align == 8 ? 8 : 4;

    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const char *data = name + ((note->n_namesz + align - 1) & ~(align - 1));

        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
            note->n_descsz <= SG_BUILD_ID_MAX && data + note->n_descsz <= end) {
            memcpy(module->build_id, data, note->n_descsz);
            module->build_id_bytes = note->n_descsz;
            return;
        }
        at = data + ((note->n_descsz + align - 1) & ~(align - 1));
    }
}

static char program[PATH_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_program(void)
{
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length > 0 ? length : 0] = '\0';
}

/* The executable has an empty name in the loader's list. */
static const char *path_of(const struct dl_phdr_info *info)
{
    if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0')
        return info->dlpi_name;
    pthread_once(&once, read_program);
    return program;
}

struct wanted {
    uintptr_t address;
    struct sg_module *module;
};

static int match_address(struct dl_phdr_info *info, size_t size, void *context)
{
    struct wanted *wanted = context;
    bool inside = false;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            wanted->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            inside = true;
    }
    if (!inside)
        return 0;
    wanted->module->path = path_of(info);
    wanted->module->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE && wanted->module->build_id_bytes == 0)
            read_build_id(info, &info->dlpi_phdr[i], wanted->module);
    }
    return 1;
}

bool sg_module_find(uintptr_t address, struct sg_module *out)
{
    struct wanted wanted = {.address = address, .module = out};

    memset(out, 0, sizeof *out);
    out->path = "";
    return dl_iterate_phdr(match_address, &wanted) != 0;
}

struct named {
    const char *name;
    char *path;
};

static int match_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct named *named = context;
    const char *path = path_of(info), *base = sg_text_base_name(path);
    size_t wanted = strlen(named->name), length = strlen(base);

    if (length < wanted || strcmp(base + length - wanted, named->name) != 0)
        return 0;
    named->path = strdup(path);
    return 1;
}

char *sg_module_find_path(const char *name)
{
    struct named named = {.name = name};

    dl_iterate_phdr(match_name, &named);
    return named.path;
}
