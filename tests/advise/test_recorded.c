/* Tests the programs made from recordings, which are written by hand here. */
#include "advise/recorded.h"
#include "lib/unit.h"

#define SENDS (4 * SG_RECORDED_PENDING_MAX)

/* Sends of as many tags as there are sends: none is waited for because of another one. */
static void posts_under_way_are_limited(void)
{
    static struct sg_recorded_step steps[SENDS];
    struct sg_program_call call = {.end_ns = 1, .count = SENDS};
    struct sg_recording_rank rank = {
        .steps = steps, .step_count = SENDS, .calls = &call, .call_count = 1};
    struct sg_recording recording = {.ranks = &rank, .rank_count = 1};
    struct sg_recorded_program made;
    uint32_t posted = 0, waited = 0, most = 0;

    for (uint32_t i = 0; i < SENDS; i++)
        steps[i] =
            (struct sg_recorded_step){.step = {.kind = SG_STEP_SEND, .tag = i}, .blocking = true};
    CU_ASSERT_EQUAL_FATAL(sg_recording_program(&recording, true, &made), SG_OK);
    for (const struct sg_step *step = made.steps[0]; step->kind != SG_STEP_END; step++) {
        posted += step->kind == SG_STEP_ISEND;
        waited += step->kind == SG_STEP_WAIT;
        most = posted - waited > most ? posted - waited : most;
    }
    CU_ASSERT_EQUAL(posted, SENDS);
    CU_ASSERT_EQUAL(waited, SENDS);
    CU_ASSERT_EQUAL(most, SG_RECORDED_PENDING_MAX);
    sg_recorded_program_clear(&made, 1);
}

const struct unit_test unit_tests[] = {
    {"so many posts are under way at most", posts_under_way_are_limited},
    {NULL, NULL},
};
