/* Identities of communicators, the same on all members without a message; and loaded objects, as
 * call sites name them.
 *
 * An identity is a hash of the members in their order (for an intercommunicator the group with the
 * lower first rank comes first) and of the parent communicator. The ordinal counts communicators
 * with the same identity. All members make the communicators of one parent in the same order,
 * whatever other threads do. If not all of the parent's members take part (MPI_Comm_create_group),
 * or the two sides have different parents (MPI_Intercomm_create), the identity uses the members
 * alone. It is right as long as they make communicators with just these members in the same order.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_MODULE_H
#define SG_PROFILE_MODULE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_identity {
    uint64_t hash; /* 0: not known, for example with members outside MPI_COMM_WORLD */
    uint32_t ordinal;
    uint64_t members; /* hash of the members alone; 0: not known */
    uint32_t parent;  /* number of the parent in the log; 0: not known */
    uint64_t created_ns;
};

/* A communicator that has just been made. */
struct sg_identity_source {
    MPI_Comm handle;
    MPI_Comm members; /* communicator with the same members that can be queried */
    MPI_Comm parent;  /* parent that orders it; MPI_COMM_NULL: none */
    uint32_t parent_index;
};

void sg_identity_take(const struct sg_identity_source *source);
/* Returns all zeros for a communicator that was not taken. */
struct sg_identity sg_identity_of(MPI_Comm handle);
/* Call when its handle is freed. */
void sg_identity_forget(MPI_Comm handle);
/* Returns world ranks of the own group, then of the remote one; count is of both. The caller frees.
 * NULL: some are outside MPI_COMM_WORLD, or no memory. */
int *sg_identity_members(MPI_Comm comm, int *count, int *own_count);

/* ---- loaded objects: the program and its libraries ----
 *
 * Thread-safe; takes the loader's lock. Not from a signal handler.
 */

#define SG_BUILD_ID_MAX 32

struct sg_module {
    const char *path; /* "": not known; valid while the object is loaded */
    uintptr_t base;   /* subtract it for a link-time address */
    unsigned char build_id[SG_BUILD_ID_MAX];
    unsigned build_id_bytes;
};

/* Finds the object that contains an address. False for an address in none (generated code): out is
 * then empty. */
bool sg_module_find(uintptr_t address, struct sg_module *out);
/* Returns the path of a loaded object whose base name ends with name; the caller frees. NULL:
 * none. */
char *sg_module_find_path(const char *name);

#endif
