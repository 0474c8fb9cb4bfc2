/* Growing arrays: capacity doubles, so appending takes amortised constant time. */
#ifndef SG_CORE_ROOM_H
#define SG_CORE_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ensures that *array, of `count` elements, has capacity for one more. `count` grows by one at a
 * time, so the array is full whenever it is a power of two. False: no memory, nothing is
 * changed. */
static inline bool sg_make_room(void *array, size_t count, size_t element_bytes)
{
    void *old, *larger;

    if ((count & (count - 1)) != 0)
        return true;
    memcpy(&old, array, sizeof old);
    larger = realloc(old, (count > 0 ? count * 2 : 1) * element_bytes);
    if (larger == NULL)
        return false;
    memcpy(array, &larger, sizeof larger);
    /* cppcheck-suppress memleak ; it is the array's */
    return true;
}

/* Appends a value and increments count. False: no memory, nothing is changed. */
#define SG_APPEND(array, count, ...)                                                               \
    (sg_make_room(&(array), count, sizeof *(array)) && ((array)[(count)++] = (__VA_ARGS__), true))

/* Appends zeroed elements until there is one at that index. False: no memory. */
static inline bool sg_extend(void *array, uint32_t *count, size_t index, size_t element_bytes)
{
    while (*count <= index) {
        char *elements;

        if (!sg_make_room(array, *count, element_bytes))
            return false;
        memcpy(&elements, array, sizeof elements);
        memset(elements + (*count)++ * element_bytes, 0, element_bytes);
    }
    return true;
}
#define SG_EXTEND(array, count, index) sg_extend(&(array), &(count), index, sizeof *(array))

#endif
