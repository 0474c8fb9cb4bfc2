/* The single text form of a call site, in the archive's attribute and in the report:
 *
 *     FUNCTION (FILE:LINE) [MODULE+0xOFFSET] #ID      e.g.
 *     solve (solver.c:88) [cg+0x11c4] #3f2a9c1b
 *
 * In a file or module whose own brackets do not match, \xNN stands for each bracket and backslash.
 * Unknown parts are omitted with their brackets ("[cg+0x11c4] #3f2a9c1b"); the id is always there.
 * Parsing works from the right, so a function name may contain blanks and brackets.
 */
#ifndef SG_TRACE_SITE_TEXT_H
#define SG_TRACE_SITE_TEXT_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct sg_site_text {
    uint32_t id;
    uint32_t line; /* 0: not known */
    uint64_t offset;
    const char *function; /* NULL or "": not known, as for file and module */
    const char *file;
    const char *module; /* base name */
};

/* Writes at most size_bytes with the NUL; returns the length it would need without the NUL. */
int sg_site_format(const struct sg_site_text *site, char *text, size_t size_bytes);

/* Parses in place: cuts text into pieces that *out points to. SG_ERR_SYNTAX: no id. */
enum sg_status sg_site_parse(char *text, struct sg_site_text *out);

#endif
