/* Messages that go through the slices of buffered coscheduling, where a rule says so (rule/rule.h,
 * p2p): the functions that send, receive and probe, in the place of MPICH's. A communicator's go so
 * from its creation on, or none of them does.
 *
 * Arguments are checked by MPICH's function, with MPI_PROC_NULL; what that is for, or what is
 * wrong, is left to it. The application's threads, one at a time.
 */
#ifndef SG_BCS_LIVE_SLICED_H
#define SG_BCS_LIVE_SLICED_H

#include "bcs/live/sliced_message.h"
#include "mpi/real.h"
#include "profile/counted_functions.h"

/* Collective, in MPI_Init. Before communicators are set up: the rule by which messages of
 * MPI_COMM_WORLD are to be carried; -1: none. Where a rule cannot hold, one line says why. Then:
 * begins. */
int sg_sliced_choose(void);
void sg_sliced_start(void);
/* In MPI_Finalize: returns when all ranks are there, and gives up what nobody has received. */
void sg_sliced_stop(void);
/* Collective over a communicator that has just been made, or MPI_COMM_NULL: if a rule says so, its
 * messages are carried. */
void sg_sliced_begin(MPI_Comm handle);
/* Before it is freed, collective: when all are here, and what has been sent and is received has
 * been, its messages end; what nobody receives is given up. False: others have yet to come; it will
 * be freed when they have. True where it is to be waited for. */
bool sg_sliced_end(MPI_Comm handle, bool is_awaited);

/* True: the call is on such a communicator, and has been carried out; *error is what it returns. */
#define SG_SLICED(X)                                                                               \
    X(Send)                                                                                        \
    X(Send_c)                                                                                      \
    X(Rsend)                                                                                       \
    X(Rsend_c)                                                                                     \
    X(Ssend)                                                                                       \
    X(Ssend_c)                                                                                     \
    X(Isend)                                                                                       \
    X(Isend_c)                                                                                     \
    X(Irsend)                                                                                      \
    X(Irsend_c)                                                                                    \
    X(Issend)                                                                                      \
    X(Issend_c)                                                                                    \
    X(Recv)                                                                                        \
    X(Recv_c)                                                                                      \
    X(Irecv)                                                                                       \
    X(Irecv_c)                                                                                     \
    X(Sendrecv)                                                                                    \
    X(Sendrecv_c)                                                                                  \
    X(Sendrecv_replace)                                                                            \
    X(Sendrecv_replace_c)                                                                          \
    X(Probe)                                                                                       \
    X(Iprobe)
#define SG_SLICED_DECLARE(name) bool sg_sliced_##name(const sg_word *words, int *error);

SG_SLICED(SG_SLICED_DECLARE)
#undef SG_SLICED_DECLARE

/* After any other function. Behind one that made a communicator its messages begin. Behind one that
 * completed requests and returned an error, messages that were cut are so in their statuses, where
 * MPICH calls an error of a generalized request another one. */
void sg_sliced_behind(enum sg_function function, bool is_f08, const sg_word *words, int error);
/* Of functions that are not carried so, on such a communicator: an error by its handler. */
bool sg_sliced_refuses(enum sg_function function, const sg_word *words, int *error);

#endif
