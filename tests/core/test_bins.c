/* Tests bins of distributions, and lists of ranks. */
#include "core/bins.h"
#include "core/text.h"
#include "lib/unit.h"

/* Each value lies in its bin, and bins follow each other without a gap. */
TEST("every value has a bin, from zero to the greatest")
{
    for (uint32_t to = 1; to <= SG_BINS_MOST; to *= 2) {
        uint32_t count = sg_bins_count(to);

        EXPECT(sg_bins_is_valid(to), count <= SG_BINS_COUNT_MOST, sg_bins_least(to, 0) == 0,
               sg_bins_least(to, count) == UINT64_C(1) << SG_BINS_BITS);
        for (uint32_t i = 0; i < count; i++) {
            EXPECT(sg_bins_least(to, i) < sg_bins_least(to, i + 1),
                   sg_bins_index(to, sg_bins_least(to, i)) == i,
                   sg_bins_index(to, sg_bins_least(to, i + 1) - 1) == i);
        }
        EXPECT(sg_bins_index(to, UINT64_MAX) == count - 1);
    }
}

TEST("each doubling has the given number of bins")
{
    EXPECT(sg_bins_index(4, 8) + 4 == sg_bins_index(4, 16),
           sg_bins_least(4, sg_bins_index(4, 40)) == 40,
           sg_bins_least(4, sg_bins_index(4, 47)) == 40,
           sg_bins_least(1, sg_bins_index(1, 47)) == 32, !sg_bins_is_valid(0), !sg_bins_is_valid(3),
           !sg_bins_is_valid(32));
}

TEST("lists of ranks hold numbers and ranges")
{
    struct sg_rank_list list;

    ASSERT(sg_rank_list_parse("0-3,8", &list));
    EXPECT(sg_rank_list_has(&list, 0), sg_rank_list_has(&list, 3), !sg_rank_list_has(&list, 4),
           sg_rank_list_has(&list, 8), !sg_rank_list_has(&list, 9));
}

TEST("malformed lists of ranks are refused")
{
    static const char *const wrong[] = {"",   ",", "1,",  "3-1",  "1-",
                                        "-1", "a", "1 2", "1,,2", "99999999999"};
    char many[200] = "1";
    struct sg_rank_list list;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT(!sg_rank_list_parse(wrong[i], &list));
    for (int i = 1; i < SG_RANK_RANGES; i++)
        strcat(many, ",1");
    EXPECT(sg_rank_list_parse(many, &list));
    strcat(many, ",1");
    EXPECT(!sg_rank_list_parse(many, &list));
}
