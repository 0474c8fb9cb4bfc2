#include "intercept/sliced_imports.h"

#include "core/imports.h"
#include "intercept/sliced.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64

/* In small letters, without "mpi_". What begins persistent messages is not named: what makes them
 * is. */
static const char *const excluded[] = {
    "send_init",         "ssend_init", "rsend_init", "bsend_init", "recv_init", "psend_init",
    "precv_init",        "bsend",      "ibsend",     "mprobe",     "improbe",   "isendrecv",
    "isendrecv_replace", "cancel",
};

#define NAME(name) "MPI_" #name,
static const char *const carried[] = {SG_SLICED(NAME)};

struct function {
    char name[NAME_BYTES]; /* in small letters, without "mpi_" and what follows it */
    bool is_profiling, is_f08;
};

static bool cut(char *name, const char *suffix)
{
    size_t length = strlen(name), cut_length = strlen(suffix);

    if (length <= cut_length || strcmp(name + length - cut_length, suffix) != 0)
        return false;
    name[length - cut_length] = '\0';
    return true;
}

/* False: none of MPI's. */
static bool parse(const char *symbol, struct function *out)
{
    char all[NAME_BYTES] = "";
    const char *name = all;

    if (strlen(symbol) >= sizeof all)
        return false;
    for (size_t i = 0; symbol[i] != '\0'; i++)
        all[i] = (char)tolower((unsigned char)symbol[i]);
    *out = (struct function){.is_profiling = name[0] == 'p'};
    name += out->is_profiling;
    if (strncmp(name, "mpi_", strlen("mpi_")) != 0)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name + strlen("mpi_"));
    while (cut(out->name, "_"))
        ;
    cut(out->name, "_large");
    out->is_f08 = cut(out->name, "_f08ts");
    out->is_f08 = cut(out->name, "_f08") || out->is_f08;
    cut(out->name, "_c");
    return true;
}

static bool is_one_of(const char *name, const char *const *list, size_t count, size_t skipped)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(name, list[i] + skipped) == 0)
            return true;
    }
    return false;
}

bool sg_sliced_is_excluded(const char *symbol)
{
    struct function function;

    if (!parse(symbol, &function))
        return false;
    /* MPICH's probes for Fortran 2008 call the profiling names. */
    if (function.is_profiling || (function.is_f08 && strstr(function.name, "probe") != NULL))
        return is_one_of(function.name, excluded, sizeof excluded / sizeof *excluded, 0) ||
               is_one_of(function.name, carried, sizeof carried / sizeof *carried, strlen("MPI_"));
    return is_one_of(function.name, excluded, sizeof excluded / sizeof *excluded, 0);
}

/* MPI's own libraries, and these. */
static bool is_left_out(const char *object)
{
    return strncmp(object, "libmpi", strlen("libmpi")) == 0 ||
           strncmp(object, "libpmpi", strlen("libpmpi")) == 0 ||
           strncmp(object, "libstagger", strlen("libstagger")) == 0;
}

/* The first of the carried functions whose wrapper is not the one that the program calls, or has
 * another tool's behind it; NULL: none. */
static const char *find_tool(void)
{
    Dl_info own, found;

    if (dladdr(&sg_sliced_on, &own) == 0)
        return carried[0];
    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
        void *called = dlsym(RTLD_DEFAULT, carried[i]), *next = sg_real_find(carried[i]);

        if ((called != NULL && dladdr(called, &found) != 0 && found.dli_fbase != own.dli_fbase) ||
            (next != NULL && !sg_real_has(next)))
            return carried[i];
    }
    return NULL;
}

bool sg_sliced_can_carry(char *why, size_t why_bytes)
{
    struct sg_import import = {.object = ""};
    const char *tool = find_tool();

    if (tool != NULL)
        snprintf(why, why_bytes, "another tool has a %s", tool);
    else if (sg_imports_find(is_left_out, sg_sliced_is_excluded, &import))
        snprintf(why, why_bytes, "%s may call %s", import.object, import.symbol);
    else
        return true;
    return false;
}
