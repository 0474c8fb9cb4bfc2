/* A network's file, and a value set over it: what is taken is finite, not negative and can be asked
 * for again. */
#include "fuzz/fuzz.h"

#include "sim/timed/network.h"

#include <math.h>

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
    free(text);
    close(file.file);
    return 0;
}
