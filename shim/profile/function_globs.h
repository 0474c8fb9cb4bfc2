/* Which functions of MPI a list of globs names (STAGGER_CALLS and its like).
 *
 * Names are taken with and without MPI_, whatever the case of their letters; those with a suffix _c
 * go with the others.
 */
#ifndef SG_PROFILE_FUNCTION_GLOBS_H
#define SG_PROFILE_FUNCTION_GLOBS_H

#include "profile/function.h"

/* globs: separated by commas. One that matches no function is ignored; one line, that begins with
 * source, names it where speak is true. otherwise: whether functions are taken where none is left.
 */
void sg_function_globs(const char *source, const char *globs, bool speak, bool otherwise,
                       bool takes[SG_FUNCTION_COUNT]);

#endif
