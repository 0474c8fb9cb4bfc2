#include "core/imports.h"

#include "core/cpu/cpu.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct search {
    bool (*is_left_out)(const char *object);
    bool (*is_wanted)(const char *symbol);
    struct sg_import *out;
};

/* An object's dynamic symbols. Imported symbols have no hash and precede those that have one. */
struct symbols {
    const Elf64_Sym *list;
    const char *names;
    size_t names_bytes;
    size_t imports_end;
};

/* Some loaders have relocated these addresses, others have not. */
static const void *at(const struct dl_phdr_info *info, Elf64_Addr address)
{
    return (const void *)(address >= info->dlpi_addr ? address : info->dlpi_addr + address);
}

static const Elf64_Dyn *dynamic_of(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    return NULL;
}

static bool is_empty(const uint32_t *gnu_hash)
{
    enum { BUCKETS, FIRST, FILTER_WORDS, SHIFT, HEAD };
    const uint32_t *buckets =
        gnu_hash + HEAD + gnu_hash[FILTER_WORDS] * (sizeof(Elf64_Addr) / sizeof *gnu_hash);

    for (uint32_t i = 0; i < gnu_hash[BUCKETS]; i++) {
        if (buckets[i] != 0)
            return false;
    }
    return true;
}

static struct symbols symbols_of(const struct dl_phdr_info *info)
{
    struct symbols symbols = {0};
    const uint32_t *hash = NULL, *gnu_hash = NULL;

    for (const Elf64_Dyn *entry = dynamic_of(info); entry != NULL && entry->d_tag != DT_NULL;
         entry++) {
        if (entry->d_tag == DT_SYMTAB)
            symbols.list = at(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            symbols.names = at(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRSZ)
            symbols.names_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_HASH)
            hash = at(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            gnu_hash = at(info, entry->d_un.d_ptr);
    }
    /* DT_HASH gives the number of symbols; DT_GNU_HASH the first symbol with a hash. If no symbol
     * has one, the list ends at the latest where its names begin. */
    if (hash != NULL)
        symbols.imports_end = hash[1];
    else if (gnu_hash != NULL && !is_empty(gnu_hash))
        symbols.imports_end = gnu_hash[1];
    else if (gnu_hash != NULL && (uintptr_t)symbols.names > (uintptr_t)symbols.list)
        symbols.imports_end =
            ((uintptr_t)symbols.names - (uintptr_t)symbols.list) / sizeof *symbols.list;
    return symbols;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct search *search = context;
    const char *path = info->dlpi_name, *slash = strrchr(path, '/');
    const char *object = path[0] == '\0' ? "the program" : slash != NULL ? slash + 1 : path;
    struct symbols symbols;

    (void)size;
    if (search->is_left_out(object) || strncmp(object, "linux-vdso", strlen("linux-vdso")) == 0)
        return 0;
    symbols = symbols_of(info);
    for (size_t i = 1; symbols.list != NULL && symbols.names != NULL && i < symbols.imports_end;
         i++) {
        const char *name = symbols.names + symbols.list[i].st_name;

        if (symbols.list[i].st_shndx != SHN_UNDEF ||
            symbols.list[i].st_name >= symbols.names_bytes || !search->is_wanted(name))
            continue;
        snprintf(search->out->object, sizeof search->out->object, "%s", object);
        snprintf(search->out->symbol, sizeof search->out->symbol, "%s", name);
        return 1;
    }
    return 0;
}

bool sg_imports_find(bool (*is_left_out)(const char *object), bool (*is_wanted)(const char *symbol),
                     struct sg_import *out)
{
    struct search search = {is_left_out, is_wanted, out};

    return dl_iterate_phdr(look, &search) != 0;
}

/* ---- replacement ---- */

struct replacing {
    uintptr_t address;
    struct sg_replacement *all;
    int count, done;
};

static const Elf64_Phdr *segment_of(const struct dl_phdr_info *info, Elf64_Word type,
                                    uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *segment = &info->dlpi_phdr[i];

        if (segment->p_type == type &&
            address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return segment;
    }
    return NULL;
}

/* The loader has made whole pages of one segment read-only. */
static bool write_slot(const struct dl_phdr_info *info, void **slot, void *value)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)slot & ~(page_bytes - 1);
    const Elf64_Phdr *relro = segment_of(info, PT_GNU_RELRO, (uintptr_t)slot);
    bool is_protected =
        relro != NULL && page + page_bytes <= info->dlpi_addr + relro->p_vaddr + relro->p_memsz;

    if (is_protected && mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    *slot = value;
    return !is_protected || mprotect((void *)page, page_bytes, PROT_READ) == 0;
}

static void replace_in(const struct dl_phdr_info *info, const Elf64_Rela *relocations, size_t count,
                       struct replacing *replacing)
{
    struct symbols symbols = symbols_of(info);

    for (size_t i = 0; i < count; i++) {
        const char *name = symbols.names + symbols.list[ELF64_R_SYM(relocations[i].r_info)].st_name;
        void **slot = (void **)(info->dlpi_addr + relocations[i].r_offset);

        if (!SG_CPU_IS_IMPORT(ELF64_R_TYPE(relocations[i].r_info)))
            continue;
        for (int k = 0; k < replacing->count; k++) {
            struct sg_replacement *each = &replacing->all[k];

            if (strcmp(name, each->symbol) != 0)
                continue;
            /* A slot that is not bound yet has an address in the object itself. */
            if (segment_of(info, PT_LOAD, (uintptr_t)*slot) == NULL && *slot != each->by)
                each->was = *slot;
            replacing->done += write_slot(info, slot, each->by);
        }
    }
}

static int replace(struct dl_phdr_info *info, size_t size, void *context)
{
    struct replacing *replacing = context;
    const Elf64_Rela *calls = NULL, *others = NULL;
    size_t calls_bytes = 0, others_bytes = 0;

    (void)size;
    if (segment_of(info, PT_LOAD, replacing->address) == NULL)
        return 0;
    for (const Elf64_Dyn *entry = dynamic_of(info); entry != NULL && entry->d_tag != DT_NULL;
         entry++) {
        if (entry->d_tag == DT_JMPREL)
            calls = at(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_PLTRELSZ)
            calls_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            others = at(info, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            others_bytes = entry->d_un.d_val;
    }
    replace_in(info, calls, calls != NULL ? calls_bytes / sizeof *calls : 0, replacing);
    replace_in(info, others, others != NULL ? others_bytes / sizeof *others : 0, replacing);
    return 1;
}

bool sg_imports_replace(const void *address, struct sg_replacement *all, int count)
{
    struct replacing replacing = {(uintptr_t)address, all, count, 0};

    dl_iterate_phdr(replace, &replacing);
    return replacing.done >= count;
}

void *sg_companion_load(const char *path, const char *name, const char *symbol, const char **reason)
{
    const char *slash = strrchr(path, '/');
    char file[4096];
    void *handle, *found;

    snprintf(file, sizeof file, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
    handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    found = handle ? dlsym(handle, symbol) : NULL;
    if (found == NULL)
        *reason = dlerror();
    return found;
}

void *sg_companion_load_own(const void *address, const char *name, const char *symbol,
                            const char **reason)
{
    Dl_info self;

    if (dladdr(address, &self) == 0 || self.dli_fname == NULL) {
        *reason = "libstagger.so cannot be located";
        return NULL;
    }
    return sg_companion_load(self.dli_fname, name, symbol, reason);
}
