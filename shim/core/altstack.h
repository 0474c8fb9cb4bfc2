/* Runs deep work on a thread of the application. The application sizes its stacks for what MPI
 * needs, perhaps 16 KiB; the loader, stdio, the unwinder and our collectives need more. The work
 * runs on a stack of the library if too little is left of the thread's, or if the thread runs on an
 * unknown stack (a coroutine's). Otherwise it is an ordinary call.
 *
 * The work must not call application code: its error handler may leave by longjmp. Unwinders can
 * walk from our stack to the thread's. */
#ifndef SG_CORE_ALTSTACK_H
#define SG_CORE_ALTSTACK_H

#include <stdbool.h>
#include <stdint.h>

/* Stack that must be free below the caller's frame for an ordinary call. */
#define SG_ALTSTACK_ROOM_BYTES ((uintptr_t)256 << 10)

/* Any thread, also nested; not from a signal handler. Falls back to an ordinary call if there is no
 * memory for a stack. */
void sg_altstack_run(void (*work)(void *argument), void *argument);

/* True if sg_altstack_run would make an ordinary call. Not from a signal handler. */
bool sg_altstack_has_room(void);

/* True if the calling thread is in sg_altstack_run and the address is in the stack it switched
 * to. */
bool sg_altstack_holds(uintptr_t address);

#endif
