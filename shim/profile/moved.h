/* Computes the bytes that a call moved, and its peers.
 *
 * Sent bytes are the operands that this rank gives to others, received bytes those that it gets, as
 * MPI defines a call's arguments: a broadcast's root sends its buffer once; a gather's root
 * receives a block from every rank. With MPI_IN_PLACE the block that stays also counts.
 *
 * Any thread, after the call; not from a signal handler.
 */
#ifndef SG_PROFILE_MOVED_H
#define SG_PROFILE_MOVED_H

#include "mpi/real.h"
#include "profile/comms.h"
#include "profile/counted_functions.h"

#define SG_NOBODY (-1)

struct sg_moved {
    uint64_t sent_bytes, received_bytes;
    /* Ranks in the communicator, for messages; SG_NOBODY: none. */
    int to, from;
    /* Likewise, for a one-sided operation. */
    int target;
};

#define SG_MOVED_NOTHING                                                                           \
    (struct sg_moved)                                                                              \
    {                                                                                              \
        .to = SG_NOBODY, .from = SG_NOBODY, .target = SG_NOBODY                                    \
    }

/* Positions of a function's arguments: words, or SG_NO_WORD. */
struct sg_argument_places {
    struct sg_operand_places {
        int8_t buffer, amount, type;
    } operands[2]; /* the first again if there is only one */
    int8_t parts, root, comm, status, statuses, request, requests, number, handle;
    int8_t flag, index, done, indices, message;
    int8_t made; /* a communicator */
    int8_t win, made_win, lock, group, op;
    int8_t file, made_file; /* of a call that all who opened it make; made or closed */
    int8_t peers[2], tags[2];
};

extern struct sg_argument_places sg_places[SG_FUNCTION_COUNT];
void sg_places_find(void);

/* Adds to SG_MOVED_NOTHING. words: of a call that succeeded. comm: NULL if there is none. status:
 * of the received message; NULL: not known. */
void sg_moved_by(struct sg_moved *moved, enum sg_function function, const sg_word *words,
                 const struct sg_profile_comm *comm, const MPI_Status *status);

/* Communicators with more ranks have no sources: the log would grow with their square. */
#define SG_SOURCES_MOST 1024

/* Finds the ranks of the communicator whose data a collective with a count for each brings to this
 * one, itself included, if it brings none of some rank. Returns them, in twice as many elements, to
 * be freed; NULL: it brings data of all, or this is not known. words, comm: as above. */
int *sg_moved_sources(enum sg_function function, const sg_word *words,
                      const struct sg_profile_comm *comm, int *count);

/* Returns the bytes of a status. Reads the members, which all MPIs with MPICH's ABI have:
 * MPI_Get_elements_x takes longer than all else that a completion needs. The lowest bit of the
 * upper half says whether it was cancelled. */
static inline uint64_t sg_moved_received_bytes(const MPI_Status *status)
{
    return (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32 |
           (uint32_t)status->count_lo;
}

/* Returns the bytes that a call asks to receive. */
uint64_t sg_moved_asked(enum sg_function function, const sg_word *words);

/* Finds the bytes that a request of the function received, and their source, from its status.
 * Leaves both unchanged if the function only sends, or the status does not contain them. */
void sg_moved_received(enum sg_function function, const MPI_Status *status, uint64_t *bytes,
                       int *from);

#endif
