/* The doorbell's far ends on the real progress (shim/progress): which thread is rung, by which
 * one, and which visits clients. A stand-in replaces the endpoint: a message is a word, and a
 * thread that looks at the endpoint has seen the messages it finds. rings.c is compiled as the
 * sources under check are. */
#ifndef SG_TESTS_WEAK_RINGS_H
#define SG_TESTS_WEAK_RINGS_H

#include "progress/progress.h"
#include "rule/rule.h"
#include "weak/weak.h"

/* Not one of the sources under check: in test_rings.c. */
const struct sg_ruleset *rings_rules(void);

/* Makes this many clients. No thread is inside their endpoints, and each has a doorbell armed
 * with the mode. */
void rings_set_up(int clients, enum sg_progress_mode armed);
/* Start this process's helper thread and the one that handles signals, before other threads. */
void rings_start_helper(void);
void rings_start_handler(void);
/* Starts the helper thread, and a handler that no thread runs. */
void rings_start_signals(void);
/* The application takes the signal: signals sent have no effect, and no warning is printed. */
void rings_take_signal(void);

/* Puts a message in place at an endpoint, makes a full barrier, and rings. */
void rings_send(int number, int client);
/* A call at the endpoint: entered, and left asking for that mode. */
void rings_enter(int client);
void rings_leave(int client, enum sg_progress_mode asked);
/* Make a client, and remove it; its memory is then reused. */
void rings_add(int client);
void rings_remove(int client);
void rings_poll(void);
/* Ends the helper thread and waits for it. */
void rings_stop(void);
/* Checks that all messages up to this number have been seen. */
void rings_check(int messages);

#endif
