/* Hash tables of uthash(3): a table is a pointer to its first element, NULL if it is empty. An
 * element is a struct with its `key`, a member without padding, and a handle `hh`. Elements keep
 * the order in which they were added. Lack of memory is an error instead of uthash's exit.
 */
#ifndef SG_REPORT_KEYED_H
#define SG_REPORT_KEYED_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Adds an element; false: out of memory, the table is unchanged. */
#define SG_KEYED_ADD(table, element)                                                               \
    ({                                                                                             \
        HASH_ADD(hh, table, key, sizeof(element)->key, element);                                   \
        (element)->hh.tbl != NULL;                                                                 \
    })
/* The element with the key that `wanted` points to; NULL: none. */
#define SG_KEYED_FIND(table, wanted)                                                               \
    ({                                                                                             \
        __typeof__(&*(table)) found_;                                                              \
        HASH_FIND(hh, table, wanted, sizeof(*(wanted)), found_);                                   \
        found_;                                                                                    \
    })

#endif
