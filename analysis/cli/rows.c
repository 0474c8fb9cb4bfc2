#include "cli/rows.h"

#include <errno.h>
#include <stdlib.h>

uint32_t sg_rows_top(const char *text, struct argp_state *state)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
        value > UINT32_MAX)
        argp_error(state, "--top wants a number of rows from 1 up, not '%s'", text);
    return (uint32_t)value;
}
