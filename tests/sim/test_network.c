/* Tests the reader of network files: values, fitted values beside them, and refusals. */
#include "core/capture.h"
#include "lib/unit.h"
#include "sim/network.h"

static const char good[] = "# a comment\n"
                           "source = somewhere\n"
                           "latency_us = 5.5 # L\n"
                           "overhead_us=0.5\n"
                           "\n"
                           "gap_ns_per_byte = 2\n";

/* The one line that reading the file logs. */
static void refused(const char *text, const char *line)
{
    const char *path = unit_write(text, "%s/bad.conf", unit_directory());
    struct sg_network network;
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_network_read("sim", path, &network) != SG_OK);
    char *log = capture_end(&capture);
    EXPECT(contains(log, line), strchr(log, '\n') == log + strlen(log) - 1);
    free(log);
}

TEST("a network's file is read, without its comments and spaces")
{
    struct sg_network network;

    EXPECT(sg_network_read("sim", unit_write(good, "%s/good.conf", unit_directory()), &network) ==
               SG_OK,
           text_is(network.name, "good"), text_is(network.source, "somewhere"),
           network.latency_us == 5.5, network.overhead_us == 0.5,
           sg_network_gap_ns(&network, 100) == 200, network.fitted[0] == NULL);
    /* None published: L + 2o. */
    EXPECT(sg_network_multicast_ns(&network, 10) == 6520);
}

TEST("fitted values are read from the file beside it and listed")
{
    struct sg_network network;

    unit_write("signal_us = 18 # of a figure\nlatency_us = 7\n", "%s/pair.fitted.conf",
               unit_directory());
    EXPECT(sg_network_read("sim", unit_write(good, "%s/pair.conf", unit_directory()), &network) ==
               SG_OK,
           network.signal_us == 18, network.latency_us == 7,
           text_is(network.fitted[0], "signal_us"), text_is(network.fitted[1], "latency_us"),
           network.fitted[2] == NULL, sg_network_set(&network, "signal_us=3") == SG_OK,
           network.signal_us == 3, text_is(network.fitted[0], "latency_us"),
           network.fitted[1] == NULL);
}

TEST("a malformed network file is refused with its line")
{
    refused("latency_us = 5\noverhead_us = 1\n", "gap_ns_per_byte is missing");
    refused("latency_us = five\n", "line 1: not a number in range");
    refused("\nlatency_us = -5\n", "line 2: not a number in range");
    refused("latency_us 5\n", "line 1: no 'key = value'");
    refused("speed = 5\n", "line 1: no such key");
    refused("multicast_loss = 1.5\n", "line 1: not a number in range");
}

TEST("an unknown network is refused")
{
    struct sg_network network;
    struct capture capture;

    capture_begin(&capture);
    EXPECT(sg_network_read("sim", "token-ring", &network) == SG_ERR_MISSING,
           sg_network_read("sim", "./nowhere.conf", &network) == SG_ERR_MISSING);
    char *log = capture_end(&capture);
    EXPECT(contains(log, "sim: no network 'token-ring'; there are: 200g, colony, infiniband-sdr, "
                         "myrinet2000, qsnet; the path of a file needs a slash"),
           contains(log, "./nowhere.conf: No such file"));
    free(log);
}
