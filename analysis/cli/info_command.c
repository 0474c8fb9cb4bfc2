/* `stagger info`: prints the algorithms, the configuration, and the resources of this machine. */
#include "cli/machine.h"
#include "cli/main.h"
#include "core/config.h"
#include "core/status.h"
#include "core/text.h"
#include "options/options.h"
#include "rule/rule.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- algorithms ------------------------------------------------------------------------------ */

/* Prints the parameters of one section of a table. where: a suffix for each description. */
static void print_parameters(const struct sg_parameter *parameter, const char *where)
{
    for (; parameter->name != NULL; parameter++) {
        printf("      %s=%s  ", parameter->name, parameter->default_text);
        if (parameter->kind == SG_PARAMETER_INTEGER)
            printf("%" PRId64 " to %" PRId64, parameter->low, parameter->high);
        printf("%s%s%s%s; %s%s\n", parameter->unit != NULL ? " " : "",
               parameter->unit != NULL ? parameter->unit : "",
               parameter->kind == SG_PARAMETER_INTEGER && parameter->choices != NULL ? " or " : "",
               parameter->choices != NULL ? parameter->choices : "", parameter->documentation,
               where);
    }
}

static void print_algorithm(const struct sg_algorithm *algorithm)
{
    const char *separator = "";

    printf("  %s  ", algorithm->name);
    for (int i = 0; i < SG_OPERATION_COUNT; i++) {
        if ((algorithm->operations & 1u << i) == 0)
            continue;
        printf("%s%s", separator, sg_operation_names[i]);
        separator = ", ";
    }
    printf("; %s\n", algorithm->documentation);
    if (algorithm->parameters[0].name == NULL)
        printf("      no parameters\n");
    print_parameters(algorithm->parameters, "");
    print_parameters(sg_parameters_simulated(algorithm->parameters), "; only in stagger sim");
}

/* ---- configuration --------------------------------------------------------------------------- */

static void print_entry(const struct sg_config_entry *entry, const struct sg_config *config)
{
    uint64_t bit = UINT64_C(1) << (entry - sg_config_entries);
    char value[SG_CONFIG_VALUE_BYTES];
    char text[SG_CONFIG_VALUE_BYTES];
    const char *origin = "default";

    entry->print(entry, config, value, sizeof value);
    sg_text_excerpt(value, strlen(value), text, sizeof text);
    if (config->from_environment & bit)
        origin = "environment";
    else if (config->from_file & bit)
        origin = "file";
    printf("  %s=%s  [%s", entry->name, text, origin);
    if (strcmp(origin, "default") != 0)
        printf(", default %s", *entry->default_text != '\0' ? entry->default_text : "empty");
    printf("]\n      %s\n", entry->summary);
}

static void print_rule_entry(const struct sg_config_entry *entry, const struct sg_config *config)
{
    char text[1000];
    bool found = false;

    for (int i = 0; i < config->rule_count; i++) {
        const struct sg_config_rule *rule = &config->rules[i];

        if (rule->kind != entry->rule || strncmp(rule->name, entry->name, strlen(entry->name)) != 0)
            continue;
        sg_text_excerpt(rule->text, strlen(rule->text), text, sizeof text);
        printf("  %s%s%s  [%s]\n", rule->name, *rule->name != '\0' ? "=" : "", text,
               strcmp(rule->source, rule->name) == 0 ? "environment" : rule->source);
        found = true;
    }
    if (!found)
        printf("  %s%s=  [default]\n", entry->name,
               entry->rule == SG_CONFIG_RULE_SITE ? "<id>" : "");
    printf("      %s\n", entry->summary);
}

static void print_configuration(const struct sg_config *config)
{
    for (int i = 0; i < sg_config_entry_count; i++) {
        if (sg_config_entries[i].rule == SG_CONFIG_RULE_NONE)
            print_entry(&sg_config_entries[i], config);
        else
            print_rule_entry(&sg_config_entries[i], config);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static enum sg_status print_all(void)
{
    struct sg_config config;
    struct sg_ruleset *rules;
    cpu_set_t processors;
    enum sg_status status = sg_config_read(&config, true);

    if (status != SG_OK)
        return status;
    status = sg_ruleset_create(&config, true, &rules);
    if (status != SG_OK)
        goto err_config;
    puts("stagger " SG_VERSION "\n\nalgorithms");
    for (int i = 0; i < sg_algorithm_count; i++)
        print_algorithm(&sg_algorithms[i]);
    puts("\nconfiguration");
    print_configuration(&config);
    puts("\nrules in force, the first that matches a call decides");
    sg_ruleset_print(rules, stdout);
    puts("\nbarriers, reduces and allreduces among the ranks of this machine, by srm");
    CPU_ZERO(&processors);
    sched_getaffinity(0, sizeof processors, &processors);
    sg_machine_print_forms("/sys", &processors, stdout);
    puts("\ntransports of this machine");
    sg_machine_print_transports(&config, stdout);
    puts("\nsources of what a rank does between MPI calls");
    sg_machine_print_sources(stdout);
    puts("\nlibraries");
    sg_machine_print_libraries(stdout);
    puts("\nMPI");
    sg_machine_print_mpi(&config, stdout);
    sg_ruleset_destroy(rules);
err_config:
    sg_config_clear(&config);
    return status;
}

int sg_command_info(int argc, char **argv)
{
    struct sg_command_line line = {
        .name = "stagger info",
        .documentation =
            "Shows the algorithms with their parameters, the configuration as the environment "
            "and STAGGER_CONFIG give it, the rules in force, and this machine's transports, "
            "sources of what a rank does between MPI calls, libraries and MPI."};
    enum sg_status status;

    sg_options_read(&line, argc, argv);
    status = print_all();
    if (status != SG_OK)
        sg_log("info: %s", sg_status_text(status));
    return status != SG_OK;
}
