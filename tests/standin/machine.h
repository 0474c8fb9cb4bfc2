/* The number, from 1, of the machine that this rank is on. */
#ifndef SG_TESTS_STANDIN_MACHINE_H
#define SG_TESTS_STANDIN_MACHINE_H

#include <stdbool.h>
#include <stdlib.h>

static inline int machine_number(void)
{
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
    const char *machines = getenv("STANDIN_MACHINES");

    return rank == NULL || size == NULL || machines == NULL
               ? 1
               : 1 + atoi(rank) * atoi(machines) / atoi(size);
}

#endif
