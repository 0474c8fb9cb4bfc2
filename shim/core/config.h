/* Reads the configuration (core/waiting.h) from the environment and from a file. No other code
 * reads the environment.
 *
 * Variables may also be in the file that STAGGER_CONFIG names, one NAME=value a line beside rules;
 * the environment wins. An unknown STAGGER_* variable or an invalid value gets one line (with the
 * nearest name, or what was expected), and the default, or the file's value, stands. An empty value
 * counts as unset.
 *
 * Not thread-safe: used only at start, and by the tools. */
#ifndef SG_CORE_CONFIG_H
#define SG_CORE_CONFIG_H

#include "core/waiting.h"

/* ---- the configuration file that STAGGER_CONFIG names, and the copy beside a trace ----
 *
 * A line is a rule; NAME=value; or NAME="value" with \\ \" \n \r \t \xHH. A # at the start of a
 * line or after a blank begins a comment. Values may hold any bytes but NUL. */

/* All zeros before the first line. */
struct sg_config_line {
    int number;        /* from 1 */
    const char *name;  /* of a variable; NULL: the line sets none */
    const char *value; /* the variable's value, or a rule; NULL: neither */
    char fault[800];   /* the fault for which the line is left out; "": none */
};

/* Returns the effective configuration as text that STAGGER_CONFIG accepts and sg_config_parse reads
 * back to the same value: ranks compare it, and the archive's directory stores it. It omits only
 * config_file, because it contains that file's lines. malloc'ed; NULL: out of memory. */
char *sg_config_text(const struct sg_config *config);

/* Reads defaults, the configuration file and the environment. Always gives a usable config, except
 * on SG_ERR_MEMORY, the only error (*out is then empty). Logs problems if speak is true. */
enum sg_status sg_config_read(struct sg_config *out, bool speak);
/* Reads the text of sg_config_text; names "stagger.conf:LINE" as the source of its rules, because
 * the text is stored under that name. Silently drops a line that does not parse. SG_ERR_MEMORY is
 * the only error. */
enum sg_status sg_config_parse(const char *text, struct sg_config *out);
/* For the tools: reads one environment variable ("LD_PRELOAD"); NULL: not set. */
const char *sg_config_environment(const char *name);
/* Sets a variable for this process and its children; value NULL removes it. False: no memory. Do
 * not call while another thread may read the environment. */
bool sg_config_set_environment(const char *name, const char *value);

#endif
