#include "output/gnuplot.h"

#include "output/format.h"
#include "output/output_file.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FILE *sg_gnuplot_script(const char *who)
{
    FILE *script = tmpfile();

    if (script == NULL)
        sg_log("%s: a temporary file: %m", who);
    return script;
}

/* A single quote is written twice. A line end would end the quotation, and begin a command. */
void sg_gnuplot_quote(const char *text, FILE *script)
{
    char *clean = sg_format_clean(text, true);

    fputc('\'', script);
    for (const char *at = clean != NULL ? clean : "?"; *at != '\0'; at++)
        fprintf(script, *at == '\'' ? "''" : "%c", *at);
    fputc('\'', script);
    free(clean);
}

/* With the script as its standard input, and the figure as its output. An errno. */
static int start(FILE *script, int figure, pid_t *child)
{
    static char name[] = "gnuplot";
    char *const arguments[] = {name, NULL};
    char *const environment[] = {NULL}; /* no settings of the user's, and nothing preloaded */
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);

    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&files, figure, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(child, name, &files, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static enum sg_status draw(FILE *script, int figure, const char *who)
{
    pid_t child;
    int ended, error;

    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        sg_log("%s: a temporary file: %m", who);
        return SG_ERR_SYSTEM;
    }
    error = start(script, figure, &child);
    errno = error;
    if (error == ENOENT)
        sg_log("%s: gnuplot is not installed", who);
    else if (error != 0)
        sg_log("%s: gnuplot: %m", who);
    if (error != 0)
        return SG_ERR_MISSING;
    if (waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return SG_OK;
    sg_log("%s: gnuplot does not draw the figure", who);
    return SG_ERR_SYSTEM;
}

enum sg_status sg_gnuplot_run(FILE *script, const char *path, const char *who)
{
    struct sg_output_file figure;
    enum sg_status status = sg_output_file_open(path, &figure);

    if (status == SG_OK) {
        status = draw(script, fileno(figure.stream), who);
        status = sg_output_file_close(&figure, status);
    }
    fclose(script);
    return status;
}
