/* Ranks as users write them: "3", "0-3,7". */
#ifndef SG_CORE_RANK_LIST_H
#define SG_CORE_RANK_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define SG_RANK_RANGES 32

struct sg_rank_list {
    uint32_t count; /* of ranges */
    struct {
        uint32_t first, last;
    } ranges[SG_RANK_RANGES];
};

/* False: the text is none, or has more ranges than fit. */
bool sg_rank_list_parse(const char *text, struct sg_rank_list *out);

bool sg_rank_list_has(const struct sg_rank_list *list, uint32_t rank);

#endif
