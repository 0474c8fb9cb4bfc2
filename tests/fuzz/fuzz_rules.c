/* Fuzzes configuration, rules and trials as text. Any text gives a usable configuration and
 * ruleset, their printed text reads back to the same, and every call finds a choice. */
#include "fuzz/fuzz.h"

#include "core/config.h"
#include "rule/rule.h"
#include "rule/trial.h"

static void print_rules(const struct sg_ruleset *rules)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);

    if (stream == NULL)
        abort();
    sg_ruleset_print(rules, stream);
    fclose(stream);
    free(text);
}

static void match(const struct sg_ruleset *rules)
{
    static const struct sg_rule_site site = {.id = 0x3f2a9c1b,
                                             .module = "solver",
                                             .offset = 0x11c4,
                                             .function = "dot",
                                             .file = "/home/user/src/cg.c",
                                             .line = 83};
    static const struct sg_rule_comm comms[] = {
        {.name = "MPI_COMM_WORLD", .size = 4, .reach = SG_REACH_NODE},
        {.name = "rows[3]~=@;", .size = 64, .reach = SG_REACH_INTERNODE, .nonblocking = true},
        {.name = "", .size = 1}};
    bool fixed;

    for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
        for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) {
            const struct sg_choice *choice = sg_ruleset_match(
                rules, (enum sg_operation)operation, i == 0 ? &site : NULL, &comms[i], 8, &fixed);

            fuzz_holds(choice != NULL, "every call has a choice");
            fuzz_holds(choice->algorithm >= 0 && choice->algorithm < sg_algorithm_count,
                       "a choice names an algorithm");
            if (choice->arm != 0)
                fuzz_holds(sg_trial_turn(rules, choice, &comms[i], 7, 1000) != NULL,
                           "a trial's turn is some algorithm's");
        }
    }
}

static void check_config(const char *text)
{
    struct sg_config config, again;
    struct sg_ruleset *rules = NULL;

    fuzz_holds(sg_config_parse(text, &config) == 0, "any text gives a configuration");
    char *first = sg_config_text(&config);
    fuzz_holds(first != NULL && sg_config_parse(first, &again) == 0, "it prints");
    char *second = sg_config_text(&again);
    fuzz_holds(second != NULL && strcmp(first, second) == 0, "what it prints reads back the same");
    fuzz_holds(sg_ruleset_create(&config, true, &rules) == 0, "any text gives a ruleset");
    match(rules);
    print_rules(rules);
    sg_ruleset_destroy(rules);
    sg_config_clear(&config);
    sg_config_clear(&again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    check_config(text);
    sg_rule_check("fuzz", text);
    for (int i = 0; i < sg_config_entry_count; i++) {
        if (sg_config_entries[i].parse != NULL)
            sg_config_check("fuzz", sg_config_entries[i].name, text);
    }
    free(text);
    return 0;
}
