/* The doorbell's far ends on the real progress (shim/progress): who is rung, by whom, and who
 * visits clients. What an endpoint does with a message is a stand-in's here: a message is a word,
 * and who looks at the endpoint has seen those that it finds. rings.c is compiled as the sources
 * under check are.
 */
#ifndef SG_TESTS_WEAK_RINGS_H
#define SG_TESTS_WEAK_RINGS_H

#include "progress/progress.h"
#include "rule/rule.h"
#include "weak/weak.h"

/* Not one of the sources under check: test_rings.c. */
const struct sg_ruleset *rings_rules(void);

/* So many clients, of whose endpoints nobody is inside, each with a doorbell that is armed like
 * that.
 */
void rings_set_up(int clients, enum sg_progress_mode armed);
/* Before other threads: this process's helper thread, and the one that handles signals. */
void rings_start_helper(void);
void rings_start_handler(void);
/* The helper thread, and a handler that no thread runs. */
void rings_start_signals(void);
/* The signal is the application's: what is sent comes to nothing, without a word. */
void rings_take_signal(void);

/* A message in place at an endpoint, a full barrier, and its ring. */
void rings_send(int number, int client);
/* A call at the endpoint: entered, and left with that mode asked for. */
void rings_enter(int client);
void rings_leave(int client, enum sg_progress_mode asked);
/* A client is made, and when it is removed its memory is another's. */
void rings_add(int client);
void rings_remove(int client);
void rings_poll(void);
/* The helper thread is told to end, and has. */
void rings_stop(void);
/* All messages up to this number have been seen. */
void rings_check(int messages);

#endif
