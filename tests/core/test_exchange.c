/* Tests collective functions of an exchange that has only gather and broadcast. */
#include "core/exchange.h"
#include "lib/exchange_fork.h"
#include "lib/unit.h"

enum { RANKS = 5 };

static int combine(const struct sg_exchange *exchange, void *context)
{
    uint64_t rank = (uint64_t)exchange->rank;
    uint64_t least[] = {rank + 3, 9 - rank, INT64_MAX}, sums[] = {rank, UINT64_MAX};

    return sg_exchange_combine(exchange, SG_COMBINE_LEAST, least, 3) != SG_OK || least[0] != 3 ||
           least[1] != 9 - (RANKS - 1) || least[2] != INT64_MAX ||
           sg_exchange_combine(exchange, SG_COMBINE_SUM, sums, 2) != SG_OK ||
           sums[0] != RANKS * (RANKS - 1) / 2 || sums[1] != (uint64_t)-RANKS;
}

TEST("all ranks get the least and the sum of their values")
{
    EXPECT(exchange_fork(RANKS, combine, NULL));
}

struct record {
    int from, to;
};

/* In a ring, in different orders; rank 4 has no neighbours. With *shift, rank 1 names another. */
static int trade(const struct sg_exchange *exchange, void *context)
{
    int rank = exchange->rank, ring = RANKS - 1, shift = *(const int *)context;
    int with[] = {(rank + 1) % ring, (rank + ring - 1) % ring}, count = rank < ring ? 2 : 0;
    struct record own[2] = {{0, 0}}, theirs[2] = {{-1, -1}, {-1, -1}};
    enum sg_status status;

    with[0] = shift && rank == 1 ? RANKS - 1 : with[0];
    for (int i = 0; i < count; i++)
        own[i] = (struct record){rank, with[i]};
    status = sg_exchange_trade(exchange, with, count, own, theirs, sizeof *own);
    if (shift)
        return status != SG_ERR_ARGUMENT;
    for (int i = 0; i < count; i++) {
        if (theirs[i].from != with[i] || theirs[i].to != rank)
            return 1;
    }
    return status != SG_OK;
}

TEST("ranks that name each other get each other's records")
{
    int shift = 0;

    EXPECT(exchange_fork(RANKS, trade, &shift));
}

TEST("all ranks learn that one names a rank that does not name it")
{
    int shift = 1;

    EXPECT(exchange_fork(RANKS, trade, &shift));
}

static int agree(const struct sg_exchange *exchange, void *context)
{
    int first = -2, other = -2;

    return sg_exchange_agree(exchange, exchange->rank < 3, &first) != SG_OK || first != 3 ||
           sg_exchange_agree(exchange, 1, &other) != SG_OK || other != -1;
}

TEST("all ranks learn the first for which something is false")
{
    EXPECT(exchange_fork(RANKS, agree, NULL));
}
