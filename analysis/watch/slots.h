/* Copies slots of a log that its writer is writing to, and that anybody may cut off meanwhile.
 *
 * Each value is copied as a whole, never half of one store and half of another. A slot's kind is
 * read before its fields, and the end of what has one before the rest: a copy that has them has all
 * that was written before them.
 *
 * A file that is cut off while it is mapped raises SIGBUS where it is read. Not thread-safe: one
 * copy at a time in a process. */
#ifndef SG_WATCH_SLOTS_H
#define SG_WATCH_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes SIGBUS over, for good: one that no copy raised ends the program, as ever. */
void sg_slots_guard(void);

/* from: in the mapping; to: as long. False: the file ends before them. */
bool sg_slots_copy(void *to, const void *from, uint64_t count);

/* The same of bytes, a multiple of 8, without kinds. */
bool sg_slots_copy_words(void *to, const void *from, size_t bytes);

#endif
