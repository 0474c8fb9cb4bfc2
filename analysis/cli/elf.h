/* Finds programs and decides whether they can be preloaded: a static program has no loader to do
 * it, and for a privileged program the loader ignores LD_PRELOAD. Also finds libstagger.so, and
 * programs in PATH.
 */
#ifndef SG_CLI_ELF_H
#define SG_CLI_ELF_H

enum sg_elf_kind {
    SG_ELF_OTHER, /* a script, a directory, unreadable: not known */
    SG_ELF_DYNAMIC,
    SG_ELF_STATIC,
    SG_ELF_PRIVILEGED, /* set-uid or set-gid to another identity, or with capabilities */
};

/* Classifies the file at path. Safe for any file. */
enum sg_elf_kind sg_elf_inspect(const char *path);

/* Looks for the programs that a command line starts: its first word, or the words behind launchers
 * (mpiexec, srun, env, ...). Calls `found` for each program that cannot be preloaded. The words end
 * with NULL. */
typedef void (*sg_elf_found)(void *context, const char *program, enum sg_elf_kind kind);

void sg_elf_scan(char *const *words, sg_elf_found found, void *context);

/* ---- finding files --------------------------------------------------------------------------- */

/* The path of libstagger.so beside this executable, in ../lib/stagger or in ../lib; malloc'ed, NULL
 * if there is none. */
char *sg_locate_library(void);
/* The file that execvp(name) would run; malloc'ed, NULL if there is none. */
char *sg_locate_program(const char *name);
/* The part after the last slash. */
const char *sg_locate_base(const char *path);

#endif
