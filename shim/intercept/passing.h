/* The wrappers of the functions that pass by: whether they reach MPICH itself.
 *
 * Any thread; takes the loader's lock. Not from a signal handler.
 */
#ifndef SG_INTERCEPT_PASSING_H
#define SG_INTERCEPT_PASSING_H

#include <stdbool.h>

/* Whether no other tool stands between them and MPICH, where a loop of tests may take their
 * place. */
bool sg_passing_is_direct(void);

#endif
