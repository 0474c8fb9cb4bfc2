/* Atomic operations for the programs in litmus.txt. litmus.c is compiled as the sources under check
 * are. */
#ifndef SG_TESTS_WEAK_LITMUS_H
#define SG_TESTS_WEAK_LITMUS_H

#include "weak/weak.h"

#include <stdatomic.h>

enum litmus_operation { LITMUS_LOAD, LITMUS_STORE, LITMUS_ADD, LITMUS_EXCHANGE, LITMUS_FENCE };

/* object: 0 to 2. Returns the value loaded, or whether an exchange from `from` succeeded. Aborts
 * on an order that no program has needed so far. */
int litmus_do(enum litmus_operation operation, memory_order order, int object, int value, int from);

/* Waits until an acquire load of object 1 has 1. */
void litmus_await(void);

#endif
