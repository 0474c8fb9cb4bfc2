/* Fuzzes a network's file, a value set over it, and the arrivals that stagger-bench replays.
 * Accepted values are finite and not negative, and a network's values can be queried again. */
#include "fuzz/fuzz.h"

#include "bench/pattern.h"
#include "sim/network.h"

#include <math.h>

static void read_arrivals(const char *path)
{
    double *lateness_ns;
    size_t calls;

    if (sg_bench_pattern_read(path, 3, &lateness_ns, &calls) != SG_OK)
        return;
    for (size_t i = 0; i < 3 * calls; i++)
        fuzz_holds(isfinite(lateness_ns[i]) && lateness_ns[i] >= 0,
                   "arrivals are numbers, not negative");
    free(lateness_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_file file = fuzz_file(data, size);
    struct sg_network network;
    char *text = fuzz_text(data, size);

    if (sg_network_read("fuzz", file.path, &network) == SG_OK) {
        const char *name;
        double value;

        for (int i = 0; (name = sg_network_value(&network, i, &value)) != NULL; i++)
            fuzz_holds(isfinite(value) && value >= 0,
                       "a network's values are numbers, not negative");
        sg_network_set(&network, text);
        sg_network_multicast_ns(&network, size);
    }
    read_arrivals(file.path);
    free(text);
    close(file.file);
    return 0;
}
