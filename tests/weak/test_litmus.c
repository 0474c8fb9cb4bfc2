/* Tests the checker itself: on the programs of litmus.txt, whose outcomes under RC11 without load
 * buffering are known, it shows all of them and no other. */
#include "lib/unit.h"
#include "weak/litmus.h"

#define FILE_NAME "tests/weak/litmus.txt"
#define STEPS_MAX 8
#define OUTCOMES_MAX 64
#define OUTCOME_BYTES 16
#define NO_REGISTER (-1)

struct step {
    enum { OPERATION, AWAIT, SET, ONLY_IF } kind;
    enum litmus_operation operation;
    memory_order order;
    int object, value, from;
    int into; /* a register, or NO_REGISTER */
};

static struct step steps[WEAK_THREADS_MAX][STEPS_MAX];
static int step_count[WEAK_THREADS_MAX], threads, registers[4];
static char outcomes[OUTCOMES_MAX][OUTCOME_BYTES];
static int outcome_count;
static const char *print; /* which of r0 to r3, x, y, z */

static bool parse_order(const char *word, memory_order *order)
{
    static const char *const names[] = {[memory_order_relaxed] = "relaxed",
                                        [memory_order_acquire] = "acquire",
                                        [memory_order_release] = "release",
                                        [memory_order_acq_rel] = "acq_rel",
                                        [memory_order_seq_cst] = "seq_cst"};

    for (int i = 0; i < 6; i++) {
        if (names[i] != NULL && strcmp(names[i], word) == 0) {
            *order = (memory_order)i;
            return true;
        }
    }
    return false;
}

/* True: the text is a step, whole. */
static bool parse_step(const char *text, struct step *step)
{
    char object = 'x', order[16] = "relaxed";
    int end = 0;

    *step = (struct step){.kind = OPERATION, .into = NO_REGISTER};
    if (sscanf(text, " fence %15[a-z_]%n", order, &end) == 1)
        step->operation = LITMUS_FENCE;
    else if (sscanf(text, " only if r%1d%n", &step->into, &end) == 1)
        step->kind = ONLY_IF;
    else if (sscanf(text, " await %1[y]%n", &object, &end) == 1)
        step->kind = AWAIT;
    else if (sscanf(text, " %1[xyz] = %1d %15[a-z_]%n", &object, &step->value, order, &end) == 3)
        step->operation = LITMUS_STORE;
    else if (sscanf(text, " %1[xyz] + %1d %15[a-z_]%n", &object, &step->value, order, &end) == 3)
        step->operation = LITMUS_ADD;
    else if (sscanf(text, " r%1d = %1d%n", &step->into, &step->value, &end) == 2)
        step->kind = SET;
    else if (sscanf(text, " r%1d = %1[xyz] from %1d to %1d %15[a-z_]%n", &step->into, &object,
                    &step->from, &step->value, order, &end) == 5)
        step->operation = LITMUS_EXCHANGE;
    else if (sscanf(text, " r%1d = %1[xyz] + %1d %15[a-z_]%n", &step->into, &object, &step->value,
                    order, &end) == 4)
        step->operation = LITMUS_ADD;
    else if (sscanf(text, " r%1d = %1[xyz] %15[a-z_]%n", &step->into, &object, order, &end) == 3)
        step->operation = LITMUS_LOAD;
    step->object = object - 'x';
    return end > 0 && text[end] == '\0' && step->into < 4 && parse_order(order, &step->order);
}

static void set_up(void)
{
    memset(registers, 0, sizeof registers);
    for (int i = 0; i < 3; i++)
        litmus_do(LITMUS_STORE, memory_order_relaxed, i, 0, 0);
}

static void run(int thread)
{
    for (const struct step *step = steps[thread]; step < steps[thread] + step_count[thread];
         step++) {
        int value = step->value;

        if (step->kind == ONLY_IF && registers[step->into] == 0)
            return;
        if (step->kind == AWAIT)
            litmus_await();
        if (step->kind == OPERATION)
            value = litmus_do(step->operation, step->order, step->object, step->value, step->from);
        if (step->kind != ONLY_IF && step->into != NO_REGISTER)
            registers[step->into] = value;
    }
}

static void finish(void)
{
    char text[OUTCOME_BYTES];
    int length = 0;

    for (const char *at = print; *at != '\0'; at++) {
        if (*at == 'r')
            text[length++] = (char)('0' + registers[*++at - '0']);
        else if (*at != ' ')
            text[length++] =
                (char)('0' + litmus_do(LITMUS_LOAD, memory_order_relaxed, *at - 'x', 0, 0));
    }
    text[length] = '\0';
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

/* expected: outcomes in order, or + and one of them. */
static void explore(const char *name, const char *expected)
{
    const struct weak_scenario scenario = {name, threads, set_up, run, finish, 0, 0};
    char all[OUTCOMES_MAX * OUTCOME_BYTES] = "";
    struct weak_result result;

    outcome_count = 0;
    weak_explore(&scenario, &result);
    qsort(outcomes, (size_t)outcome_count, sizeof *outcomes, compare);
    for (int i = 0; i < outcome_count; i++) {
        strcat(all, i > 0 ? " " : "");
        strcat(all, outcomes[i]);
    }
    bool is_as_expected = *expected == '+' ? contains(all, expected + 1) : text_is(all, expected);
    if (!is_as_expected || result.failed)
        printf("# %s (%s): %s, not %s %s\n", name, print, all, expected,
               result.failed ? result.what : "");
    EXPECT(!result.failed, result.complete, is_as_expected);
}

TEST("programs with known outcomes have exactly those")
{
    FILE *file = fopen(FILE_NAME, "r");
    char line[256], name[256] = "";
    int programs = 0;

    ASSERT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');

        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        if (line[0] == ' ') {
            ASSERT(threads < WEAK_THREADS_MAX);
            step_count[threads] = 0;
            for (char *text = strtok(line, ";"); text != NULL; text = strtok(NULL, ";")) {
                ASSERT(step_count[threads] < STEPS_MAX);
                ASSERT(parse_step(text, &steps[threads][step_count[threads]++]));
            }
            threads++;
        } else if (colon != NULL) {
            *colon = '\0';
            print = line;
            explore(name, colon + 2);
            programs++;
        } else {
            strcpy(name, line);
            threads = 0;
        }
    }
    fclose(file);
    EXPECT(programs == 45);
}
