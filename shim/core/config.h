/* Reading the configuration (core/waiting.h) from the environment and from a file.
 *
 * The only file that reads the environment. Variables may also stand in the file that
 * STAGGER_CONFIG names, one NAME=value a line beside rules; the environment wins. An unknown
 * STAGGER_* variable or a value that does not parse gets one line (with the nearest name, or what
 * was expected) and the default, or the file's value, stands. An empty value is as if not set.
 *
 * Not thread-safe: used at start only, and by the tools.
 */
#ifndef SG_CORE_CONFIG_H
#define SG_CORE_CONFIG_H

#include "core/waiting.h"

/* The form of a configuration file, which STAGGER_CONFIG names: what is read, and what is stored
 * beside a trace.
 *
 * Its lines: a rule; NAME=value; NAME="value" with \\ \" \n \r \t \xHH; # at the start of a line or
 * behind a blank begins a comment. Any bytes but NUL may stand in values.
 */

/* Zeroed before the first. */
struct sg_config_line {
    int number;        /* from 1 */
    const char *name;  /* of a variable; NULL: of none */
    const char *value; /* its value, or a rule; NULL: neither */
    char fault[800];   /* what is wrong with the line, which is then left out; "": nothing */
};

/* The effective configuration as text that STAGGER_CONFIG accepts and sg_config_parse reads back
 * to the same value: what ranks compare and what is written into the archive's directory. The
 * one thing not in it is config_file, whose lines are. malloc'ed; NULL when out of memory. */
char *sg_config_text(const struct sg_config *config);

/* Reads defaults, the configuration file and the environment. Always gives a usable config;
 * SG_ERR_MEMORY only (*out is then empty). Problems are logged when speak is true. */
enum sg_status sg_config_read(struct sg_config *out, bool speak);
/* Reads what sg_config_text gives; rules are then said to come from "stagger.conf:LINE", the name
 * under which the text is stored. A line that does not parse is left out without a word.
 * SG_ERR_MEMORY only. */
enum sg_status sg_config_parse(const char *text, struct sg_config *out);
/* For the tools: reads one environment variable ("LD_PRELOAD"); NULL when not set. */
const char *sg_config_environment(const char *name);
/* Sets a variable for what reads it in this process and its children; value NULL: removes it.
 * False: no memory. Not while another thread may read the environment. */
bool sg_config_set_environment(const char *name, const char *value);

#endif
