/* The table of protocols between nodes, the sizes into which their calls are cut, and the names of
 * the rare states they report (algo.h). */
#include "algos/algo.h"

#define PROTOCOL(name) &sg_algo_##name,
#define NO_PROTOCOL(name)
#define ENTRY(number, name, protocol, ...) protocol(name)
const struct sg_algo *const sg_algos[] = {SG_ALGORITHMS(ENTRY) NULL};

uint32_t sg_algo_slot_bytes(const struct sg_algo_needs *needs)
{
    return needs->slot_bytes > 0 ? needs->slot_bytes : SG_PART_DEFAULT;
}

uint32_t sg_algo_part_bytes(const struct sg_algo_needs *needs)
{
    return needs->part_bytes > 0 ? needs->part_bytes : sg_algo_slot_bytes(needs);
}

uint32_t sg_algo_chunk_bytes(const struct sg_algo_needs *needs, enum sg_operation operation)
{
    return needs->in_parts & 1u << operation ? sg_algo_part_bytes(needs)
                                             : sg_algo_slot_bytes(needs);
}

const char *const sg_mark_names[SG_MARK_COUNT] = {
    [SG_MARK_EARLY] = "early contribution",
    [SG_MARK_LATE] = "late contribution",
    [SG_MARK_CREDIT_OUT] = "credits used up",
    [SG_MARK_POOL_OUT] = "pool used up",
    [SG_MARK_PULLED] = "contribution pulled",
    [SG_MARK_LINGER_PAID] = "linger paid",
    [SG_MARK_LINGER_VAIN] = "linger in vain",
    [SG_MARK_TOKEN_ACK_CROSS] = "token and acknowledgement cross",
    [SG_MARK_TOKEN_MOVED] = "token moved",
    [SG_MARK_TOKENS_MEET] = "tokens meet",
    [SG_MARK_PREDICTED] = "prediction right",
    [SG_MARK_PREDICT_WRONG] = "prediction wrong",
    [SG_MARK_RELEASE_LOST] = "release lost",
    [SG_MARK_RELEASE_ANSWERED] = "release answered",
    [SG_MARK_RELEASE_FORWARDED] = "question for a release forwarded",
    [SG_MARK_RELEASE_REPEATED] = "release repeated",
    [SG_MARK_RELEASE_EARLY] = "release out of order",
    [SG_MARK_SECOND_CLIMBED] = "second arriver climbed on",
    [SG_MARK_SPLIT_FINISHED] = "split call finished after its return",
    [SG_MARK_STROBE_REPEATED] = "strobe repeated",
    [SG_MARK_SLICE_OVERRUN] = "slice overrun",
    [SG_MARK_BUDGET_OUT] = "budget of a slice used up",
    [SG_MARK_CALLED_CROSSES_STROBE] = "call during a strobe",
    [SG_MARK_PASSED_ON] = "passed on before the call",
    [SG_MARK_UNEXPECTED] = "message before its receive",
    [SG_MARK_REFUSED] = "message refused",
    [SG_MARK_HELD_BACK] = "message held back",
    [SG_MARK_CUT] = "message over several slices",
    [SG_MARK_EXCHANGE] = "exchange of descriptors",
};
