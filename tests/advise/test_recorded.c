/* Tests the programs made from recordings, which are written by hand here. */
#include "advise/recorded.h"
#include "lib/unit.h"

#define SENDS (4 * SG_RECORDED_PENDING_MAX)

/* Sends of as many tags as there are sends: none is waited for because of another one. */
TEST("a recorded program has a bounded number of outstanding posts")
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
    ASSERT(sg_recording_program(&recording, true, &made) == SG_OK);
    for (const struct sg_step *step = made.steps[0]; step->kind != SG_STEP_END; step++) {
        posted += step->kind == SG_STEP_ISEND;
        waited += step->kind == SG_STEP_WAIT;
        most = posted - waited > most ? posted - waited : most;
    }
    EXPECT(posted == SENDS, waited == SENDS, most == SG_RECORDED_PENDING_MAX);
    sg_recorded_program_clear(&made, 1);
}
