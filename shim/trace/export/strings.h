/* The archive's strings: each text once, numbered in the order of first use, in UTF-8, which
 * readers insist on. */
#ifndef SG_TRACE_STRINGS_H
#define SG_TRACE_STRINGS_H

#include <stdbool.h>
#include <stdint.h>

struct sg_strings {
    char **texts; /* by number; 0 is "" */
    uint32_t count, capacity;
    uint32_t *slots;     /* hash table of number + 1 */
    uint32_t slot_count; /* a power of two */
    bool failed;         /* out of memory: numbers given out since are 0 */
};

/* Puts '?' for every byte that is not UTF-8 or is a control character: names and paths may be in
 * any encoding, damaged logs hold anything. */
void sg_text_clean(char *text);

uint32_t sg_strings_add(struct sg_strings *strings, const char *text);
uint32_t sg_strings_addf(struct sg_strings *strings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sg_strings_clear(struct sg_strings *strings);

#endif
