/* What the objects that are loaded import, by their dynamic symbols: which functions a program, or
 * a library of its, may call.
 *
 * Takes the loader's lock; not from a signal handler.
 */
#ifndef SG_CORE_IMPORTS_H
#define SG_CORE_IMPORTS_H

#include <stdbool.h>

#define SG_IMPORT_BYTES 256

struct sg_import {
    char object[SG_IMPORT_BYTES]; /* its base name; of the program "the program" */
    char symbol[SG_IMPORT_BYTES];
};

/* The first import that is wanted, of an object that is not left out by its base name. False: there
 * is none. */
bool sg_imports_find(bool (*is_left_out)(const char *object), bool (*is_wanted)(const char *symbol),
                     struct sg_import *out);

/* The libraries beside libstagger.so, loaded when they are wanted and with RTLD_LOCAL: nothing that
 * they are linked to may reach the application's symbol scope (docs/decisions/0001).
 */

/* Symbol of the library `name` in the directory of the file `path`. NULL: *reason, good until the
 * next call of this or of dlerror, says why. The library stays loaded. */
void *sg_companion_load(const char *path, const char *name, const char *symbol,
                        const char **reason);
/* Likewise, beside the library or program that holds the address. */
void *sg_companion_load_own(const void *address, const char *name, const char *symbol,
                            const char **reason);

#endif
