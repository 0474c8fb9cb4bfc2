/* Tests the reference of matches, on cases with obvious matches. */
#include "lib/unit.h"
#include "verify/posted_messages.h"

#define TABLE 4

static struct sg_matching_post send_from(int32_t rank, uint32_t number, int32_t to, int32_t tag,
                                         uint32_t exchange)
{
    return (struct sg_matching_post){
        rank,
        {.kind = SG_POST_SEND, .number = number, .peer = to, .tag = tag, .bytes = 8},
        exchange,
        -1};
}

static struct sg_matching_post receive_at(int32_t rank, uint32_t number, int32_t from, int32_t tag,
                                          uint32_t exchange)
{
    return (struct sg_matching_post){
        rank,
        {.kind = SG_POST_RECEIVE, .number = number, .peer = from, .tag = tag, .bytes = 8},
        exchange,
        -1};
}

TEST("wildcard receives take messages by exchange and endpoint")
{
    struct sg_matching_post posts[] = {
        send_from(2, 1, 0, 5, 1),
        send_from(1, 1, 0, 5, 1),
        send_from(0, 1, 0, 5, 2),
        receive_at(0, 2, SG_ANY, 5, 2),
        receive_at(0, 3, SG_ANY, SG_ANY, 2),
        receive_at(0, 4, 0, SG_ANY, 2),
    };

    sg_reference_match(posts, 6, 3, TABLE);
    EXPECT(posts[3].match == 1, posts[4].match == 0, posts[5].match == 2,
           sg_reference_order(posts, 6) == NULL);
}

/* Five messages in a table of four, of which two stay: the one that is waited for, and is last. */
TEST("a message that a receive waits for gets a table entry")
{
    struct sg_matching_post posts[] = {
        send_from(1, 1, 0, 5, 1),       send_from(1, 2, 0, 5, 1), send_from(1, 3, 0, 5, 1),
        send_from(1, 4, 0, 5, 1),       send_from(2, 1, 0, 6, 1), receive_at(0, 1, SG_ANY, 6, 1),
        receive_at(0, 2, SG_ANY, 5, 2),
    };

    sg_reference_match(posts, 7, 3, TABLE);
    EXPECT(posts[5].match == 4, posts[6].match == 0);
}

/* Without a match in sight, a receive has none. */
TEST("posts that do not match stay unmatched")
{
    struct sg_matching_post posts[] = {send_from(1, 1, 0, 5, 1), receive_at(0, 1, 2, 5, 1),
                                       receive_at(0, 2, 1, 6, 1), receive_at(1, 1, 1, 5, 1)};

    sg_reference_match(posts, 4, 3, TABLE);
    for (int i = 1; i < 4; i++)
        EXPECT(posts[i].match == -1);
}

/* MPI's own rules: of messages of one sender, and of receives of one rank. */
TEST("the reference follows MPI's ordering rules")
{
    struct sg_matching_post posts[] = {send_from(1, 1, 0, 5, 1), send_from(1, 2, 0, 5, 1),
                                       receive_at(0, 1, SG_ANY, 5, 1), receive_at(0, 2, 1, 5, 1)};

    posts[2].match = 1;
    posts[3].match = 0;
    EXPECT(sg_reference_order(posts, 4) != NULL);
    posts[2].match = 0;
    posts[3].match = 1;
    EXPECT(sg_reference_order(posts, 4) == NULL);
    posts[2].match = -1;
    posts[3].match = 0;
    EXPECT(sg_reference_order(posts, 4) != NULL);
    posts[2].match = 0;
    posts[2].post.tag = 6;
    EXPECT(sg_reference_order(posts, 4) != NULL);
}
