#include "profile/module.h"

#include "core/text.h"

#include <link.h>
#include <stdio.h>
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

/* The executable has no name among the objects. */
static void read_path(const struct dl_phdr_info *info, char path[PATH_MAX])
{
    ssize_t length;

    snprintf(path, PATH_MAX, "%s", info->dlpi_name ? info->dlpi_name : "");
    if (path[0] == '\0') {
        length = readlink("/proc/self/exe", path, PATH_MAX - 1);
        path[length > 0 ? length : 0] = '\0';
    }
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
    read_path(info, wanted->module->path);
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
    return dl_iterate_phdr(match_address, &wanted) != 0;
}

struct named {
    const char *name;
    char *path;
};

static int match_name(struct dl_phdr_info *info, size_t size, void *context)
{
    struct named *named = context;
    size_t wanted = strlen(named->name), length;
    const char *base;

    read_path(info, named->path);
    base = sg_text_base_name(named->path);
    length = strlen(base);
    return length >= wanted && strcmp(base + length - wanted, named->name) == 0;
}

bool sg_module_find_path(const char *name, char path[PATH_MAX])
{
    struct named named = {.name = name, .path = path};

    return dl_iterate_phdr(match_name, &named) != 0;
}
