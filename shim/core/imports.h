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

#endif
