/* The configuration that a run wrote beside its archive. */
#ifndef SG_CLI_INFO_COMMAND_H
#define SG_CLI_INFO_COMMAND_H

/* The text of stagger.conf in the directory, or beside the archive, as much of it as there is room
 * for. malloc'ed; NULL: there is none. */
char *sg_read_configuration(const char *path);

#endif
