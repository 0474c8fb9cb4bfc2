/* Dynamic symbols of loaded objects: finds the functions that the application or one of its
 * libraries imports and so may call, and loads the companion libraries.
 *
 * Takes the loader's lock; not from a signal handler. */
#ifndef SG_CORE_IMPORTS_H
#define SG_CORE_IMPORTS_H

#include <stdbool.h>

#define SG_IMPORT_BYTES 256

struct sg_import {
    char object[SG_IMPORT_BYTES]; /* base name; "the program" for the application */
    char symbol[SG_IMPORT_BYTES];
};

/* Finds the first wanted import of an object whose base name is not left out. False: there is
 * none. */
bool sg_imports_find(bool (*is_left_out)(const char *object), bool (*is_wanted)(const char *symbol),
                     struct sg_import *out);

/* A function that an object imports, and one that it is to call instead. */
struct sg_replacement {
    const char *symbol;
    void *by;
    void *was; /* set to what it was bound to; else it stays as it is */
};

/* Has the object that contains the address call other functions than those that it imports; no
 * other object does. False: it does not import all of them, or the loader's table cannot be
 * written; some may be replaced. Call before other threads call the functions. */
bool sg_imports_replace(const void *address, struct sg_replacement *all, int count);

/* ---- companion libraries of libstagger.so ----
 *
 * They are loaded on demand and with RTLD_LOCAL: nothing that they are linked to may reach the
 * application's symbol scope (docs/decisions/01). */

/* Finds a symbol of the library `name` in the directory of the file `path`. NULL: *reason says why;
 * it is valid until the next call of this or of dlerror. The library stays loaded. */
void *sg_companion_load(const char *path, const char *name, const char *symbol,
                        const char **reason);
/* The same, in the directory of the library or program that contains the address. */
void *sg_companion_load_own(const void *address, const char *name, const char *symbol,
                            const char **reason);

#endif
