/* Endpoints of one machine on the real engine, driven by a protocol of one message: doorbell.c is
 * compiled as the sources under check are.
 *
 * Endpoint 0 (rank 0) sends one message in its CALL. Endpoint 1 is left by its rank's call while
 * the message is outstanding, and its process's helper thread is to be rung for it.
 */
#ifndef SG_TESTS_WEAK_DOORBELL_H
#define SG_TESTS_WEAK_DOORBELL_H

#include "rule/rule.h"
#include "weak/weak.h"

/* Not one of the sources under check, and made once: test_doorbell.c. */
const struct sg_ruleset *doorbell_rules(void);

/* ranks: of endpoint 1, from rank 1 on. */
void doorbell_set_up(int ranks);
/* The helper thread, from the beginning: before other threads. */
void doorbell_start_helper(void);
/* The message, as endpoint 0's CALL sends it, and its ring. */
void doorbell_send(void);
/* The message alone. */
void doorbell_send_quietly(void);
/* Endpoint 1's CALL is delivered, by its first rank, and no more. */
void doorbell_expect(void);
/* A rank's call at endpoint 1, in which that is delivered its CALL, and which is left. */
void doorbell_call(int rank);
void doorbell_look(int rank);
/* Endpoint 1 has so many messages, the last one whole, and its part of them is over. */
void doorbell_check(int messages);

#endif
