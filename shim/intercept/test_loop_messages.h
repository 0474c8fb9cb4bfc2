/* Point-to-point calls and waits by loops of tests (test_loop.h): after sg_test_loop_begin only.
 *
 * Arguments, results, statuses and errors as of the MPI functions of these names, in words. Any
 * thread; not from a signal handler.
 */
#ifndef SG_INTERCEPT_TEST_LOOP_MESSAGES_H
#define SG_INTERCEPT_TEST_LOOP_MESSAGES_H

#include "mpi/real.h"

#define SG_LOOP_ENVELOPE sg_word buffer, sg_word count, sg_word type
#define SG_LOOP_SEND(name)                                                                         \
    int sg_loop_##name(SG_LOOP_ENVELOPE, sg_word to, sg_word tag, sg_word comm);
#define SG_LOOP_OF_LENGTH(c)                                                                       \
    SG_LOOP_SEND(Send##c)                                                                          \
    SG_LOOP_SEND(Ssend##c)                                                                         \
    SG_LOOP_SEND(Rsend##c)                                                                         \
    int sg_loop_Recv##c(SG_LOOP_ENVELOPE, sg_word from, sg_word tag, sg_word comm,                 \
                        sg_word status);                                                           \
    int sg_loop_Mrecv##c(SG_LOOP_ENVELOPE, sg_word message, sg_word status);                       \
    int sg_loop_Sendrecv##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word into,          \
                            sg_word into_count, sg_word into_type, sg_word from, sg_word tag,      \
                            sg_word comm, sg_word status);                                         \
    int sg_loop_Sendrecv_replace##c(SG_LOOP_ENVELOPE, sg_word to, sg_word send_tag, sg_word from,  \
                                    sg_word tag, sg_word comm, sg_word status);

SG_LOOP_OF_LENGTH()
SG_LOOP_OF_LENGTH(_c)

int sg_loop_Probe(sg_word from, sg_word tag, sg_word comm, sg_word status);
int sg_loop_Mprobe(sg_word from, sg_word tag, sg_word comm, sg_word message, sg_word status);

int sg_loop_Wait(sg_word request, sg_word status);
int sg_loop_Waitall(sg_word count, sg_word requests, sg_word statuses);
int sg_loop_Waitany(sg_word count, sg_word requests, sg_word index, sg_word status);
int sg_loop_Waitsome(sg_word count, sg_word requests, sg_word done, sg_word indices,
                     sg_word statuses);

#endif
