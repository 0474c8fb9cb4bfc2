/* The exchange among the endpoints of a crowd (crowd.h): threads of a process meet, and one of them
 * speaks to the other processes.
 */
#ifndef SG_TESTS_LAB_CROWD_EXCHANGE_H
#define SG_TESTS_LAB_CROWD_EXCHANGE_H

#include "core/exchange.h"

/* An endpoint's place in it; lives as long as the exchange. */
struct crowd_seat {
    int endpoint, endpoints;
};

/* Collective, once. */
void crowd_exchange_start(void);

/* Endpoints are dealt out among the ranks. */
int crowd_rank_of(int endpoint);

/* For so many endpoints of this process, each in a thread of its own, until close. */
void crowd_exchange_open(unsigned here);
void crowd_exchange_close(void);

void crowd_exchange_of(struct crowd_seat *seat, struct sg_exchange *out);

#endif
