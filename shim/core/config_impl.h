/* What the configuration's files share: config.c (environment), config_table.c (the entries),
 * config_text.c (the file's form), config_rules.c (the list of rules).
 */
#ifndef SG_CORE_CONFIG_IMPL_H
#define SG_CORE_CONFIG_IMPL_H

#include "core/config.h"

#define SG_CONFIG_FILE_VARIABLE "STAGGER_CONFIG"

/* A file larger than this is no configuration, and so many lines of complaint no help. */
#define SG_CONFIG_FILE_BYTES (1 << 20)
#define SG_CONFIG_RULES 4096
#define SG_CONFIG_COMPLAINTS 20

/* One reading of a configuration. */
struct sg_config_reader {
    struct sg_config *config;
    bool speak;
    int complaints;
    const char *path;      /* of the file whose lines are read; NULL: the environment */
    int line;              /* in it */
    enum sg_status status; /* SG_ERR_MEMORY is the only one that ends the reading */
};

/* Sets out to the defaults. SG_ERR_MEMORY: *out is empty. */
enum sg_status sg_config_defaults(struct sg_config *out);

/* Logs one line, "SOURCE: message", when the reader speaks; the first few only. */
void sg_config_complain(struct sg_config_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Applies one variable: from the environment, or from the file where it is not set there. */
void sg_config_apply(struct sg_config_reader *reader, const char *name, const char *value);

/* Reads the lines of text, which is cut into pieces. */
void sg_config_read_lines(struct sg_config_reader *reader, char *text);

/* Says how many complaints were not printed. */
void sg_config_reader_end(struct sg_config_reader *reader);

/* Adds a rule behind those of its precedence; strings are copied. */
void sg_config_add_rule(struct sg_config_reader *reader, enum sg_config_rule_kind kind,
                        const char *name, const char *text);

/* The rule of this name, or NULL. */
const struct sg_config_rule *sg_config_find_rule(const struct sg_config *config, const char *name);

#endif
