/* Arrays that grow: they double, so appending takes constant time on average. */
#ifndef SG_CORE_ROOM_H
#define SG_CORE_ROOM_H

#include <stdbool.h>
#include <stdlib.h>

/* Sees to it that *array, of `count` elements, has room for one more; `count` goes up by one at a
 * time, so the array is full whenever it is a power of two. False: no memory, nothing is changed.
 */
static inline bool sg_make_room(void **array, size_t count, size_t element_bytes)
{
    void *larger;

    if ((count & (count - 1)) != 0)
        return true;
    larger = realloc(*array, (count > 0 ? count * 2 : 1) * element_bytes);
    if (larger == NULL)
        return false;
    *array = larger;
    return true;
}

#endif
