/* Whether what is loaded can have its messages carried in slices, by the functions that it imports.
 */
#ifndef SG_INTERCEPT_SLICED_IMPORTS_H
#define SG_INTERCEPT_SLICED_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

/* By its symbol in C, mpif.h or Fortran 2008: a function that slices do not carry; or a profiling
 * name (PMPI_*) of one that they do, whose calls would not be seen. */
bool sg_sliced_is_excluded(const char *symbol);

/* False: why not. */
bool sg_sliced_can_carry(char *why, size_t why_bytes);

#endif
