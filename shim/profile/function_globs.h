/* Which functions of MPI a list of globs names (STAGGER_CALLS, STAGGER_EVENTS).
 *
 * Names are taken with and without MPI_, whatever the case of their letters; those with a suffix _c
 * go with the others.
 */
#ifndef SG_PROFILE_FUNCTION_GLOBS_H
#define SG_PROFILE_FUNCTION_GLOBS_H

#include "profile/function.h"

/* globs: separated by commas. One that matches no function is ignored; one line, that begins with
 * source, names it where speak is true. Where none is left, all functions are taken. */
void sg_function_globs(const char *source, const char *globs, bool speak,
                       bool takes[SG_FUNCTION_COUNT]);

#endif
