/* `stagger run`: sets the environment that preloads the library, then either executes the program,
 * or starts it as a child and prints a summary of the run when it ends (report_command.h).
 *
 * Every error on the command line is found before the program starts. From then on the result, exit
 * status included, is the program's.
 */
#include "cli/elf.h"
#include "cli/main.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/launch.h"
#include "options/options.h"
#include "rule/rule.h"
#include "trace/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define LIBRARY_NAME "libstagger.so"

/* Options that set a variable. */
enum { DIRECTORY, TRACE, DEPTH, CONFIG, VARIABLES };

static const struct variable {
    const char *option, *name;
    bool is_path;
} variables[VARIABLES] = {
    [DIRECTORY] = {"--output", "STAGGER_DIR", true},
    [TRACE] = {"--trace", "STAGGER_TRACE", false},
    [DEPTH] = {"--depth", "STAGGER_DEPTH", false},
    [CONFIG] = {"--config", "STAGGER_CONFIG", true},
};

struct run_options {
    const char *values[VARIABLES]; /* NULL: not given */
    char *rules;                   /* all --rule, separated by ';' */
    char *trials;                  /* all --trial, likewise */
    bool quiet;
};

/* Joins both texts with the separator. Either may be NULL or empty; malloc'ed. */
static char *join(const char *first, const char *second, char separator)
{
    bool both = first != NULL && *first != '\0' && second != NULL && *second != '\0';
    char *text;

    if (asprintf(&text, "%s%.*s%s", first != NULL ? first : "", both, &separator,
                 second != NULL ? second : "") < 0)
        return NULL;
    return text;
}

/* Appends a rule or trial, which sg_rule_check or sg_trial_check has accepted, to a list. */
static const char *add_to(char **list, const char *text)
{
    char *longer = join(*list, text, ';');

    if (longer == NULL)
        return "ran out of memory";
    free(*list);
    *list = longer;
    return NULL;
}

static const char *read_rule(const struct sg_option *option, const char *text, void *into,
                             char *fault)
{
    return sg_rule_check("--rule", text) == SG_OK ? add_to(sg_option_place(option, into), text)
                                                  : "";
}

static const char *read_trial(const struct sg_option *option, const char *text, void *into,
                              char *fault)
{
    return sg_trial_check("--trial", text) == SG_OK ? add_to(sg_option_place(option, into), text)
                                                    : "";
}

/* The library would complain about the file too, but would run without it. */
static bool is_readable(const char *path)
{
    struct stat info;

    if (access(path, R_OK) != 0 || stat(path, &info) != 0) {
        sg_log("--config '%s': %m", path);
        return false;
    }
    if (S_ISDIR(info.st_mode))
        sg_log("--config '%s': %s", path, strerror(EISDIR));
    return !S_ISDIR(info.st_mode);
}

/* Finds errors before the program starts. */
static void check(const struct run_options *options)
{
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = options->values[i];

        if (value != NULL &&
            ((i == CONFIG && !is_readable(value)) ||
             sg_config_check(variables[i].option, variables[i].name, value) != SG_OK))
            exit(SG_OPTIONS_USAGE);
    }
}

#define AT(member) offsetof(struct run_options, member)

static const struct sg_option option_table[] = {
    {"config", 'c', "FILE", "a file with rules and variables (STAGGER_CONFIG)", sg_option_text,
     .at = AT(values[CONFIG])},
    {"depth", 'd', "N", "frames of the program that make up a call site (STAGGER_DEPTH)",
     sg_option_text, .at = AT(values[DEPTH])},
    {"output", 'o', "DIR", "write into DIR (STAGGER_DIR), or DIR-2, ... if it exists",
     sg_option_text, .at = AT(values[DIRECTORY])},
    {"quiet", 'q', NULL, "print nothing of stagger's own (STAGGER_QUIET=1)", sg_option_flag,
     .at = AT(quiet)},
    {"rule", 'r', "RULE", "add a rule before those of STAGGER_RULES; may be repeated", read_rule,
     .at = AT(rules)},
    {"trace", 't', "MODE", "otf2, stats or off (STAGGER_TRACE)", sg_option_text,
     .at = AT(values[TRACE])},
    {"trial", 'T', "TRIAL", "add a trial before those of STAGGER_TRIAL; may be repeated",
     read_trial, .at = AT(trials)},
    {0}};

static char **parse(int argc, char **argv, struct run_options *options)
{
    struct sg_command_line line = {
        .name = "stagger run",
        .arguments = "[--] PROGRAM [ARGUMENTS]",
        .documentation =
            "Runs PROGRAM, or the launcher of an MPI program, with libstagger.so preloaded. "
            "Both work:\n"
            "  stagger run mpiexec -n 4 ./app\n"
            "  mpiexec -n 4 stagger run ./app\v"
            "Rules and variables: man 7 libstagger.",
        .tables = {{option_table, options}},
        .most = INT_MAX,
        .is_launcher = true};

    sg_options_read(&line, argc, argv);
    if (line.count == 0)
        sg_options_fault(&line, "PROGRAM is missing");
    check(options);
    return line.words;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* Runtimes of gcc and clang. */
static bool is_sanitizer(const char *base)
{
    static const char *const names[] = {"libasan.", "libhwasan.", "liblsan.",
                                        "libtsan.", "libubsan.",  "libclang_rt."};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* Appends those items of LD_PRELOAD that are sanitizers, or those that are not. Skips other copies
 * of libstagger.so. Returns false if out of memory. */
static bool add_preloaded(char **text, bool sanitizers)
{
    const char *old = sg_config_environment("LD_PRELOAD");

    while (*text != NULL && old != NULL && *old != '\0') {
        size_t length = strcspn(old, ": ");
        char *item = strndup(old, length);
        const char *base = item != NULL ? sg_locate_base(item) : NULL;

        if (item != NULL && *item != '\0' && strcmp(base, LIBRARY_NAME) != 0 &&
            is_sanitizer(base) == sanitizers) {
            char *longer = join(*text, item, ':');

            free(*text);
            *text = longer;
        }
        free(item);
        if (item == NULL)
            return false;
        old += length + (old[length] != '\0');
    }
    return *text != NULL;
}

/* LD_PRELOAD with the library first, except for sanitizers, which expect to be first. The library
 * appears once: a second copy would observe every call again. malloc'ed. */
static char *preload_text(const char *library)
{
    char *text = strdup("");

    if (add_preloaded(&text, true)) {
        char *longer = join(text, library, ':');

        free(text);
        text = longer;
        if (add_preloaded(&text, false))
            return text;
    }
    free(text);
    return NULL;
}

/* Needed for programs that define the sanitizer's defaults themselves and so replace the library's
 * (shim/runtime/recording.c). */
static char *asan_options_text(void)
{
    static const char option[] = "verify_asan_link_order";
    const char *old = sg_config_environment("ASAN_OPTIONS");

    return old != NULL && strstr(old, option) != NULL ? strdup(old)
                                                      : join(old, "verify_asan_link_order=0", ':');
}

static int set_variable(const char *name, char *value)
{
    int result = value != NULL ? setenv(name, value, 1) : -1;

    if (result != 0)
        sg_log("run: %s cannot be set: %m", name);
    free(value);
    return result;
}

static char *absolute_path(const char *path)
{
    char *here;
    char *text;

    if (*path == '/')
        return strdup(path);
    here = getcwd(NULL, 0);
    text = here != NULL ? join(here, path, '/') : NULL;
    free(here);
    return text;
}

/* LD_LIBRARY_PATH with this directory first, and not twice in front; malloc'ed. */
static char *libraries_text(const char *directory)
{
    const char *old = sg_config_environment("LD_LIBRARY_PATH");
    size_t length = strlen(directory);

    if (old != NULL && strncmp(old, directory, length) == 0 &&
        (old[length] == ':' || old[length] == '\0'))
        return strdup(old);
    return join(directory, old, ':');
}

/* The loader splits LD_PRELOAD at blanks and colons. A library whose path has a blank is preloaded
 * by name and found through LD_LIBRARY_PATH, which is split at colons and semicolons. */
static int preload(char *library)
{
    char *name = strrchr(library, '/');
    bool blank = strchr(library, ' ') != NULL;

    if (strchr(library, ':') != NULL || (blank && strchr(library, ';') != NULL)) {
        sg_log("run: the loader cannot preload a path with a ':', or with a blank and a ';': %s",
               library);
        return -1;
    }
    if (!blank)
        return set_variable("LD_PRELOAD", preload_text(library));
    *name = '\0';
    if (set_variable("LD_LIBRARY_PATH", libraries_text(library)) != 0)
        return -1;
    return set_variable("LD_PRELOAD", preload_text(name + 1));
}

static int set_environment(const struct run_options *options)
{
    char *library = sg_locate_library();
    int result;

    if (library == NULL) {
        sg_log("run: " LIBRARY_NAME
               " not found beside this program, in ../lib/stagger or in ../lib");
        return -1;
    }
    result = preload(library);
    free(library);
    if (result == 0)
        result = set_variable("ASAN_OPTIONS", asan_options_text());
    for (int i = 0; i < VARIABLES && result == 0; i++) {
        const char *value = options->values[i];

        if (value != NULL)
            result = set_variable(variables[i].name,
                                  variables[i].is_path ? absolute_path(value) : strdup(value));
    }
    if (result == 0 && options->quiet)
        result = set_variable("STAGGER_QUIET", strdup("1"));
    if (result == 0 && options->trials != NULL)
        result = set_variable("STAGGER_TRIAL",
                              join(options->trials, sg_config_environment("STAGGER_TRIAL"), ';'));
    if (result == 0 && options->rules != NULL)
        result = set_variable("STAGGER_RULES",
                              join(options->rules, sg_config_environment("STAGGER_RULES"), ';'));
    return result;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void warn_unobserved(void *context, const char *program, enum sg_elf_kind kind)
{
    sg_log("%s is %s: the library cannot be preloaded; running it unobserved", program,
           kind == SG_ELF_STATIC ? "statically linked" : "set-uid, set-gid or has capabilities");
}

static int become(void *context)
{
    char **words = context;

    sg_elf_scan(words, warn_unobserved, NULL);
    execvp(words[0], words);
    if (errno == ENOENT && strchr(words[0], '/') != NULL && access(words[0], F_OK) == 0) {
        sg_log("run: '%s': its interpreter is missing", words[0]);
        return EXIT_CANNOT_RUN;
    }
    if (errno == ENOENT) {
        sg_log("run: '%s': not found", words[0]);
        return EXIT_NOT_FOUND;
    }
    sg_log("run: '%s': %m", words[0]);
    return EXIT_CANNOT_RUN;
}

/* ---- the end of the run ---------------------------------------------------------------------- */

/* The directory in which the run makes its own; malloc'ed. NULL: print no summary, because the user
 * wants none, nothing is recorded, another process prints it, or memory ran out. */
static char *told_place(const struct run_options *options)
{
    struct sg_config config;
    char *place = NULL;

    if (options->quiet || sg_brief_is_rank() || sg_config_environment(SG_LAUNCH_VARIABLE) != NULL ||
        sg_config_read(&config, false) != SG_OK)
        return NULL;
    if (!config.quiet && config.trace != SG_TRACE_OFF) {
        char *slash;

        place = absolute_path(config.directory[0] != '\0' ? config.directory : "x");
        while (place != NULL && strlen(place) > 1 && place[strlen(place) - 1] == '/')
            place[strlen(place) - 1] = '\0';
        slash = place != NULL ? strrchr(place, '/') : NULL;
        if (slash != NULL)
            slash[slash == place] = '\0';
    }
    sg_config_clear(&config);
    return place;
}

/* Runs the program as a child, and prints the summary of the run that it recorded in `place`. */
static int run_and_tell(char **words, const char *place)
{
    uint64_t begin_ns = sg_clock_ns();
    char launch[SG_LAUNCH_BYTES];
    pid_t child;
    bool is_told;
    int status;

    snprintf(launch, sizeof launch, "%x-%" PRIx64, (unsigned)getpid(),
             sg_clock_of_ns(CLOCK_REALTIME));
    if (setenv(SG_LAUNCH_VARIABLE, launch, 1) != 0 || (child = sg_child_start(become, words)) < 0)
        return become(words);
    status = sg_child_await(child, &is_told);
    /* With 126 and 127, like a shell, the program did not run. */
    if (!WIFEXITED(status) ||
        (WEXITSTATUS(status) != EXIT_CANNOT_RUN && WEXITSTATUS(status) != EXIT_NOT_FOUND))
        sg_brief_tell(place, launch, words, sg_clock_ns() - begin_ns,
                      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                      is_told || !WIFEXITED(status));
    return sg_child_status(status);
}

int sg_command_run(int argc, char **argv)
{
    struct run_options options = {0};
    char **words = parse(argc, argv, &options);
    int result = 1;

    if (set_environment(&options) == 0) {
        char *place = told_place(&options);

        result = place != NULL ? run_and_tell(words, place) : become(words);
        free(place);
    }
    free(options.rules);
    free(options.trials);
    return result;
}
