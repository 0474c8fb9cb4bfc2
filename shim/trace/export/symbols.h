/* Finds function, file and line of a module file's link-time offset, through libdw. The module need
 * not be loaded: the library uses it at the end of a run and, for rules that name files, at a
 * site's first call; stagger recover uses it after the run.
 *
 * Where there is no line table, the symbol table (of a stripped library the dynamic symbols) gives
 * the function. Offsets are return addresses: the look-up uses offset - 1. C++ and Fortran names
 * are shown as users write them (demangled where __cxa_demangle is there to be found; trailing
 * underscore of a Fortran symbol only removed where DWARF gives the source name).
 *
 * Not thread-safe, never from a signal handler. Strings live until sg_symbols_close.
 */
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
/* build_id: hex or "" to accept any; a module whose build id differs is not looked into.
 * SG_ERR_MISSING: no such file or another build; *out is then all unknown. */
enum sg_status sg_symbols_lookup(struct sg_symbols *symbols, const char *module_path,
                                 const char *build_id, uint64_t offset, struct sg_symbol *out);
/* A copy of a text that lives as long; NULL of an empty one, or when out of memory. */
const char *sg_symbols_keep(struct sg_symbols *symbols, const char *text);
void sg_symbols_close(struct sg_symbols *symbols);

/* Names of functions as users write them: demangled, without parameters, return type and the
 * suffixes of compiler clones. Pure but for finding the demangler.
 */

/* From a linker symbol ("_ZN3abc1fEi", "step.constprop.0"); malloc'ed, NULL when out of memory.
 * A name that cannot be demangled is kept as it is. */
char *sg_symbol_name(const char *linkage_name);

#endif
