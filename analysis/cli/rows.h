/* Values of the options that choose rows to print, which commands share. */
#ifndef SG_CLI_ROWS_H
#define SG_CLI_ROWS_H

#include <argp.h>
#include <stdint.h>

/* The number of --top; an argp_error where it is none. */
uint32_t sg_rows_top(const char *text, struct argp_state *state);

#endif
