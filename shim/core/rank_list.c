#include "core/rank_list.h"

#include <errno.h>
#include <stdlib.h>

bool sg_rank_list_parse(const char *text, struct sg_rank_list *out)
{
    struct sg_rank_list list = {0};

    while (text != NULL) {
        unsigned long first, last;
        char *end;

        errno = 0;
        if (*text < '0' || *text > '9' || list.count == SG_RANK_RANGES)
            return false;
        first = last = strtoul(text, &end, 10);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoul(end + 1, &end, 10);
        if ((*end != ',' && *end != '\0') || errno != 0 || last < first || last > UINT32_MAX)
            return false;
        list.ranges[list.count].first = (uint32_t)first;
        list.ranges[list.count++].last = (uint32_t)last;
        text = *end == ',' ? end + 1 : NULL;
    }
    *out = list;
    return true;
}

bool sg_rank_list_has(const struct sg_rank_list *list, uint32_t rank)
{
    bool has = false;

    for (uint32_t i = 0; !has && i < list->count; i++)
        has = rank >= list->ranges[i].first && rank <= list->ranges[i].last;
    return has;
}
