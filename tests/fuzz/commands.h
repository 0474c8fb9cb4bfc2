/* Reads a run's directory as `stagger report` does and prints it in every form. If FUZZ_COMMAND
 * is set, runs that command on the directory instead: its name and options, and one word "DIR" or
 * more ("compare --html=- DIR DIR"). */
#ifndef SG_TESTS_FUZZ_COMMANDS_H
#define SG_TESTS_FUZZ_COMMANDS_H

#include "cli/main.h"
#include "fuzz/fuzz.h"
#include "report/report.h"
#include "report/report_print.h"

#define WORDS_MAX 8

static inline void fuzz_report(const char *path)
{
    static const struct sg_print_options all;
    static const struct sg_watch watch = {
        .calls = true, .waitstates = true, .paths = true, .open_calls = true};
    struct sg_report report;

    if (sg_report_read(path, false, &watch, &report) != SG_OK)
        return;
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL)
        abort();
    sg_report_print_text(&report, &(struct sg_print_options){.comms = true}, out);
    sg_report_print_text(&report, &all, out);
    sg_report_print_json(&report, &all, out);
    for (size_t i = 0; sg_report_sections[i] != NULL; i++) {
        if (sg_report_sections[i]->name != NULL)
            sg_report_print_csv(&report, &(struct sg_print_options){.table = sg_report_sections[i]},
                                out);
    }
    fclose(out);
    sg_report_clear(&report);
}

static inline void fuzz_command(const char *line, const char *path)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"advise", sg_command_advise},
                    {"arrivals", sg_command_arrivals},
                    {"compare", sg_command_compare},
                    {"export", sg_command_export},
                    {"report", sg_command_report}};
    char *copy = strdup(line), *words[WORDS_MAX + 1], *rest;
    int count = 0;

    for (char *word = strtok_r(copy, " ", &rest); word != NULL && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = strcmp(word, "DIR") == 0 ? (char *)path : word;
    words[count] = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, words[0]) != 0)
            continue;
        commands[i].run(count, words);
        free(copy);
        return;
    }
    fuzz_holds(0, "FUZZ_COMMAND names a command");
}

static inline void fuzz_directory_read(const char *path)
{
    const char *line = getenv("FUZZ_COMMAND");

    if (line != NULL)
        fuzz_command(line, path);
    else
        fuzz_report(path);
}

#endif
