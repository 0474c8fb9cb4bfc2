/* A directory below $TMPDIR for the files that targets write, emptied for each run. */
#ifndef SG_TESTS_FUZZ_DIRECTORY_H
#define SG_TESTS_FUZZ_DIRECTORY_H

#include "fuzz/fuzz.h"

#include <ftw.h>

static char fuzz_directory_path[200];

static inline int fuzz_remove_one(const char *path, const struct stat *status, int type,
                                  struct FTW *place)
{
    return remove(path);
}

static inline void fuzz_directory_remove(void)
{
    nftw(fuzz_directory_path, fuzz_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns a new, empty directory and removes the one before with its contents. */
static inline const char *fuzz_directory(void)
{
    if (fuzz_directory_path[0] != '\0')
        fuzz_directory_remove();
    else
        atexit(fuzz_directory_remove);
    snprintf(fuzz_directory_path, sizeof fuzz_directory_path, "%s/XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(fuzz_directory_path) == NULL)
        abort();
    return fuzz_directory_path;
}

#endif
