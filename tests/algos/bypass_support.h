/* Shared parts of the tests of bypass: hosts, calls, and the tree's result, computed
 * independently of the protocol. */
#ifndef SG_TESTS_ALGOS_BYPASS_SUPPORT_H
#define SG_TESTS_ALGOS_BYPASS_SUPPORT_H

#include "algos/mini_host.h"
#include "lib/unit.h"

#define MARK(name) (UINT64_C(1) << SG_MARK_##name)
#define BYPASS_SIZE_MAX 17

static inline struct mini_host *bypass_host(int size, struct sg_algo_parameters parameters,
                                            uint64_t seed)
{
    struct mini_setup setup = {&sg_algo_bypass, size, parameters, seed, 0, 0};

    return mini_new(&setup);
}

static inline struct sg_algo_call bypass_call(uint32_t flags, uint32_t bytes, int root)
{
    return (struct sg_algo_call){SG_OPERATION_REDUCE, flags, bytes, root, 0};
}

/* The binomial tree of the textbooks: at distance 1, 2, 4 ... the right neighbour is folded into
 * the left one. */
static inline uint64_t bypass_expected(int size, int root, uint32_t flags, uint32_t seq,
                                       int element)
{
    int top = flags & SG_CALL_COMMUTATIVE ? root : 0;
    uint64_t value[BYPASS_SIZE_MAX];

    for (int i = 0; i < size; i++)
        value[i] = mini_operand((i + top) % size, seq, element);
    for (int mask = 1; mask < size; mask *= 2) {
        for (int i = 0; i + mask < size; i += 2 * mask)
            value[i] = mini_fold(flags, value[i], value[i + mask]);
    }
    return value[0];
}

static inline void bypass_check(const struct mini_host *host, int size,
                                const struct sg_algo_call *call, uint32_t seq)
{
    for (int element = 0; element < (int)call->bytes / 8; element++)
        ASSERT(mini_result(host, call->root, seq, element) ==
               bypass_expected(size, call->root, call->flags, seq, element));
}

#endif
