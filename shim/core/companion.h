/* The libraries beside libstagger.so, loaded when they are wanted and with RTLD_LOCAL: nothing that
 * they are linked to may reach the application's symbol scope (docs/decisions/0001).
 */
#ifndef SG_CORE_COMPANION_H
#define SG_CORE_COMPANION_H

/* Symbol of the library `name` in the directory of the file `path`. NULL: *reason, good until the
 * next call of this or of dlerror, says why. The library stays loaded. */
void *sg_companion_load(const char *path, const char *name, const char *symbol,
                        const char **reason);

/* Likewise, beside the library or program that holds the address. */
void *sg_companion_load_own(const void *address, const char *name, const char *symbol,
                            const char **reason);

#endif
