/* Copies elements into a buffer of the program's: their values, and no byte that MPI's type map
 * leaves out. Between and behind the values of a pair a program may keep data of its own.
 */
#ifndef SG_ALGOS_COPY_H
#define SG_ALGOS_COPY_H

#include "algos/kernel.h"

/* The two are apart. No alignment is asked for. Any thread, any signal handler. */
typedef void (*sg_copy)(void *to, const void *from, size_t count);

/* NULL: the elements have no holes, and memcpy does. */
sg_copy sg_copy_find(enum sg_element element);

#endif
