#include "trace/export/symbols.h"

#include "core/file.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static demangle_fn demangler;

/* A C++ program already has the demangler. Other programs load the C++ library for it, in a
 * scope of its own and only when there is a mangled name to show. */
static void find_demangler(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");

    if (found == NULL) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

        found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    }
    memcpy(&demangler, &found, sizeof demangler);
}

static char *demangle(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = 0;

    pthread_once(&once, find_demangler);
    return demangler != NULL ? demangler(name, NULL, NULL, &status) : NULL;
}

/* Cuts a compiler's suffix: "step.constprop.0" and "step [clone .part.1]" are copies or parts of
 * step. */
static void cut_clone_suffix(char *name)
{
    static const char *const suffixes[] = {".constprop.", ".isra.", ".part.", ".cold",
                                           ".lto_priv."};
    char *clone = strstr(name, " [clone ");

    if (clone != NULL)
        *clone = '\0';
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *suffix = strstr(name, suffixes[i]);

        if (suffix != NULL && suffix > name)
            *suffix = '\0';
    }
}

/* Cuts the name at its parameter list, the last balanced pair of parentheses. */
static void cut_parameters(char *name)
{
    char *close = strrchr(name, ')');
    int depth = 0;

    if (close == NULL)
        return;
    for (char *at = close; at >= name; at--) {
        if (*at == ')')
            depth++;
        else if (*at == '(' && --depth == 0) {
            bool is_parameters = at > name && strncmp(at, "(anonymous namespace)::", 23) != 0;

            if (is_parameters)
                *at = '\0';
            return;
        }
    }
}

/* Skips the return type, which only templates have: it ends at the last blank outside brackets. */
static char *skip_return_type(char *name)
{
    char *start = name;
    int depth = 0;

    if (strstr(name, "operator") != NULL)
        return name;
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '<' || *at == '(')
            depth++;
        else if (*at == '>' || *at == ')')
            depth--;
        else if (*at == ' ' && depth == 0)
            start = at + 1;
    }
    return start;
}

char *sg_symbol_name(const char *linkage_name)
{
    char *shown = NULL;
    char *name;

    if (strncmp(linkage_name, "_Z", 2) == 0)
        shown = demangle(linkage_name);
    if (shown == NULL) {
        name = strdup(linkage_name);
        if (name != NULL)
            cut_clone_suffix(name);
        return name;
    }
    cut_clone_suffix(shown);
    cut_parameters(shown);
    name = strdup(skip_return_type(shown));
    free(shown);
    return name;
}

/* A module file, opened once. A lookup for another build of it finds nothing. */
struct module {
    struct module *next;
    char *path;
    char *build_id; /* hex; NULL: the file has none */
    Dwfl *dwfl;     /* NULL: it could not be opened */
    Dwfl_Module *dwfl_module;
    GElf_Addr bias; /* libdw's addresses in the main file minus link-time ones */
    bool no_dwarf;  /* use only the symbol table */
    Dwarf *alternate;
    int alternate_file; /* open if alternate is not NULL */
};

struct name {
    struct name *next;
    char text[];
};

struct sg_symbols {
    struct module *modules;
    struct name *names; /* all strings returned to callers */
};

const char *sg_symbols_keep(struct sg_symbols *symbols, const char *text)
{
    size_t size_bytes;
    struct name *name;

    if (text == NULL || text[0] == '\0')
        return NULL;
    for (name = symbols->names; name != NULL; name = name->next) {
        if (strcmp(name->text, text) == 0)
            return name->text;
    }
    size_bytes = strlen(text) + 1;
    name = malloc(sizeof *name + size_bytes);
    if (name == NULL)
        return NULL;
    memcpy(name->text, text, size_bytes);
    name->next = symbols->names;
    symbols->names = name;
    return name->text;
}

/* ---- separate debug files, from this machine's disks only ----------------------------------- */

static void print_hex(const unsigned char *bytes, int count, char *text)
{
    for (int i = 0; i < count; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    text[2 * count] = '\0';
}

/* True if the file has the wanted build id. */
static bool has_build_id(int descriptor, const unsigned char *wanted, int wanted_bytes)
{
    Elf *elf = elf_begin(descriptor, ELF_C_READ_MMAP, NULL);
    const void *found = NULL;
    ssize_t found_bytes = elf != NULL ? dwelf_elf_gnu_build_id(elf, &found) : 0;
    bool same = found_bytes == wanted_bytes && memcmp(found, wanted, (size_t)found_bytes) == 0;

    elf_end(elf);
    return same;
}

/* Searches for the debug link of FILE where gdb and libdw do: in its folder, in .debug/ there,
 * and in the same folder under /usr/lib/debug. Returns a descriptor; -1: not found. */
static int find_by_link(Dwfl_Module *module, const char *file, const char *link, char **found)
{
    static const char *const places[] = {"%2$s/%3$s", "%2$s/.debug/%3$s", "%1$s%2$s/%3$s"};
    const unsigned char *wanted = NULL;
    GElf_Addr address;
    int wanted_bytes = dwfl_module_build_id(module, &wanted, &address);
    const char *slash = strrchr(file, '/');
    char folder[4096], path[8448];

    if (link == NULL || wanted_bytes <= 0 || slash == NULL ||
        (size_t)(slash - file) >= sizeof folder)
        return -1;
    memcpy(folder, file, (size_t)(slash - file));
    folder[slash - file] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int descriptor;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, places[i], "/usr/lib/debug", folder, link);
#pragma GCC diagnostic pop
        if (sg_file_open(path, 0, &descriptor) != 0)
            continue;
        if (has_build_id(descriptor, wanted, wanted_bytes)) {
            *found = strdup(path);
            return descriptor;
        }
        close(descriptor);
    }
    return -1;
}

/* Replaces dwfl_standard_find_debuginfo, which queries a debuginfod server on the network if one
 * is configured: from thousands of ranks in MPI_Finalize, or against the user's will. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *module_name,
                          Dwarf_Addr base, const char *file_name, const char *debuglink_file,
                          GElf_Word debuglink_crc, char **debuginfo_file_name)
{
    int descriptor =
        dwfl_build_id_find_debuginfo(module, userdata, module_name, base, file_name, debuglink_file,
                                     debuglink_crc, debuginfo_file_name);

    if (descriptor >= 0 || *debuginfo_file_name != NULL || file_name == NULL)
        return descriptor;
    return find_by_link(module, file_name, debuglink_file, debuginfo_file_name);
}

static int find_elf(Dwfl_Module *module, void **userdata, const char *module_name, Dwarf_Addr base,
                    char **file_name, Elf **elf)
{
    return -1; /* not needed: modules are reported with their file */
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* ---- debug information that several modules share (DWZ) -------------------------------------- */

static Dwarf *open_alternate(const char *path, const unsigned char *wanted, int wanted_bytes,
                             int *file)
{
    Dwarf *alternate = NULL;
    const char *further;
    const void *id;

    if (sg_file_open(path, 0, file) != 0)
        return NULL;
    if (has_build_id(*file, wanted, wanted_bytes))
        alternate = dwarf_begin(*file, DWARF_C_READ);
    if (alternate != NULL && dwelf_dwarf_gnu_debugaltlink(alternate, &further, &id) == 0)
        return alternate;
    dwarf_end(alternate);
    close(*file);
    return NULL;
}

/* On first need, libdw opens any file that a module names as its alternate, even a FIFO. So the
 * alternate is checked and set here; without it, the module's DWARF is not used. */
static void set_alternate(struct module *module)
{
    const char *name, *main_file = NULL, *debug_file = NULL, *slash;
    const void *id;
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(module->dwfl_module, &bias);
    ssize_t id_bytes = dwarf != NULL ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;
    char path[8448];

    if (id_bytes <= 0)
        return;
    dwfl_module_info(module->dwfl_module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
    if (debug_file == NULL)
        debug_file = main_file != NULL ? main_file : module->path;
    slash = name[0] != '/' ? strrchr(debug_file, '/') : NULL;
    snprintf(path, sizeof path, "%.*s%s", slash != NULL ? (int)(slash + 1 - debug_file) : 0,
             debug_file, name);
    module->alternate = open_alternate(path, id, (int)id_bytes, &module->alternate_file);
    if (module->alternate != NULL)
        dwarf_setalt(dwarf, module->alternate);
    else
        module->no_dwarf = true;
}

/* ---- modules -------------------------------------------------------------------------------- */

/* Accepts only ELF files: libdw unpacks a compressed file to any size, and reads all of an ar
 * archive. */
static bool is_elf(int file)
{
    char magic[SELFMAG];

    return pread(file, magic, sizeof magic, 0) == sizeof magic &&
           memcmp(magic, ELFMAG, sizeof magic) == 0;
}

static void open_module(struct module *module)
{
    const unsigned char *bytes;
    GElf_Addr address;
    Dwfl_Module *reported;
    int id_bytes, file;

    /* The path may come from an untrusted log. */
    if (sg_file_open(module->path, 0, &file) != 0)
        return;
    module->dwfl = is_elf(file) ? dwfl_begin(&callbacks) : NULL;
    if (module->dwfl == NULL) {
        close(file);
        return;
    }
    dwfl_report_begin(module->dwfl);
    reported = dwfl_report_offline(module->dwfl, "", module->path, file);
    if (reported == NULL)
        close(file);
    if (dwfl_report_end(module->dwfl, NULL, NULL) != 0 || reported == NULL ||
        dwfl_module_getelf(reported, &module->bias) == NULL) {
        dwfl_end(module->dwfl);
        module->dwfl = NULL;
        return;
    }
    module->dwfl_module = reported;
    set_alternate(module);
    id_bytes = dwfl_module_build_id(reported, &bytes, &address);
    if (id_bytes > 0) {
        char *text = malloc(2 * (size_t)id_bytes + 1);

        if (text != NULL)
            print_hex(bytes, id_bytes, text);
        module->build_id = text;
    }
}

static struct module *get_module(struct sg_symbols *symbols, const char *path)
{
    struct module *module;

    for (module = symbols->modules; module != NULL; module = module->next) {
        if (strcmp(module->path, path) == 0)
            return module;
    }
    module = calloc(1, sizeof *module);
    if (module == NULL)
        return NULL;
    module->path = strdup(path);
    if (module->path == NULL) {
        free(module);
        return NULL;
    }
    open_module(module);
    module->next = symbols->modules;
    symbols->modules = module;
    return module;
}

/* ---- from an address to names --------------------------------------------------------------- */

static bool is_named_scope(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module;
}

/* Qualifies the name with the namespaces, classes and Fortran modules that enclose the
 * function's declaration. malloc'ed; NULL: no memory. */
static char *qualified(Dwarf_Die *function, const char *name)
{
    Dwarf_Die declaration, *scopes = NULL;
    Dwarf_Attribute attribute;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int count;

    if (out == NULL)
        return NULL;
    declaration = *function;
    if (dwarf_attr_integrate(&declaration, DW_AT_specification, &attribute) != NULL)
        dwarf_formref_die(&attribute, &declaration);
    count = dwarf_getscopes_die(&declaration, &scopes);
    for (int i = count - 1; i > 0; i--) {
        const char *scope = dwarf_diename(&scopes[i]);
        int tag = dwarf_tag(&scopes[i]);

        if (!is_named_scope(tag))
            continue;
        if (scope == NULL)
            scope = tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
        fprintf(out, "%s::", scope);
    }
    free(scopes);
    fputs(name, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Returns the abstract function of an inlined or out-of-line copy; otherwise the function
 * itself. */
static Dwarf_Die origin_of(Dwarf_Die *copy)
{
    Dwarf_Die origin = *copy;
    Dwarf_Attribute attribute;

    if (dwarf_attr(copy, DW_AT_abstract_origin, &attribute) != NULL)
        dwarf_formref_die(&attribute, &origin);
    return origin;
}

/* Returns the innermost source function at the address. An inlined function takes precedence,
 * because the line table gives its line. */
static const char *function_by_dwarf(struct sg_symbols *symbols, const struct module *module,
                                     Dwarf_Addr address)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = dwfl_module_addrdie(module->dwfl_module, address, &bias);
    Dwarf_Die *scopes = NULL;
    const char *result = NULL;
    int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name;
        Dwarf_Die origin;
        char *text;

        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        name = dwarf_diename(&scopes[i]);
        if (name != NULL) {
            origin = origin_of(&scopes[i]);
            text = qualified(&origin, name);
            result = sg_symbols_keep(symbols, text);
            free(text);
        }
        break;
    }
    free(scopes);
    return result;
}

static const char *function_by_symbol(struct sg_symbols *symbols, const struct module *module,
                                      Dwarf_Addr address)
{
    const char *linkage = dwfl_module_addrname(module->dwfl_module, address);
    const char *result = NULL;
    char *name;

    if (linkage == NULL || linkage[0] == '\0')
        return NULL;
    name = sg_symbol_name(linkage);
    if (name != NULL)
        result = sg_symbols_keep(symbols, name);
    free(name);
    return result;
}

enum sg_status sg_symbols_open(struct sg_symbols **out)
{
    struct sg_symbols *symbols = calloc(1, sizeof *symbols);

    if (symbols == NULL)
        return SG_ERR_MEMORY;
    elf_version(EV_CURRENT);
    *out = symbols;
    return SG_OK;
}

enum sg_status sg_symbols_lookup(struct sg_symbols *symbols, const char *module_path,
                                 const char *build_id, uint64_t offset, struct sg_symbol *out)
{
    const struct module *module;
    Dwfl_Line *line;
    Dwarf_Addr address;
    int line_number = 0;

    memset(out, 0, sizeof *out);
    if (module_path[0] == '\0')
        return SG_ERR_MISSING;
    module = get_module(symbols, module_path);
    if (module == NULL)
        return SG_ERR_MEMORY;
    if (module->dwfl == NULL || (build_id[0] != '\0' && (module->build_id == NULL ||
                                                         strcmp(build_id, module->build_id) != 0)))
        return SG_ERR_MISSING;
    if (offset == 0)
        return SG_OK;
    /* The return address may belong to the next line or function: the call itself is before it. */
    address = offset - 1 + module->bias;
    line = module->no_dwarf ? NULL : dwfl_module_getsrc(module->dwfl_module, address);
    if (line != NULL) {
        out->file =
            sg_symbols_keep(symbols, dwfl_lineinfo(line, NULL, &line_number, NULL, NULL, NULL));
        out->line = out->file != NULL && line_number > 0 ? (uint32_t)line_number : 0;
    }
    out->function = module->no_dwarf ? NULL : function_by_dwarf(symbols, module, address);
    if (out->function == NULL)
        out->function = function_by_symbol(symbols, module, address);
    return SG_OK;
}

void sg_symbols_close(struct sg_symbols *symbols)
{
    if (symbols == NULL)
        return;
    while (symbols->modules != NULL) {
        struct module *module = symbols->modules;

        symbols->modules = module->next;
        dwfl_end(module->dwfl);
        if (module->alternate != NULL) {
            dwarf_end(module->alternate);
            close(module->alternate_file);
        }
        free(module->path);
        free(module->build_id);
        free(module);
    }
    while (symbols->names != NULL) {
        struct name *name = symbols->names;

        symbols->names = name->next;
        free(name);
    }
    free(symbols);
}
