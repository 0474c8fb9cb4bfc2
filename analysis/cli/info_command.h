/* Reads the configuration that a run saved beside its archive. */
#ifndef SG_CLI_INFO_COMMAND_H
#define SG_CLI_INFO_COMMAND_H

/* The text of stagger.conf in the directory, or beside the archive; at most 65535 bytes of it.
 * malloc'ed; NULL: there is none. */
char *sg_read_configuration(const char *path);

#endif
