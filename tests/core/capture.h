/* Captures stderr of the code under test as text, for tests of log lines. */
#ifndef SG_TESTS_CORE_CAPTURE_H
#define SG_TESTS_CORE_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capture {
    FILE *file;
    int saved;
};

static inline void capture_begin(struct capture *capture)
{
    capture->file = tmpfile();
    capture->saved = dup(STDERR_FILENO);
    if (capture->file == NULL || capture->saved < 0 ||
        dup2(fileno(capture->file), STDERR_FILENO) < 0) {
        perror("capture");
        exit(1);
    }
}

/* The text so far; the caller frees it. */
static inline char *capture_end(struct capture *capture)
{
    char *text = NULL;
    size_t size_bytes = 0;

    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    rewind(capture->file);
    ssize_t length = getdelim(&text, &size_bytes, '\0', capture->file);
    if (length < 0) {
        free(text);
        text = strdup("");
    }
    fclose(capture->file);
    return text;
}

#endif
