/* Finds function, file and line for a link-time offset in a module file, through libdw. The
 * module need not be loaded. The library looks up sites at the end of a run and, for rules that
 * name files, at a site's first call; stagger recover does so after the run.
 *
 * Without a line table, the symbol table gives the function (in a stripped library, the dynamic
 * symbols). Offsets are return addresses: the lookup uses offset - 1. Names are shown as users
 * write them: C++ names are demangled if __cxa_demangle can be found, and a Fortran symbol loses
 * its trailing underscore only if DWARF gives the source name.
 *
 * Not thread-safe; never call it from a signal handler. Strings live until sg_symbols_close. */
#ifndef SG_TRACE_EXPORT_SYMBOLS_H
#define SG_TRACE_EXPORT_SYMBOLS_H

#include "core/status.h"

#include <stdint.h>

struct sg_symbols;

struct sg_symbol {
    const char *function; /* NULL: not known */
    const char *file;     /* as the compiler recorded it; NULL: not known */
    uint32_t line;        /* 0: not known */
};

enum sg_status sg_symbols_open(struct sg_symbols **out);
/* build_id: hex; "" accepts any build. SG_ERR_MISSING: no such file, or another build; all of
 * *out is then unknown. */
enum sg_status sg_symbols_lookup(struct sg_symbols *symbols, const char *module_path,
                                 const char *build_id, uint64_t offset, struct sg_symbol *out);
/* Copies a text; the copy lives until sg_symbols_close. NULL: the text is NULL or empty, or out
 * of memory. */
const char *sg_symbols_keep(struct sg_symbols *symbols, const char *text);
void sg_symbols_close(struct sg_symbols *symbols);

/* ---- names of functions --------------------------------------------------------------------- */

/* Converts a linker symbol ("_ZN3abc1fEi", "step.constprop.0") to the name that users write:
 * demangled, without parameters, return type and suffixes of compiler clones. malloc'ed; NULL
 * when out of memory. If a name cannot be demangled, only such suffixes are cut. Pure, except
 * that the first call looks for the demangler. */
char *sg_symbol_name(const char *linkage_name);

#endif
