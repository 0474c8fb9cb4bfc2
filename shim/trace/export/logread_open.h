/* Inside logread: opening without a word, for the caller that speaks for a whole directory. */
#ifndef SG_TRACE_LOGREAD_OPEN_H
#define SG_TRACE_LOGREAD_OPEN_H

#include "trace/export/logread.h"

/* Ranks beyond this are taken for damage: tables by rank must stay affordable. */
#define SG_WORLD_LIMIT (1 << 24)

struct sg_refusal {
    enum sg_status status;
    char reason[128]; /* to stand behind "PATH: " */
};

/* As sg_logread_open, saying nothing: refusal tells why, on failure only. */
enum sg_status sg_logread_try(const char *path, struct sg_logread **out,
                              struct sg_refusal *refusal);

#endif
