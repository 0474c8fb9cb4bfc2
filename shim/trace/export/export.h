/* Exports logs to an OTF2 archive, DIR/traces.otf2, unified over all ranks.
 *
 * The same code runs in two settings. At MPI_Finalize each rank passes its own log, and the
 * exchange is MPI; in `stagger recover` one process passes all logs, and the exchange is
 * sg_exchange_serial. Rank 0 unifies the definitions; each process writes the events of its logs. A
 * collective instance is written by all its members or by none.
 *
 * Not thread-safe; never call it from a signal handler; collective over the exchange.
 */
#ifndef SG_TRACE_EXPORT_EXPORT_H
#define SG_TRACE_EXPORT_EXPORT_H

#include "core/exchange.h"
#include "core/status.h"
#include "trace/export/logread.h"
#include "trace/export/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct sg_export {
    const char *directory;
    struct sg_logread **logs; /* this process's, by rank */
    int log_count;            /* 0: failure is set */
    const char *failure;      /* why this process cannot take part; NULL: it can */
    int world_size;
    uint64_t end_ns; /* local time at which MPI_Finalize's region ends; 0: last record */
    bool partial;    /* mark the archive as partial in any case */
    bool replace;    /* replace an existing archive by the completed one; one process only */
    const char *const *algorithms; /* names by index, as in struct sg_record_call */
    int algorithm_count;
    const struct sg_exchange *exchange;
    const char *advice; /* appended to the line that reports a failure; NULL: nothing */
    /* Reports the step that begins and the index of this process's log; may be NULL. */
    void (*progress)(void *context, const char *what, int log);
    void *context;
};

struct sg_export_result {   /* the same on every rank */
    uint64_t calls;         /* written, over all ranks */
    uint64_t dropped;       /* calls of incomplete instances, and calls beyond the limit */
    uint64_t archive_bytes; /* all files of the archive; on rank 0 */
    bool partial;
};

/* Writes the archive. On failure one rank logs one line, the files begun are removed on all ranks,
 * and the logs stay. */
enum sg_status sg_export_archive(const struct sg_export *input, struct sg_export_result *result);

/* STAGGER_TRACE=stats: rank 0 resolves the names of all sites once and passes them through the
 * callback, as texts for SITE_NAME records. */
typedef void (*sg_site_name_sink)(void *context, uint32_t id, const char *function,
                                  const char *file, uint32_t line);

enum sg_status sg_export_site_names(const struct sg_export *input, sg_site_name_sink sink,
                                    void *context);

/* The companion library libstagger-otf2.so contains this folder and links libotf2 and libdw.
 * libstagger.so loads it RTLD_LOCAL and finds it by this one symbol. */
struct sg_companion {
    uint32_t version; /* SG_LOG_VERSION */
    enum sg_status (*export_archive)(const struct sg_export *, struct sg_export_result *);
    enum sg_status (*export_site_names)(const struct sg_export *, sg_site_name_sink, void *);
    enum sg_status (*logread_try)(const char *, struct sg_logread **, struct sg_refusal *);
    void (*logread_close)(struct sg_logread *);
    enum sg_status (*symbols_open)(struct sg_symbols **);
    enum sg_status (*symbols_lookup)(struct sg_symbols *, const char *, const char *, uint64_t,
                                     struct sg_symbol *);
    void (*symbols_close)(struct sg_symbols *);
};

#define SG_COMPANION_SYMBOL "sg_companion"

extern const struct sg_companion sg_companion;

#endif
