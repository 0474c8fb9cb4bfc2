/* Finding files: the library that belongs to this executable, and programs in PATH. */
#ifndef SG_CLI_LOCATE_H
#define SG_CLI_LOCATE_H

/* The path of libstagger.so beside this executable, in ../lib/stagger or in ../lib; malloc'ed,
 * NULL where there is none. */
char *sg_locate_library(void);

/* The file that execvp(name) would run; malloc'ed, NULL where there is none. */
char *sg_locate_program(const char *name);

/* What follows the last slash. */
const char *sg_locate_base(const char *path);

#endif
