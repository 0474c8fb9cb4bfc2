/* What a call moved: bytes, and to and from whom.
 *
 * Sent are the bytes of the operands that this rank gives to others, received those of the operands
 * that it gets, as MPI defines a call's arguments: a broadcast's root sends its buffer once, a
 * gather's root receives a block of every rank. Of MPI_IN_PLACE the block that stays counts.
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
    /* Ranks of the communicator, of messages; SG_NOBODY: there is none. */
    int to, from;
    /* Of a one-sided operation; likewise. */
    int target;
};

#define SG_MOVED_NOTHING                                                                           \
    (struct sg_moved)                                                                              \
    {                                                                                              \
        .to = SG_NOBODY, .from = SG_NOBODY, .target = SG_NOBODY                                    \
    }

/* Where the arguments of a function stand: words, or SG_NO_WORD. */
struct sg_argument_places {
    struct sg_operand_places {
        int8_t buffer, amount, type;
    } operands[2]; /* the first again, where there is one */
    int8_t parts, root, comm, status, statuses, request, requests, number, handle;
    int8_t flag, index, done, indices, message;
    int8_t made; /* a communicator */
    int8_t win, made_win, lock, group, op;
    int8_t peers[2], tags[2];
};

extern struct sg_argument_places sg_places[SG_FUNCTION_COUNT];
void sg_places_find(void);

/* words: those of the call that succeeded. comm: NULL where there is none. status: of what it
 * received; NULL: not known. */
struct sg_moved sg_moved_by(enum sg_function function, const sg_word *words,
                            const struct sg_profile_comm *comm, const MPI_Status *status);

/* The bytes that a call asks to receive. */
uint64_t sg_moved_asked(enum sg_function function, const sg_word *words);

/* What a request received that such a function made, by its status, and from whom. Nothing, where
 * the function sends only, or where its status does not tell. */
void sg_moved_received(enum sg_function function, const MPI_Status *status, uint64_t *bytes,
                       int *from);

#endif
