/* The form of a configuration file, which STAGGER_CONFIG names: what is read, and what is stored
 * beside a trace.
 *
 * Its lines: a rule; NAME=value; NAME="value" with \\ \" \n \r \t \xHH; # at the start of a line or
 * behind a blank begins a comment. Any bytes but NUL may stand in values.
 */
#ifndef SG_CORE_CONFIG_FILE_H
#define SG_CORE_CONFIG_FILE_H

#include "core/config_table.h"

/* Zeroed before the first. */
struct sg_config_line {
    int number;        /* from 1 */
    const char *name;  /* of a variable; NULL: of none */
    const char *value; /* its value, or a rule; NULL: neither */
    char fault[800];   /* what is wrong with the line, which is then left out; "": nothing */
};

/* Cuts the next line out of *text, which moves on and ends as NULL. False: there is none. */
bool sg_config_next_line(char **text, struct sg_config_line *line);

/* The effective configuration as text that STAGGER_CONFIG accepts and sg_config_parse reads back
 * to the same value: what ranks compare and what is written into the archive's directory. The
 * one thing not in it is config_file, whose lines are. malloc'ed; NULL when out of memory. */
char *sg_config_text(const struct sg_config *config);

#endif
