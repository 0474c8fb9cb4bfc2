/* Deep work on a thread of the program. The program chooses its threads' stacks for what MPI needs,
 * and 16 KiB may be all of one: the loader, stdio, the unwinder and collectives of our own need
 * more. Such work runs on a stack of ours where the thread's has too little room left, or where the
 * thread runs on one that is not known (a coroutine's). Where there is room, work is an ordinary
 * call.
 *
 * Nothing of the program's may be called there: a handler of its errors may leave by longjmp.
 * Unwinders find their way from our stack to the thread's.
 */
#ifndef SG_CORE_ALTSTACK_H
#define SG_CORE_ALTSTACK_H

#include <stdbool.h>
#include <stdint.h>

/* Below the caller's frame, for an ordinary call. */
#define SG_ALTSTACK_ROOM_BYTES ((uintptr_t)256 << 10)

/* Any thread, nested too; not from a signal handler. Where there is no memory for a stack it is an
 * ordinary call. */
void sg_altstack_run(void (*work)(void *argument), void *argument);

/* Whether work would be an ordinary call. Not from a signal handler. */
bool sg_altstack_has_room(void);

/* Whether the calling thread, in sg_altstack_run, has left its own stack for the one that the
 * address is in. */
bool sg_altstack_holds(uintptr_t address);

#endif
