/* A call's arguments as those of C, and what of them is to be kept when it begins, as it is no
 * longer to be seen when it returns.
 *
 * Any thread; not from a signal handler.
 */
#ifndef SG_PROFILE_ARGUMENTS_H
#define SG_PROFILE_ARGUMENTS_H

#include "profile/counted_call.h"

/* In MPI_Init, before any other. */
void sg_arguments_start(void);

/* The words of C, in values (SG_ARGUMENTS_MAX) where they are not the call's own. */
const sg_word *sg_arguments_in_c(const struct sg_profile_call *call, const sg_word *words,
                                 sg_word *values);

/* Likewise, when the call begins; statuses that it ignores become ours. */
const sg_word *sg_arguments_keep(struct sg_profile_call *call, sg_word *words, sg_word *values);

/* Whether the function completes requests. */
bool sg_arguments_await(enum sg_function function);

#endif
