/* Can a program be preloaded? Statically linked programs have no loader to do it, and for
 * privileged ones the loader ignores LD_PRELOAD.
 */
#ifndef SG_CLI_ELF_H
#define SG_CLI_ELF_H

enum sg_elf_kind {
    SG_ELF_OTHER, /* a script, a directory, not readable: nothing is known */
    SG_ELF_DYNAMIC,
    SG_ELF_STATIC,
    SG_ELF_PRIVILEGED, /* set-uid or set-gid to another identity, or with capabilities */
};

/* What the file at path is. Any file is safe to look at. */
enum sg_elf_kind sg_elf_inspect(const char *path);

/* Looks for the programs that a command line starts: its first word, or the words behind
 * launchers (mpiexec, srun, env, ...), and calls found for each that cannot be preloaded. The
 * words end with NULL. */
typedef void (*sg_elf_found)(void *context, const char *program, enum sg_elf_kind kind);

void sg_elf_scan(char *const *words, sg_elf_found found, void *context);

/* Finding files: the library that belongs to this executable, and programs in PATH. */

/* The path of libstagger.so beside this executable, in ../lib/stagger or in ../lib; malloc'ed,
 * NULL where there is none. */
char *sg_locate_library(void);
/* The file that execvp(name) would run; malloc'ed, NULL where there is none. */
char *sg_locate_program(const char *name);
/* What follows the last slash. */
const char *sg_locate_base(const char *path);

#endif
