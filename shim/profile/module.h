/* Who a communicator is, the same on all its members, which derive it without a message.
 *
 * The identity is a hash of its members in their order (of the two groups of an intercommunicator
 * that of the lower first rank comes first) and of the communicator it was made from; the ordinal
 * counts those with the same identity. All members make the communicators of one communicator in
 * the same order, whatever other threads do meanwhile. Where not all of its members take part
 * (MPI_Comm_create_group), or the two sides make it of different ones (MPI_Intercomm_create), the
 * identity is of the members alone, and right as long as they make those with just these members
 * in the same order.
 *
 * Any thread; takes a lock. Not from a signal handler.
 */
#ifndef SG_PROFILE_MODULE_H
#define SG_PROFILE_MODULE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_identity {
    uint64_t hash; /* 0: not known, as of members outside MPI_COMM_WORLD */
    uint32_t ordinal;
    uint64_t members; /* a hash of them alone; 0: not known */
    uint32_t parent;  /* number in the log of what it was made from; 0: not known */
    uint64_t created_ns;
};

/* A communicator that has been made. */
struct sg_identity_source {
    MPI_Comm handle;
    MPI_Comm members; /* a communicator with the same ones, that can be asked for them */
    MPI_Comm parent;  /* in whose order it was made; MPI_COMM_NULL: of no other */
    uint32_t parent_index;
};

void sg_identity_take(const struct sg_identity_source *source);
/* All zero of one that was not taken. */
struct sg_identity sg_identity_of(MPI_Comm handle);
/* Its handle is given up. */
void sg_identity_forget(MPI_Comm handle);
/* World ranks of the own group, then of the remote one; count is of both. malloc'ed; NULL: some are
 * outside MPI_COMM_WORLD, or there is no memory. */
int *sg_identity_members(MPI_Comm comm, int *count, int *own_count);

/* Loaded objects: the program and its libraries, as call sites name them.
 *
 * Thread-safe; takes the loader's lock. Not from a signal handler.
 */

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
