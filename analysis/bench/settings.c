#include "bench/settings.h"

#include "core/config.h"
#include "core/status.h"

#define PROGRESS_VARIABLE "STAGGER_PROGRESS"

bool sg_bench_settings_read(struct sg_bench_settings *out)
{
    const struct sg_config_entry *progress = sg_config_find(PROGRESS_VARIABLE);
    struct sg_config config;

    /* Without a word: the library complains of what is wrong. */
    if (sg_config_read(&config, false) != SG_OK) {
        sg_log("bench: out of memory");
        return false;
    }
    out->ranks_per_node = config.ranks_per_node;
    out->progress[0] = '\0';
    if (progress != NULL)
        progress->print(progress, &config, out->progress, sizeof out->progress);
    sg_config_clear(&config);
    return true;
}
