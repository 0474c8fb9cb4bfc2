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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define LIBRARY_NAME "libstagger.so"

struct run_options {
    const char *directory; /* NULL: not given, as below */
    const char *trace;
    const char *depth;
    const char *config;
    char *rules;  /* all --rule, separated by ';' */
    char *trials; /* all --trial, likewise */
};

/* getopt and not argp, whose complaints take two lines. */
static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'}, {"depth", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'}, {"rule", required_argument, NULL, 'r'},
    {"trace", required_argument, NULL, 't'},  {"trial", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
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
         "  -c, --config FILE  a file with rules and variables (STAGGER_CONFIG)\n"
         "  -d, --depth N      frames of the program that make up a call site (STAGGER_DEPTH)\n"
         "  -o, --output DIR   write into DIR (STAGGER_DIR), or DIR-2, ... where it exists\n"
         "  -r, --rule RULE    a rule that comes before those of STAGGER_RULES; may be repeated\n"
         "  -t, --trace MODE   otf2, stats or off (STAGGER_TRACE)\n"
         "  -T, --trial TRIAL  a trial that comes before those of STAGGER_TRIAL; may be repeated\n"
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

typedef enum sg_status (*check_function)(const char *source, const char *text);

/* Puts one that has been checked behind those that came before it. */
static enum sg_status add_to(char **list, check_function check, const char *source,
                             const char *text)
{
    enum sg_status status = check(source, text);
    char *longer;

    if (status != SG_OK)
        return status;
    longer = join(*list, text, ';');
    if (longer == NULL)
        return SG_ERR_MEMORY;
    free(*list);
    *list = longer;
    return SG_OK;
}

/* The library would say so too, and run without it. */
static enum sg_status check_file(const char *path)
{
    struct stat info;

    if (access(path, R_OK) != 0 || stat(path, &info) != 0) {
        sg_log("--config '%s': %m", path);
        return SG_ERR_SYNTAX;
    }
    if (S_ISDIR(info.st_mode)) {
        sg_log("--config '%s': %s", path, strerror(EISDIR));
        return SG_ERR_SYNTAX;
    }
    return sg_config_check("--config", "STAGGER_CONFIG", path);
}

static enum sg_status set_option(struct run_options *options, int letter, char **argv)
{
    enum sg_status status = SG_OK;

    switch (letter) {
    case 'o':
        status = sg_config_check("--output", "STAGGER_DIR", optarg);
        options->directory = optarg;
        break;
    case 'c':
        status = check_file(optarg);
        options->config = optarg;
        break;
    case 'd':
        status = sg_config_check("--depth", "STAGGER_DEPTH", optarg);
        options->depth = optarg;
        break;
    case 'r':
        status = add_to(&options->rules, sg_rule_check, "--rule", optarg);
        break;
    case 'T':
        status = add_to(&options->trials, sg_trial_check, "--trial", optarg);
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

/* The loader's list of directories with this one in front, and there once; malloc'ed. */
static char *libraries_text(const char *directory)
{
    const char *old = sg_config_environment("LD_LIBRARY_PATH");
    size_t length = strlen(directory);

    if (old != NULL && strncmp(old, directory, length) == 0 &&
        (old[length] == ':' || old[length] == '\0'))
        return strdup(old);
    return join(directory, old, ':');
}

/* LD_PRELOAD is split at blanks and colons. A library in a place with a blank is preloaded by its
 * name alone, and found through LD_LIBRARY_PATH, which is split at colons and semicolons. */
static int preload(char *library)
{
    char *name = strrchr(library, '/');
    bool blank = strchr(library, ' ') != NULL;

    if (strchr(library, ':') != NULL || (blank && strchr(library, ';') != NULL)) {
        sg_log("run: the loader takes no path with a ':', or with a blank and a ';', as in %s",
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
        sg_log("run: " LIBRARY_NAME " is not beside this program, in ../lib/stagger or in ../lib");
        return -1;
    }
    result = preload(library);
    free(library);
    if (result == 0 && options->directory != NULL)
        result = set_variable("STAGGER_DIR", absolute_path(options->directory));
    if (result == 0 && options->trace != NULL)
        result = set_variable("STAGGER_TRACE", strdup(options->trace));
    if (result == 0 && options->depth != NULL)
        result = set_variable("STAGGER_DEPTH", strdup(options->depth));
    if (result == 0 && options->config != NULL)
        result = set_variable("STAGGER_CONFIG", absolute_path(options->config));
    if (result == 0 && options->trials != NULL)
        result = set_variable("STAGGER_TRIAL",
                              join(options->trials, sg_config_environment("STAGGER_TRIAL"), ';'));
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
    struct run_options options = {0};
    int result = 0;
    int letter;

    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:c:d:o:r:t:T:h", long_options, NULL)) != -1) {
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
    free(options.trials);
    return result;
}
