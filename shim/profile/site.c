/* Finds and defines call sites (site.h): classifies return addresses, walks the stack with
 * libunwind if MPI's libraries are in between, and looks up names for rules and messages. First
 * look-ups run on the alternate stack.
 */
#include "profile/site.h"

#include "core/altstack.h"
#include "core/status.h"
#include "mpi/real.h"
#include "profile/module.h"
#include "runtime/settings.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define DEPTH_MAX 16
/* Frames of MPI's libraries and of this one above the application's. */
#define INNER_FRAMES_MAX 24

static struct sg_pointer_table by_address; /* -> site, or &inner */
static struct sg_pointer_table by_path;    /* hash of several frames -> site */
/* Recursive: a look-up of names may unload an object. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct sg_site unknown;
static struct sg_site inner;  /* represents addresses in MPI's libraries and this one */
static struct sg_site *sites; /* all sites; they are never freed */
static uint32_t site_count;
static bool has_forgotten; /* some sites are in no table */
static struct sg_symbols *symbols;

static uint64_t hash_frame(uint64_t hash, const struct sg_module *module, uintptr_t address)
{
    const char *name = sg_text_base_name(module->path);
    uint64_t offset = address - module->base;

    if (module->build_id_bytes > 0)
        hash = sg_hash_bytes(hash, module->build_id, module->build_id_bytes);
    else
        hash = sg_hash_bytes(hash, name, strlen(name));
    return sg_hash_bytes(hash, &offset, sizeof offset);
}

/* Prints the absolute path: names are looked up later and elsewhere. */
static void print_path(FILE *out, const struct sg_module *module)
{
    char *path = realpath(module->path, NULL);

    fputs(path != NULL ? path : module->path, out);
    free(path);
}

static void print_build_id(FILE *out, const struct sg_module *module)
{
    for (unsigned i = 0; i < module->build_id_bytes; i++)
        fprintf(out, "%02x", module->build_id[i]);
}

/* Prints the record's text. */
static void print_site(FILE *out, const struct sg_module *module, void *const *frames, int count)
{
    struct sg_module outer;

    print_path(out, module);
    putc('\0', out);
    print_build_id(out, module);
    putc('\0', out);
    for (int i = 1; i < count; i++) {
        sg_module_find((uintptr_t)frames[i], &outer);
        fprintf(out, "%s%" PRIxPTR " ", i > 1 ? "\n" : "", (uintptr_t)frames[i] - outer.base);
        print_build_id(out, &outer);
        putc(' ', out);
        if (strcmp(outer.path, module->path) != 0)
            print_path(out, &outer);
    }
    putc('\0', out);
}

/* Writes the definition. Returns 0 ("unknown") if it cannot be stored. */
static uint32_t record(const struct sg_site *site, const struct sg_module *module,
                       void *const *frames, int count)
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

/* Call with the lock. */
static void look_up(const char *path, uint64_t offset, struct sg_symbol *symbol)
{
    const struct sg_companion *companion = sg_process.companion;

    if (companion != NULL && (symbols != NULL || companion->symbols_open(&symbols) == SG_OK))
        companion->symbols_lookup(symbols, path, "", offset, symbol);
}

/* Call with the lock: rules with files, lines or functions need them at the first call. */
static void name_site(struct sg_site *site, const struct sg_module *module)
{
    struct sg_symbol symbol = {0};

    if (!sg_ruleset_needs_names(sg_process.rules))
        return;
    look_up(module->path, site->rule.offset, &symbol);
    site->rule.function = symbol.function;
    site->rule.file = symbol.file;
    site->rule.line = symbol.line;
}

/* ---- unloaded objects ----
 *
 * The system may load another object where one was. So after an object is unloaded, addresses in it
 * have no site until they are seen again; nor has any path.
 */

_Atomic uint32_t sg_site_meaning;

static void forget_unloaded(void *context)
{
    atomic_fetch_add_explicit(&sg_site_meaning, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    has_forgotten = true;
    for (unsigned slot = 0; slot < SG_POINTER_TABLE_SLOTS && by_address.used > 0; slot++) {
        uint64_t address = atomic_load_explicit(&by_address.slots[slot].key, memory_order_relaxed);
        struct sg_module module;

        if (address != 0 && !sg_module_find(address, &module))
            sg_pointer_table_forget(&by_address, slot);
    }
    for (unsigned slot = 0; slot < SG_POINTER_TABLE_SLOTS && by_path.used > 0; slot++)
        sg_pointer_table_forget(&by_path, slot);
    pthread_mutex_unlock(&lock);
}

static void after_unload(void)
{
    sg_altstack_run(forget_unloaded, NULL);
}

/* ---- making ---- */

/* The site with this identity, if its address or path was forgotten; NULL: there is none. */
static struct sg_site *find_made(const struct sg_site *wanted)
{
    struct sg_site *site = has_forgotten ? sites : NULL;

    while (site != NULL &&
           (site->rule.id != wanted->rule.id || site->rule.offset != wanted->rule.offset))
        site = site->next;
    return site;
}

/* Call with the lock. frames[0] is the application's innermost. */
static struct sg_site *make_site(void *const *frames, int count)
{
    struct sg_site *site = calloc(1, sizeof *site), *known;
    struct sg_module module, outer;
    uint64_t hash = SG_HASH_START;

    if (site == NULL)
        return &unknown;
    sg_module_find((uintptr_t)frames[0], &module);
    hash = hash_frame(hash, &module, (uintptr_t)frames[0]);
    for (int i = 1; i < count; i++) {
        sg_module_find((uintptr_t)frames[i], &outer);
        hash = hash_frame(hash, &outer, (uintptr_t)frames[i]);
    }
    site->rule.id = sg_hash_fold(hash);
    if (site->rule.id == 0)
        site->rule.id = 1;
    site->rule.offset = (uintptr_t)frames[0] - module.base;
    site->rule.module = strdup(sg_text_base_name(module.path));
    known = find_made(site);
    if (known != NULL) {
        free((char *)site->rule.module);
        free(site);
        return known;
    }
    name_site(site, &module);
    site->index = record(site, &module, frames, count);
    site->next = sites;
    sites = site;
    atomic_store_explicit(&sg_site_after_unload, after_unload, memory_order_relaxed);
    return site;
}

/* ---- addresses and paths at their first look-up ---- */

struct seen {
    void *const *frames;
    int count; /* 0: one address, whose path may decide the site */
    uintptr_t key;
    struct sg_site *site;
};

/* Call with the lock. */
static struct sg_site *classify_first(void *address)
{
    struct sg_module module, own;
    bool found = sg_module_find((uintptr_t)address, &module);

    sg_module_find((uintptr_t)&lock, &own);
    if (found && (sg_real_owns(module.path) || module.base == own.base))
        return &inner;
    if (sg_process.config.depth > 1 || sg_pointer_table_is_full(&by_address))
        return &unknown; /* depth > 1: in the application; its path decides the site */
    return make_site(&address, 1);
}

static void see(void *context)
{
    struct seen *seen = context;
    struct sg_pointer_table *table = seen->count == 0 ? &by_address : &by_path;

    pthread_mutex_lock(&lock);
    seen->site = sg_pointer_table_find(table, seen->key);
    if (seen->site == NULL) {
        if (seen->count == 0)
            seen->site = classify_first(seen->frames[0]);
        else
            seen->site =
                sg_pointer_table_is_full(table) ? &unknown : make_site(seen->frames, seen->count);
        sg_pointer_table_add(table, seen->key, seen->site);
    }
    pthread_mutex_unlock(&lock);
}

/* Not inlined, so that other calls save no registers. */
static __attribute__((noinline)) struct sg_site *see_first(void *const *frames, int count,
                                                           uintptr_t key)
{
    struct seen seen = {frames, count, key, NULL};

    sg_altstack_run(see, &seen);
    return seen.site;
}

/* Returns the site of an address at depth 1, or &inner. */
static struct sg_site *classify(void *address)
{
    struct sg_site *site = sg_pointer_table_find(&by_address, (uintptr_t)address);

    return site != NULL ? site : see_first(&address, 0, (uintptr_t)address);
}

static struct sg_site *site_of_path(void *const *frames, int count)
{
    uintptr_t key = (uintptr_t)sg_hash_bytes(SG_HASH_START, frames, (size_t)count * sizeof *frames);
    struct sg_site *site = sg_pointer_table_find(&by_path, key);

    return site != NULL ? site : see_first(frames, count, key);
}

/* ---- walks ---- */

struct walk {
    void *frames[INNER_FRAMES_MAX + DEPTH_MAX];
    int count;
};

static void walk(void *context)
{
    struct walk *walk = context;

    walk->count = sg_process.backtrace(walk->frames, INNER_FRAMES_MAX + sg_process.config.depth);
}

/* Finds the application's frames, innermost first. Returns 0 if the stack cannot be walked. */
static int application_frames(void **frames, int depth)
{
    struct walk all;
    int first = 0;
    int kept = 0;

    sg_altstack_run(walk, &all);
    while (first < all.count && classify(all.frames[first]) == &inner)
        first++;
    while (kept < depth && first + kept < all.count) {
        frames[kept] = all.frames[first + kept];
        kept++;
    }
    return kept;
}

/* ---- sites ---- */

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

struct sg_site *sg_site_of_address(void *return_address)
{
    struct sg_site *site = sg_process.config.depth == 1 ? classify(return_address) : NULL;

    return site != &inner ? site : NULL;
}

struct asked {
    uint32_t id;
    const char *module;
    uint64_t offset;
    struct sg_symbol symbol;
};

static void locate(void *context)
{
    struct asked *asked = context;
    struct sg_symbol symbol = {0};
    char *path;

    pthread_mutex_lock(&lock);
    for (const struct sg_site *site = sites; site != NULL && symbol.file == NULL;
         site = site->next) {
        if (site->rule.id == asked->id)
            symbol = (struct sg_symbol){site->rule.function, site->rule.file, site->rule.line};
    }
    if (symbol.file == NULL && asked->module[0] != '\0' &&
        (path = sg_module_find_path(asked->module)) != NULL) {
        look_up(path, asked->offset, &symbol);
        free(path);
    }
    pthread_mutex_unlock(&lock);
    asked->symbol = symbol;
}

bool sg_site_locate(uint32_t id, const char *module, uint64_t offset, char *text, size_t text_bytes)
{
    struct asked asked = {.id = id, .module = module, .offset = offset};
    const struct sg_symbol *symbol = &asked.symbol;

    sg_altstack_run(locate, &asked);
    if (symbol->file == NULL)
        return false;
    snprintf(text, text_bytes, "%s%s%s:%u", symbol->function != NULL ? symbol->function : "",
             symbol->function != NULL ? " " : "", sg_text_base_name(symbol->file), symbol->line);
    return true;
}

/* ---- live frames ----
 *
 * An address alone does not decide it: a later call from a deeper frame is below a frame that was
 * left, as it would be below a live one. The walk compares the frame's caller and the stack pointer
 * at which it continues; both match only if the frame is live.
 */

/* A frame begins with the caller's frame pointer and the return address. */
#define FRAME_LINK_BYTES (2 * sizeof(void *))

__thread struct sg_stack_frame sg_stack_ending, sg_stack_outermost;

/* Looked up, not linked: processes that do not need libgcc_s must not load it. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Word (*stack_pointer)(struct _Unwind_Context *);
    _Unwind_Ptr (*instruction)(struct _Unwind_Context *);
} unwinder;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return;
    *(void **)&unwinder.stack_pointer = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.instruction = dlsym(library, "_Unwind_GetIP");
    if (unwinder.stack_pointer != NULL && unwinder.instruction != NULL)
        *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

struct search {
    uintptr_t stack_pointer, instruction;
    bool found;
};

/* Called for each frame from the innermost outwards, with the stack pointer at which it
 * continues. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t stack_pointer = unwinder.stack_pointer(context);

    if (sg_altstack_holds(stack_pointer) || stack_pointer < search->stack_pointer)
        return _URC_NO_REASON;
    search->found = stack_pointer == search->stack_pointer &&
                    unwinder.instruction(context) == search->instruction;
    return _URC_END_OF_STACK;
}

static void stack_walk(void *search)
{
    pthread_once(&once, find_unwinder);
    if (unwinder.backtrace != NULL)
        unwinder.backtrace(look, search);
}

static bool is_live(const struct sg_stack_frame *frame)
{
    struct search search = {.stack_pointer = frame->address + FRAME_LINK_BYTES,
                            .instruction = (uintptr_t)frame->caller};

    sg_altstack_run(stack_walk, &search);
    return search.found;
}

bool sg_stack_look(struct sg_stack_frame *held, void *frame)
{
    if ((uintptr_t)frame < held->address && is_live(held))
        return true;
    held->address = 0;
    return false;
}

struct sg_stack_frame sg_stack_hold(struct sg_stack_frame *held, void *frame, void *caller)
{
    struct sg_stack_frame before = {0};

    if (sg_stack_is_held(held, frame))
        before = *held;
    *held = (struct sg_stack_frame){(uintptr_t)frame, caller};
    return before;
}

void sg_stack_release(struct sg_stack_frame *held, struct sg_stack_frame before)
{
    *held = before;
}
