/* `stagger run`: sets the environment that preloads the library, then becomes the program.
 *
 * Everything the user can get wrong on the command line is found before the program starts; what
 * happens afterwards, exit status included, is the program's.
 */
#include "cli/command.h"
#include "cli/elf.h"
#include "cli/locate.h"
#include "core/config.h"
#include "rule/rule.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define LIBRARY_NAME "libstagger.so"

struct run_options {
    const char *directory; /* NULL: not given, as below */
    const char *trace;
    char *rules; /* all --rule, parted by ';' */
};

/* getopt and not argp, whose complaints take two lines. */
static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"rule", required_argument, NULL, 'r'},
    {"trace", required_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("usage: stagger run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
         "\n"
         "Runs PROGRAM, or the launcher of an MPI program, with libstagger.so preloaded. Both "
         "work:\n"
         "  stagger run mpiexec -n 4 ./app\n"
         "  mpiexec -n 4 stagger run ./app\n"
         "\n"
         "  -o, --output DIR   write into DIR (STAGGER_DIR), or DIR-2, ... where it exists\n"
         "  -r, --rule RULE    a rule that comes before those of STAGGER_RULES; may be repeated\n"
         "  -t, --trace MODE   otf2, stats or off (STAGGER_TRACE)\n"
         "  -h, --help         this text\n"
         "\n"
         "Rules and variables: man 7 libstagger.");
}

/* first;second, either of which may be NULL or empty; malloc'ed. */
static char *join(const char *first, const char *second, char separator)
{
    bool both = first != NULL && *first != '\0' && second != NULL && *second != '\0';
    char *text;

    if (asprintf(&text, "%s%.*s%s", first != NULL ? first : "", both, &separator,
                 second != NULL ? second : "") < 0)
        return NULL;
    return text;
}

static enum sg_status add_rule(struct run_options *options, const char *rule)
{
    enum sg_status status = sg_rule_check("--rule", rule);
    char *rules;

    if (status != SG_OK)
        return status;
    rules = join(options->rules, rule, ';');
    if (rules == NULL)
        return SG_ERR_MEMORY;
    free(options->rules);
    options->rules = rules;
    return SG_OK;
}

static enum sg_status set_option(struct run_options *options, int letter, char **argv)
{
    enum sg_status status = SG_OK;

    switch (letter) {
    case 'o':
        status = sg_config_check("--output", "STAGGER_DIR", optarg);
        options->directory = optarg;
        break;
    case 'r':
        status = add_rule(options, optarg);
        break;
    case 't':
        status = sg_config_check("--trace", "STAGGER_TRACE", optarg);
        options->trace = optarg;
        break;
    case ':':
        sg_log("run: option %s needs a value; see stagger run --help", argv[optind - 1]);
        return SG_ERR_SYNTAX;
    default:
        if (optopt != 0)
            sg_log("run: unknown option -%c; see stagger run --help", optopt);
        else
            sg_log("run: unknown option %s; see stagger run --help", argv[optind - 1]);
        return SG_ERR_SYNTAX;
    }
    if (status == SG_ERR_MEMORY)
        sg_log("run: %s", sg_status_text(status));
    return status;
}

/* ---- the environment -------------------------------------------------------------------------*/

/* LD_PRELOAD with the library in front, and once: another stagger's library would observe every
 * call a second time. malloc'ed. */
static char *preload_text(const char *library)
{
    const char *old = sg_config_environment("LD_PRELOAD");
    char *text = strdup(library);

    while (text != NULL && old != NULL && *old != '\0') {
        size_t length = strcspn(old, ": ");
        char *item = strndup(old, length);

        if (item != NULL && *item != '\0' && strcmp(sg_locate_base(item), LIBRARY_NAME) != 0) {
            char *longer = join(text, item, ':');

            free(text);
            text = longer;
        }
        free(item);
        if (item == NULL) {
            free(text);
            return NULL;
        }
        old += length + (old[length] != '\0');
    }
    return text;
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

static int set_environment(const struct run_options *options)
{
    char *library = sg_locate_library();
    int result;

    if (library == NULL) {
        sg_log("run: " LIBRARY_NAME " is not beside this program, in ../lib/stagger or in ../lib");
        return -1;
    }
    if (strpbrk(library, ": ") != NULL) {
        sg_log("run: LD_PRELOAD takes no path with a blank or ':', as in %s", library);
        free(library);
        return -1;
    }
    result = set_variable("LD_PRELOAD", preload_text(library));
    free(library);
    if (result == 0 && options->directory != NULL)
        result = set_variable("STAGGER_DIR", absolute_path(options->directory));
    if (result == 0 && options->trace != NULL)
        result = set_variable("STAGGER_TRACE", strdup(options->trace));
    if (result == 0 && options->rules != NULL)
        result = set_variable("STAGGER_RULES",
                              join(options->rules, sg_config_environment("STAGGER_RULES"), ';'));
    return result;
}

/* ---- the program -----------------------------------------------------------------------------*/

static void warn_unobserved(void *context, const char *program, enum sg_elf_kind kind)
{
    sg_log("%s is %s: it cannot be preloaded, running it unobserved", program,
           kind == SG_ELF_STATIC ? "statically linked" : "set-uid, set-gid or has capabilities");
}

static int become(char **words)
{
    sg_elf_scan(words, warn_unobserved, NULL);
    execvp(words[0], words);
    if (errno == ENOENT && strchr(words[0], '/') != NULL && access(words[0], F_OK) == 0) {
        sg_log("run: '%s': its interpreter is not there", words[0]);
        return EXIT_CANNOT_RUN;
    }
    if (errno == ENOENT) {
        sg_log("run: '%s': not found", words[0]);
        return EXIT_NOT_FOUND;
    }
    sg_log("run: '%s': %m", words[0]);
    return EXIT_CANNOT_RUN;
}

int sg_command_run(int argc, char **argv)
{
    struct run_options options = {NULL, NULL, NULL};
    int result = 0;
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:o:r:t:h", long_options, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            goto done;
        }
        if (set_option(&options, letter, argv) != SG_OK) {
            result = EXIT_USAGE;
            goto done;
        }
    }
    if (optind == argc) {
        sg_log("run: expected a program to run; see stagger run --help");
        result = EXIT_USAGE;
    } else if (set_environment(&options) != 0) {
        result = 1;
    } else {
        result = become(argv + optind);
    }
done:
    free(options.rules);
    return result;
}
