/* Calls made from the shared library of sites.c. */
#ifndef SG_TESTS_SITES_LIBRARY_H
#define SG_TESTS_SITES_LIBRARY_H

void library_barrier(void);
void library_allreduce(void);

#endif
