/* The configuration table: every STAGGER_* variable, its default, its documentation, its parser.
 *
 * The only file that reads the environment. Variables may also stand in the file that
 * STAGGER_CONFIG names, one NAME=value a line beside rules; the environment wins. An unknown
 * STAGGER_* variable or a value that does not parse gets one line (with the nearest name, or what
 * was expected) and the default stands.
 *
 * Not thread-safe: used at start only, and by the tools.
 */
#ifndef SG_CORE_CONFIG_H
#define SG_CORE_CONFIG_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Rule sources in order of precedence. Text as the user wrote it; parsing is shim/rule's. */
struct sg_config_rule {
    char *source; /* "STAGGER_RULES", "stagger.conf:12", "STAGGER_SITE_3f2a9c1b", ... */
    char *text;   /* one rule or several, parted by ';' */
};

struct sg_config {
    int trace;            /* enum sg_trace_mode */
    char *directory;      /* "": stagger-<program>-<id> */
    uint64_t trace_bytes; /* per rank */
    int depth;            /* frames in a call site's id, 1..16 */
    bool quiet;
    char *config_file; /* "" : none */
    struct sg_config_rule *rules;
    int rule_count;
};

struct sg_config_entry {
    const char *name;          /* "STAGGER_TRACE" */
    const char *default_text;  /* as a user would write it */
    const char *documentation; /* one sentence */
    enum sg_status (*parse)(const char *text, const struct sg_config_entry *entry,
                            struct sg_config *config);
    void (*print)(const struct sg_config_entry *entry, const struct sg_config *config, char *text,
                  int size_bytes);
    const char *expected; /* what a parse error says: "otf2, stats or off" */
    size_t field;         /* offset in struct sg_config, for shared parsers */
    double low, high;     /* range, for numbers */
};

extern const struct sg_config_entry sg_config_entries[];
extern const int sg_config_entry_count;

/* Reads defaults, the configuration file and the environment. Always gives a usable config;
 * SG_ERR_MEMORY only. Problems are logged when speak is true. */
enum sg_status sg_config_read(struct sg_config *out, bool speak);

/* The effective configuration as text that STAGGER_CONFIG accepts and sg_config_parse reads back
 * to the same value: what ranks compare and what is written into the archive's directory.
 * malloc'ed; NULL when out of memory. */
char *sg_config_text(const struct sg_config *config);
enum sg_status sg_config_parse(const char *text, struct sg_config *out);

void sg_config_clear(struct sg_config *config);

/* For stagger run: reads one environment variable ("LD_PRELOAD"); NULL when not set. */
const char *sg_config_environment(const char *name);

#endif
