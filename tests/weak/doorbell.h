/* Endpoints of one machine on the real engine, driven by a protocol of one message. doorbell.c is
 * compiled as the sources under check are.
 *
 * Endpoint 0 (rank 0) sends one message in its CALL. Endpoint 1's rank has left its call while
 * the message is outstanding, and its process's helper thread is to be rung for it.
 */
#ifndef SG_TESTS_WEAK_DOORBELL_H
#define SG_TESTS_WEAK_DOORBELL_H

#include "rule/rule.h"
#include "weak/weak.h"

/* Not one of the sources under check; made once, by test_doorbell.c. */
const struct sg_ruleset *doorbell_rules(void);

/* ranks: of endpoint 1, from rank 1 on. */
void doorbell_set_up(int ranks);
/* Starts the helper thread, before other threads. */
void doorbell_start_helper(void);
/* Sends the message, as endpoint 0's CALL does, and its ring. */
void doorbell_send(void);
/* Sends the message without a ring. */
void doorbell_send_quietly(void);
/* Delivers endpoint 1's CALL, by its first rank, and no more. */
void doorbell_expect(void);
/* A rank's call at endpoint 1: delivers the CALL, and leaves. */
void doorbell_call(int rank);
void doorbell_look(int rank);
/* Checks that endpoint 1 has this many messages, the last one whole, and has finished with them. */
void doorbell_check(int messages);

#endif
