/* The exchange among the endpoints of a crowd (crowd.h): the threads of a process synchronise, and
 * one of them communicates with the other processes.
 */
#ifndef SG_TESTS_LAB_CROWD_EXCHANGE_H
#define SG_TESTS_LAB_CROWD_EXCHANGE_H

#include "core/exchange.h"

/* An endpoint's position in the exchange; must live as long as the exchange. */
struct crowd_seat {
    int endpoint, endpoints;
};

/* Collective; call once. */
void crowd_exchange_start(void);

/* The rank that holds the endpoint. */
int crowd_rank_of(int endpoint);

/* Opens the exchange for `here` endpoints of this process, each in its own thread, until close. */
void crowd_exchange_open(unsigned here);
void crowd_exchange_close(void);

void crowd_exchange_of(struct crowd_seat *seat, struct sg_exchange *out);

#endif
