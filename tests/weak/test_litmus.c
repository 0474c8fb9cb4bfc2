/* Tests the checker itself: on programs whose outcomes under RC11 without load buffering are
 * known, it shows all of them and no other. */
#include "lib/unit.h"
#include "weak/litmus.h"

#define OUTCOMES_MAX 64
#define OUTCOME_BYTES 16

static const struct litmus *program;
static char outcomes[OUTCOMES_MAX][OUTCOME_BYTES];
static int outcome_count;

/* print: "r0 x" and the like, of digits. */
static void describe(const char *print, char text[OUTCOME_BYTES])
{
    struct litmus_outcome outcome;
    int length = 0;

    litmus_outcome(&outcome);
    for (const char *at = print; *at != '\0'; at++) {
        int value = *at == 'x' ? outcome.x : *at == 'y' ? outcome.y : *at == 'z' ? outcome.z : -1;

        if (*at == 'r')
            value = outcome.r[*++at - '0'];
        if (value >= 0)
            text[length++] = (char)('0' + value);
    }
    text[length] = '\0';
}

void litmus_finish(void)
{
    char text[OUTCOME_BYTES];

    describe(program->print, text);
    for (int i = 0; i < outcome_count; i++) {
        if (strcmp(outcomes[i], text) == 0)
            return;
    }
    if (outcome_count < OUTCOMES_MAX)
        strcpy(outcomes[outcome_count++], text);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_as_expected(void)
{
    char all[OUTCOMES_MAX * OUTCOME_BYTES] = "";

    qsort(outcomes, (size_t)outcome_count, sizeof *outcomes, compare);
    for (int i = 0; i < outcome_count; i++) {
        strcat(all, i > 0 ? " " : "");
        strcat(all, outcomes[i]);
    }
    if (program->expected[0] == '+' ? strstr(all, program->expected + 1) != NULL
                                    : strcmp(all, program->expected) == 0)
        return true;
    printf("# %s (%s): %s, not %s\n", program->scenario.name, program->print, all,
           program->expected);
    return false;
}

TEST("programs with known outcomes have those and no other")
{
    for (int i = 0; i < litmus_count; i++) {
        struct weak_result result;

        program = &litmus_programs[i];
        outcome_count = 0;
        weak_explore(&program->scenario, &result);
        if (result.failed)
            printf("# %s\n", result.what);
        EXPECT(!result.failed, result.complete, is_as_expected());
    }
}
