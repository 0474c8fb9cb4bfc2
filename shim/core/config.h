/* Reading the configuration (core/config_table.h) from the environment and from a file.
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

#include "core/config_file.h"
#include "core/config_table.h"

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
