/* Tests bins of distributions, and lists of ranks. */
#include "core/bins.h"
#include "core/text.h"
#include "lib/unit.h"

/* Each value lies in its bin, and bins follow each other without a gap. */
static void bins_hold_values(void)
{
    for (uint32_t to = 1; to <= SG_BINS_MOST; to *= 2) {
        uint32_t count = sg_bins_count(to);

        CU_ASSERT(sg_bins_is_valid(to));
        CU_ASSERT(count <= SG_BINS_COUNT_MOST);
        CU_ASSERT_EQUAL(sg_bins_least(to, 0), 0);
        CU_ASSERT_EQUAL(sg_bins_least(to, count), UINT64_C(1) << SG_BINS_BITS);
        for (uint32_t i = 0; i < count; i++) {
            CU_ASSERT(sg_bins_least(to, i) < sg_bins_least(to, i + 1));
            CU_ASSERT_EQUAL(sg_bins_index(to, sg_bins_least(to, i)), i);
            CU_ASSERT_EQUAL(sg_bins_index(to, sg_bins_least(to, i + 1) - 1), i);
        }
        CU_ASSERT_EQUAL(sg_bins_index(to, UINT64_MAX), count - 1);
    }
}

static void bins_to_a_doubling(void)
{
    CU_ASSERT_EQUAL(sg_bins_index(4, 8) + 4, sg_bins_index(4, 16));
    CU_ASSERT_EQUAL(sg_bins_least(4, sg_bins_index(4, 40)), 40);
    CU_ASSERT_EQUAL(sg_bins_least(4, sg_bins_index(4, 47)), 40);
    CU_ASSERT_EQUAL(sg_bins_least(1, sg_bins_index(1, 47)), 32);
    CU_ASSERT_FALSE(sg_bins_is_valid(0));
    CU_ASSERT_FALSE(sg_bins_is_valid(3));
    CU_ASSERT_FALSE(sg_bins_is_valid(32));
}

static void reads_ranks(void)
{
    struct sg_rank_list list;

    CU_ASSERT_TRUE_FATAL(sg_rank_list_parse("0-3,8", &list));
    CU_ASSERT(sg_rank_list_has(&list, 0));
    CU_ASSERT(sg_rank_list_has(&list, 3));
    CU_ASSERT_FALSE(sg_rank_list_has(&list, 4));
    CU_ASSERT(sg_rank_list_has(&list, 8));
    CU_ASSERT_FALSE(sg_rank_list_has(&list, 9));
}

static void refuses_what_is_no_list(void)
{
    static const char *const wrong[] = {"",   ",", "1,",  "3-1",  "1-",
                                        "-1", "a", "1 2", "1,,2", "99999999999"};
    char many[200] = "1";
    struct sg_rank_list list;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CU_ASSERT_FALSE(sg_rank_list_parse(wrong[i], &list));
    for (int i = 1; i < SG_RANK_RANGES; i++)
        strcat(many, ",1");
    CU_ASSERT(sg_rank_list_parse(many, &list));
    strcat(many, ",1");
    CU_ASSERT_FALSE(sg_rank_list_parse(many, &list));
}

const struct unit_test unit_tests[] = {
    {"every value has its bin, from zero to the last", bins_hold_values},
    {"so many bins are in each doubling", bins_to_a_doubling},
    {"ranks are numbers and ranges", reads_ranks},
    {"what is no list of ranks is refused", refuses_what_is_no_list},
    {NULL, NULL},
};
