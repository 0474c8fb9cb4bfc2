#include "profile/module.h"

#include "core/text.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

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

/* The executable has no name among the objects. */
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
