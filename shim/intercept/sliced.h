/* Messages on MPI_COMM_WORLD that go through the slices of buffered coscheduling, where a rule says
 * so (rule/rule.h, p2p): the functions that send, receive and probe, in the place of MPICH's.
 *
 * Arguments are checked by MPICH's function, with MPI_PROC_NULL; what that is for, or what is
 * wrong, is left to it. The application's threads, one at a time.
 */
#ifndef SG_INTERCEPT_SLICED_H
#define SG_INTERCEPT_SLICED_H

#include "intercept/sliced_message.h"
#include "mpi/real.h"
#include "profile/function.h"

/* Collective. Before communicators are set up: which rule their messages are carried by; -1: none.
 * Where a rule cannot hold, one line says why. Then: begins, if the engine is there. */
int sg_sliced_choose(void);
void sg_sliced_start(struct sg_internode *internode);
/* In MPI_Finalize: returns when all ranks are there, and gives up what nobody has received. */
void sg_sliced_stop(void);

/* True: the call is on MPI_COMM_WORLD, and has been carried out so; *error is what it returns. */
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

/* After a function that completed requests and returned an error: messages that were cut are so in
 * their statuses, where MPICH calls an error of a generalized request another one. */
void sg_sliced_mend(enum sg_function function, bool is_f08, const sg_word *words);

/* Of functions that are not carried so, on that communicator: an error by its handler. */
bool sg_sliced_refuses(enum sg_function function, const sg_word *words, int *error);

#endif
