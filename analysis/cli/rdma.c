#include "cli/rdma.h"

#include "cli/locate.h"
#include "core/beside.h"
#include "transport/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_device(const struct sg_verbs *verbs, const struct sg_verbs_settings *settings,
                         FILE *out)
{
    struct sg_verbs_description about;

    verbs->describe(&about);
    fprintf(out, "  verbs: device %s, port %d (%s), GID %d (%s), MTU %d; ", about.device,
            about.port, about.link_layer, about.gid_index, about.gid, about.mtu);
    if (about.locked_bytes == UINT64_MAX)
        fputs("a process may lock any memory", out);
    else
        fprintf(out, "a process may lock %" PRIu64 " KiB", about.locked_bytes / 1024);
    fprintf(out, " and registers at most %" PRIu64 " KiB\n", settings->memory_bytes / 1024);
}

void sg_rdma_print(const struct sg_config *config, FILE *out)
{
    struct sg_verbs_settings settings = sg_verbs_settings(config);
    char *library = sg_locate_library();
    const char *reason = "libstagger.so is not found";
    const struct sg_verbs *verbs =
        library != NULL ? sg_beside_load(library, SG_VERBS_LIBRARY, SG_VERBS_SYMBOL, &reason)
                        : NULL;

    if (verbs != NULL && verbs->version == SG_VERBS_VERSION && verbs->start(&settings, &reason)) {
        print_device(verbs, &settings, out);
        verbs->stop();
    } else if (verbs != NULL && verbs->version != SG_VERBS_VERSION) {
        fprintf(out, "  verbs: not used: " SG_VERBS_LIBRARY " is of another version\n");
    } else {
        fprintf(out, "  verbs: not used: %s\n", reason);
    }
    free(library);
}
