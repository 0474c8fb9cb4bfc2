/* Loaded objects: the program and its libraries, as call sites name them.
 *
 * Thread-safe; takes the loader's lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_MODULE_H
#define SG_PROFILE_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#define SG_BUILD_ID_MAX 32

struct sg_module {
    const char *path; /* "": not known; stays while the object is loaded */
    uintptr_t base;   /* to subtract for a link-time address */
    unsigned char build_id[SG_BUILD_ID_MAX];
    unsigned build_id_bytes;
};

/* The object that an address lies in. False for an address in none (generated code): out is then
 * empty. */
bool sg_module_find(uintptr_t address, struct sg_module *out);

/* The path of a loaded object whose base name ends with name; malloc'ed. NULL: there is none. */
char *sg_module_find_path(const char *name);

#endif
