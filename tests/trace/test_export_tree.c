/* Tests the system tree of archives made of logs by hand: ranks are on the sockets and cores that
 * their logs name. tests/lib/check_tree.py knows the tree's rules. */
#include "trace/export_setup.h"

static const struct place {
    const char *host;
    uint32_t socket, core; /* as in struct sg_log_header */
    const char *path;
} places[] = {
    {"left", 1, 1, "left/socket 0/core 0"},
    {"left", 1, 2, "left/socket 0/core 1"},
    {"left", 2, 1, "left/socket 1/core 0"},
    {"left", 2, 0, "left/socket 1"},
    {"left", 0, 0, "left"},
    {"right", 1, 1, "right/socket 0/core 0"},
    {"right", 1, 1, "right/socket 0/core 0"},
    {"right", 4, 96, "right/socket 3/core 95"},
};

static void write_logs(const char *directory, int count)
{
    for (int rank = 0; rank < count; rank++) {
        struct fabricated log;

        fabricate_start(&log, rank, count);
        strcpy(log.header.host, places[rank].host);
        log.header.machine = strcmp(places[rank].host, "left") == 0;
        log.header.socket = places[rank].socket;
        log.header.core = places[rank].core;
        fabricate_clock(&log, 1000, 0);
        fabricate_finish(&log, directory);
    }
}

static void expect_path(const json_t *path, const char *expected)
{
    char text[200] = "";

    for (size_t i = 0; i < json_array_size(path); i++) {
        strcat(text, i > 0 ? "/" : "");
        strcat(text, json_string_value(json_array_get(path, i)));
    }
    EXPECT(text_is(text, expected));
}

static void expect_places(const char *name, int count)
{
    const char *directory = setup_directory(name);
    json_t *counts, *events;

    write_logs(directory, count);
    ASSERT(setup_export(directory) == SG_OK);
    counts = setup_check(directory, &events);
    for (int rank = 0; rank < count; rank++) {
        char number[12];

        snprintf(number, sizeof number, "%d", rank);
        expect_path(json_object_get(json_object_get(counts, "places"), number), places[rank].path);
    }
}

TEST("ranks of a host are placed on their sockets and cores")
{
    expect_places("one", 5);
}

TEST("sockets and cores of two hosts are distinguished")
{
    expect_places("two", 8);
}
