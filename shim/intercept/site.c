#include "intercept/site.h"

#include "core/hash.h"
#include "core/status.h"
#include "intercept/process.h"
#include "mpi/real.h"

#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLE_SLOTS 32768u /* a power of two; three quarters of it are used at most */
#define DEPTH_MAX 16
#define BUILD_ID_MAX 32
/* Frames of MPI's libraries and ours above the application's. */
#define INNER_FRAMES_MAX 16

/* Open addressing, filled once and never emptied; readers take no lock. Keys are addresses, or
 * hashes of several. */
struct table {
    struct entry {
        _Atomic uintptr_t key; /* 0: free */
        void *value;
    } slots[TABLE_SLOTS];
    unsigned used;
};

/* The object an address lies in. */
struct module {
    char path[PATH_MAX];
    uintptr_t base; /* to subtract for a link-time address */
    unsigned char build_id[BUILD_ID_MAX];
    unsigned build_id_bytes;
};

static struct table by_address; /* -> site, or &inner */
static struct table by_path;    /* several frames -> site */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_site unknown;
static struct sg_site inner;  /* stands for addresses in MPI's libraries and ours */
static struct sg_site *sites; /* all of them; they live as long as the process */
static uint32_t site_count;
static struct sg_symbols *symbols;

static void *table_find(struct table *table, uintptr_t key)
{
    for (uint64_t at = sg_hash_mix(key);; at++) {
        struct entry *entry = &table->slots[at % TABLE_SLOTS];
        /* Acquire: pairs with table_add, the value is there. */
        uintptr_t found = atomic_load_explicit(&entry->key, memory_order_acquire);

        if (found == key)
            return entry->value;
        if (found == 0)
            return NULL;
    }
}

static bool table_is_full(const struct table *table)
{
    return table->used >= TABLE_SLOTS / 4 * 3;
}

/* Under the lock. A full table keeps what it has: all later sites are "unknown". */
static void table_add(struct table *table, uintptr_t key, void *value)
{
    uint64_t at = sg_hash_mix(key);

    if (table_is_full(table))
        return;
    while (atomic_load_explicit(&table->slots[at % TABLE_SLOTS].key, memory_order_relaxed) != 0)
        at++;
    table->slots[at % TABLE_SLOTS].value = value;
    /* Release: see table_find. */
    atomic_store_explicit(&table->slots[at % TABLE_SLOTS].key, key, memory_order_release);
    table->used++;
}

struct wanted {
    uintptr_t address;
    struct module *module;
};

static void read_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                          struct module *module)
{
    const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
    const char *end = at + segment->p_memsz;
    size_t align = segment->p_align == 8 ? 8 : 4;

    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = at + sizeof *note;
        const char *data = name + ((note->n_namesz + align - 1) & ~(align - 1));

        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
            note->n_descsz <= BUILD_ID_MAX && data + note->n_descsz <= end) {
            memcpy(module->build_id, data, note->n_descsz);
            module->build_id_bytes = note->n_descsz;
            return;
        }
        at = data + ((note->n_descsz + align - 1) & ~(align - 1));
    }
}

static int match_module(struct dl_phdr_info *info, size_t size, void *context)
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
    snprintf(wanted->module->path, sizeof wanted->module->path, "%s",
             info->dlpi_name ? info->dlpi_name : "");
    wanted->module->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE && wanted->module->build_id_bytes == 0)
            read_build_id(info, &info->dlpi_phdr[i], wanted->module);
    }
    return 1;
}

/* False for an address in no object (generated code): the module is then nameless. */
static bool find_module(uintptr_t address, struct module *out)
{
    struct wanted wanted = {.address = address, .module = out};

    memset(out, 0, sizeof *out);
    if (dl_iterate_phdr(match_module, &wanted) == 0)
        return false;
    if (out->path[0] == '\0') { /* the executable has no name here */
        ssize_t length = readlink("/proc/self/exe", out->path, sizeof out->path - 1);

        out->path[length > 0 ? length : 0] = '\0';
    }
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static uint64_t hash_frame(uint64_t hash, const struct module *module, uintptr_t address)
{
    uint64_t offset = address - module->base;

    if (module->build_id_bytes > 0)
        hash = sg_hash_bytes(hash, module->build_id, module->build_id_bytes);
    else
        hash = sg_hash_bytes(hash, base_name(module->path), strlen(base_name(module->path)));
    return sg_hash_bytes(hash, &offset, sizeof offset);
}

/* Whole, for who looks the names up later, from elsewhere. */
static void print_path(FILE *out, const struct module *module)
{
    char path[PATH_MAX];

    fputs(realpath(module->path, path) != NULL ? path : module->path, out);
}

static void print_build_id(FILE *out, const struct module *module)
{
    for (unsigned i = 0; i < module->build_id_bytes; i++)
        fprintf(out, "%02x", module->build_id[i]);
}

/* The record's text. */
static void print_site(FILE *out, const struct module *module, void *const *frames, int count)
{
    struct module outer;

    print_path(out, module);
    putc('\0', out);
    print_build_id(out, module);
    putc('\0', out);
    for (int i = 1; i < count; i++) {
        find_module((uintptr_t)frames[i], &outer);
        fprintf(out, "%s%" PRIxPTR " ", i > 1 ? "\n" : "", (uintptr_t)frames[i] - outer.base);
        print_build_id(out, &outer);
        putc(' ', out);
        if (strcmp(outer.path, module->path) != 0)
            print_path(out, &outer);
    }
    putc('\0', out);
}

/* Writes the definition; 0 ("unknown") when it cannot be kept. */
static uint32_t record(const struct sg_site *site, const struct module *module, void *const *frames,
                       int count)
{
    struct sg_record_site *entry = NULL;
    char *text = NULL;
    size_t length;
    FILE *out;

    if (sg_process.log == NULL)
        return 0;
    out = open_memstream(&text, &length);
    if (out == NULL)
        return 0;
    print_site(out, module, frames, count);
    if (fclose(out) == 0)
        entry = sg_log_definition(sg_process.log, text, length);
    free(text);
    if (entry == NULL)
        return 0;
    entry->depth = (uint8_t)sg_process.config.depth;
    entry->index = ++site_count;
    entry->id = site->rule.id;
    entry->text_bytes = (uint32_t)length;
    entry->offset = site->rule.offset;
    sg_log_publish(entry, SG_RECORD_SITE);
    return site_count;
}

/* Under the lock. */
static void look_up(const char *path, uint64_t offset, struct sg_symbol *symbol)
{
    const struct sg_companion *companion = sg_process.companion;

    if (companion != NULL && (symbols != NULL || companion->symbols_open(&symbols) == SG_OK))
        companion->symbols_lookup(symbols, path, "", offset, symbol);
}

/* Under the lock: rules that name files, lines or functions need them at the first call. */
static void name_site(struct sg_site *site, const struct module *module)
{
    struct sg_symbol symbol = {0};

    if (!sg_ruleset_needs_names(sg_process.rules))
        return;
    look_up(module->path, site->rule.offset, &symbol);
    site->rule.function = symbol.function;
    site->rule.file = symbol.file;
    site->rule.line = symbol.line;
}

/* Under the lock. frames[0] is the application's innermost. */
static struct sg_site *make_site(void *const *frames, int count)
{
    struct sg_site *site = calloc(1, sizeof *site);
    struct module module, outer;
    uint64_t hash = SG_HASH_START;

    if (site == NULL)
        return &unknown;
    find_module((uintptr_t)frames[0], &module);
    hash = hash_frame(hash, &module, (uintptr_t)frames[0]);
    for (int i = 1; i < count; i++) {
        find_module((uintptr_t)frames[i], &outer);
        hash = hash_frame(hash, &outer, (uintptr_t)frames[i]);
    }
    site->rule.id = sg_hash_fold(hash);
    if (site->rule.id == 0)
        site->rule.id = 1;
    site->rule.offset = (uintptr_t)frames[0] - module.base;
    site->rule.module = strdup(base_name(module.path));
    name_site(site, &module);
    site->index = record(site, &module, frames, count);
    site->next = sites;
    sites = site;
    return site;
}

/* What stands behind an address: a site of depth 1, or &inner. */
static struct sg_site *classify(void *address)
{
    struct sg_site *site = table_find(&by_address, (uintptr_t)address);
    struct module module, own;

    if (site != NULL)
        return site;
    pthread_mutex_lock(&lock);
    site = table_find(&by_address, (uintptr_t)address);
    if (site == NULL) {
        bool found = find_module((uintptr_t)address, &module);

        find_module((uintptr_t)&lock, &own);
        if (found && (sg_real_owns(module.path) || module.base == own.base))
            site = &inner;
        else if (sg_process.config.depth > 1 || table_is_full(&by_address))
            site = &unknown; /* depth > 1: in the application; its path makes the site */
        else
            site = make_site(&address, 1);
        table_add(&by_address, (uintptr_t)address, site);
    }
    pthread_mutex_unlock(&lock);
    return site;
}

/* The application's frames, innermost first; 0 when the stack could not be walked. */
static int application_frames(void **frames, int depth)
{
    void *all[INNER_FRAMES_MAX + DEPTH_MAX];
    int count = sg_process.backtrace(all, INNER_FRAMES_MAX + depth);
    int first = 0;
    int kept = 0;

    while (first < count && classify(all[first]) == &inner)
        first++;
    while (kept < depth && first + kept < count) {
        frames[kept] = all[first + kept];
        kept++;
    }
    return kept;
}

static struct sg_site *site_of_path(void *const *frames, int count)
{
    uintptr_t key = (uintptr_t)sg_hash_bytes(SG_HASH_START, frames, (size_t)count * sizeof *frames);
    struct sg_site *site = table_find(&by_path, key);

    if (site != NULL)
        return site;
    pthread_mutex_lock(&lock);
    site = table_find(&by_path, key);
    if (site == NULL) {
        site = table_is_full(&by_path) ? &unknown : make_site(frames, count);
        table_add(&by_path, key, site);
    }
    pthread_mutex_unlock(&lock);
    return site;
}

struct sg_site *sg_site_of(void *return_address)
{
    int depth = sg_process.config.depth;
    void *frames[DEPTH_MAX];
    struct sg_site *site = classify(return_address);
    int count;

    if (depth == 1 && site != &inner)
        return site;
    if (sg_process.backtrace == NULL)
        return &unknown;
    count = application_frames(frames, depth);
    if (count == 0)
        return &unknown;
    return depth == 1 ? classify(frames[0]) : site_of_path(frames, count);
}

/* ---- messages --------------------------------------------------------------------------------*/

struct named {
    const char *name; /* the base name's end */
    char path[PATH_MAX];
};

static int match_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct named *named = context;
    char path[PATH_MAX];
    size_t wanted = strlen(named->name), length;
    ssize_t linked;

    snprintf(path, sizeof path, "%s", info->dlpi_name ? info->dlpi_name : "");
    if (path[0] == '\0') { /* the executable */
        linked = readlink("/proc/self/exe", path, sizeof path - 1);
        path[linked > 0 ? linked : 0] = '\0';
    }
    length = strlen(base_name(path));
    if (length < wanted || strcmp(base_name(path) + length - wanted, named->name) != 0)
        return 0;
    strcpy(named->path, path);
    return 1;
}

bool sg_site_place(uint32_t id, const char *module, uint64_t offset, char *text, size_t text_bytes)
{
    struct named named = {.name = module};
    struct sg_symbol symbol = {0};

    pthread_mutex_lock(&lock);
    for (const struct sg_site *site = sites; site != NULL && symbol.file == NULL;
         site = site->next) {
        if (site->rule.id == id)
            symbol = (struct sg_symbol){site->rule.function, site->rule.file, site->rule.line};
    }
    if (symbol.file == NULL && module[0] != '\0' && dl_iterate_phdr(match_name, &named) != 0)
        look_up(named.path, offset, &symbol);
    pthread_mutex_unlock(&lock);
    if (symbol.file == NULL)
        return false;
    snprintf(text, text_bytes, "%s%s%s:%u", symbol.function != NULL ? symbol.function : "",
             symbol.function != NULL ? " " : "", base_name(symbol.file), symbol.line);
    return true;
}
