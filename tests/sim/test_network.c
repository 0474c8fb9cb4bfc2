/* Tests the reader of network files: values, fitted values beside them, and refusals. */
#include "core/capture.h"
#include "lib/unit.h"
#include "sim/network.h"

#include <limits.h>

static const char good[] = "# a comment\n"
                           "source = somewhere\n"
                           "latency_us = 5.5 # L\n"
                           "overhead_us=0.5\n"
                           "\n"
                           "gap_ns_per_byte = 2\n";

/* Writes NAME.conf and returns its path. */
static const char *write_file(const char *name, const char *text)
{
    static char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", unit_directory(), name);
    file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* The one line that reading the file logs. */
static void refused(const char *text, const char *line)
{
    const char *path = write_file("bad.conf", text);
    struct sg_network network;
    struct capture capture;
    char *log;

    capture_begin(&capture);
    CU_ASSERT_NOT_EQUAL(sg_network_read("sim", path, &network), SG_OK);
    log = capture_end(&capture);
    CU_ASSERT_PTR_NOT_NULL(strstr(log, line));
    CU_ASSERT_PTR_EQUAL(strchr(log, '\n'), log + strlen(log) - 1);
    free(log);
}

static void reads_values(void)
{
    struct sg_network network;

    CU_ASSERT_EQUAL(sg_network_read("sim", write_file("good.conf", good), &network), SG_OK);
    CU_ASSERT_STRING_EQUAL(network.name, "good");
    CU_ASSERT_STRING_EQUAL(network.source, "somewhere");
    CU_ASSERT_EQUAL(network.latency_us, 5.5);
    CU_ASSERT_EQUAL(network.overhead_us, 0.5);
    CU_ASSERT_EQUAL(sg_network_gap_ns(&network, 100), 200);
    CU_ASSERT_PTR_NULL(network.fitted[0]);
    /* None published: L + 2o. */
    CU_ASSERT_EQUAL(sg_network_multicast_ns(&network, 10), 6520);
}

static void reads_fitted_values_apart(void)
{
    struct sg_network network;

    write_file("pair.fitted.conf", "signal_us = 18 # of a figure\nlatency_us = 7\n");
    CU_ASSERT_EQUAL(sg_network_read("sim", write_file("pair.conf", good), &network), SG_OK);
    CU_ASSERT_EQUAL(network.signal_us, 18);
    CU_ASSERT_EQUAL(network.latency_us, 7);
    CU_ASSERT_STRING_EQUAL(network.fitted[0], "signal_us");
    CU_ASSERT_STRING_EQUAL(network.fitted[1], "latency_us");
    CU_ASSERT_PTR_NULL(network.fitted[2]);
    CU_ASSERT_EQUAL(sg_network_set(&network, "signal_us=3"), SG_OK);
    CU_ASSERT_EQUAL(network.signal_us, 3);
    CU_ASSERT_STRING_EQUAL(network.fitted[0], "latency_us");
    CU_ASSERT_PTR_NULL(network.fitted[1]);
}

static void refuses_bad_files(void)
{
    refused("latency_us = 5\noverhead_us = 1\n", "gap_ns_per_byte is missing");
    refused("latency_us = five\n", "line 1: not a number in range");
    refused("\nlatency_us = -5\n", "line 2: not a number in range");
    refused("latency_us 5\n", "line 1: no 'key = value'");
    refused("speed = 5\n", "line 1: no such key");
    refused("multicast_loss = 1.5\n", "line 1: not a number in range");
}

static void refuses_bad_names(void)
{
    struct sg_network network;
    struct capture capture;
    char *log;

    capture_begin(&capture);
    CU_ASSERT_EQUAL(sg_network_read("sim", "token-ring", &network), SG_ERR_MISSING);
    CU_ASSERT_EQUAL(sg_network_read("sim", "./nowhere.conf", &network), SG_ERR_MISSING);
    log = capture_end(&capture);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(log, "sim: no network 'token-ring'; there are: 200g, colony, infiniband-sdr, "
                    "myrinet2000, qsnet; the path of a file needs a slash"));
    CU_ASSERT_PTR_NOT_NULL(strstr(log, "./nowhere.conf: No such file"));
    free(log);
}

const struct unit_test unit_tests[] = {
    {"a network's file is read, comments and spaces left out", reads_values},
    {"fitted values are read from beside it and listed", reads_fitted_values_apart},
    {"a file that is not one of a network is refused with its line", refuses_bad_files},
    {"a network that is not there is refused", refuses_bad_names},
    {NULL, NULL},
};
