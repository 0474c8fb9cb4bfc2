/* Finds the library and programs in PATH, and the programs of a command line that cannot be
 * preloaded.
 */
#include "cli/elf.h"

#include "core/config.h"
#include "core/file.h"
#include "own_directory.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- finding files --------------------------------------------------------------------------- */

const char *sg_locate_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

char *sg_locate_library(void)
{
    static const char *const places[] = {"", "../lib/stagger/", "../lib/"};
    char own[PATH_MAX];

    if (!sg_own_directory(own))
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path;
        char *real;

        if (asprintf(&path, "%s/%slibstagger.so", own, places[i]) < 0)
            return NULL;
        real = realpath(path, NULL);
        free(path);
        if (real != NULL)
            return real;
    }
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

char *sg_locate_program(const char *name)
{
    const char *places = sg_config_environment("PATH");

    if (*name == '\0')
        return NULL;
    if (strchr(name, '/') != NULL)
        return is_program(name) ? strdup(name) : NULL;
    /* Same default as execvp. */
    if (places == NULL)
        places = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(places, ":");
        char *path;

        /* An empty element is the current directory. */
        if (asprintf(&path, "%.*s%s%s", (int)length, places, length > 0 ? "/" : "", name) < 0)
            return NULL;
        if (is_program(path))
            return path;
        free(path);
        if (places[length] == '\0')
            return NULL;
        places += length + 1;
    }
}

/* ---- one file -------------------------------------------------------------------------------- */

static bool has_interpreter(Elf *elf)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        /* If a header cannot be read, do not report the program as static. */
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type == PT_INTERP)
            return true;
    }
    return false;
}

static enum sg_elf_kind inspect_program(int file)
{
    enum sg_elf_kind kind = SG_ELF_OTHER;
    GElf_Ehdr header;
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE)
        return SG_ELF_OTHER;
    elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf == NULL)
        return SG_ELF_OTHER;
    if (elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL &&
        (header.e_type == ET_EXEC || header.e_type == ET_DYN))
        kind = has_interpreter(elf) ? SG_ELF_DYNAMIC : SG_ELF_STATIC;
    elf_end(elf);
    return kind;
}

/* True if the kernel would start the program with another identity than this process's
 * (AT_SECURE). */
static bool is_privileged(int file, const struct stat *info)
{
    if ((info->st_mode & S_ISUID) != 0 && info->st_uid != getuid())
        return true;
    /* Without group execution the bit means mandatory locking. */
    if ((info->st_mode & S_ISGID) != 0 && (info->st_mode & S_IXGRP) != 0 &&
        info->st_gid != getgid())
        return true;
    return getuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0;
}

enum sg_elf_kind sg_elf_inspect(const char *path)
{
    enum sg_elf_kind kind = SG_ELF_OTHER;
    struct stat info;
    int file = -1;

    /* A program may be executable but not readable; its mode bits still count. */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return SG_ELF_OTHER;
    if (sg_file_open(path, 0, &file) == 0)
        kind = inspect_program(file);
    if (kind != SG_ELF_STATIC && is_privileged(file, &info))
        kind = SG_ELF_PRIVILEGED;
    if (file >= 0)
        close(file);
    return kind;
}

/* ---- command lines --------------------------------------------------------------------------- */

/* Programs whose arguments name the real program; "ld" is the dynamic loader run by name. */
static bool is_launcher(const char *program)
{
    static const char *const names[] = {
        "mpiexec", "mpirun",  "srun",     "prun",           "aprun",   "jsrun", "orterun",
        "stagger", "env",     "nice",     "numactl",        "taskset", "time",  "timeout",
        "nohup",   "setarch", "stdbuf",   "strace",         "ltrace",  "perf",  "valgrind",
        "gdb",     "ld",      "ld-linux", "ld-linux-x86-64"};
    const char *base = sg_locate_base(program);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);

        /* mpiexec.mpich and mpiexec.hydra are mpiexec too. */
        if (strncmp(base, names[i], length) == 0 && (base[length] == '\0' || base[length] == '.'))
            return true;
    }
    return false;
}

/* "-launcher ssh" and "-hosts time" name no program to run, though ssh and time exist: a word after
 * an option counts only if it is a path. */
static bool is_candidate(char *const *words, int at)
{
    if (words[at][0] == '-')
        return false;
    return at == 0 || words[at - 1][0] != '-' || strchr(words[at], '/') != NULL ||
           strcmp(words[at - 1], "--") == 0;
}

void sg_elf_scan(char *const *words, sg_elf_found found, void *context)
{
    bool launched = false;

    for (int i = 0; words[i] != NULL; i++) {
        enum sg_elf_kind kind;
        char *path;

        /* mpiexec -n 1 ./a : -n 1 ./b */
        if (launched && strcmp(words[i], ":") == 0)
            continue;
        if (!is_candidate(words, i) || (path = sg_locate_program(words[i])) == NULL) {
            if (!launched)
                return;
            continue;
        }
        kind = sg_elf_inspect(path);
        free(path);
        /* A launcher passes LD_PRELOAD on, even if it is static itself. */
        if (is_launcher(words[i])) {
            launched = true;
            continue;
        }
        if (kind == SG_ELF_STATIC || kind == SG_ELF_PRIVILEGED)
            found(context, words[i], kind);
        if (!launched)
            return;
        /* The rest are the program's arguments, up to the next program of the job. */
        while (words[i + 1] != NULL && strcmp(words[i + 1], ":") != 0)
            i++;
    }
}
