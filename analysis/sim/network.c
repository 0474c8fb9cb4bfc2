#include "sim/network.h"

#include "algos/tree.h"
#include "own_directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 256
#define LARGEST 1e9

static const struct key {
    const char *name;
    size_t offset;
    double largest;
} keys[] = {
    {"latency_us", offsetof(struct sg_network, latency_us), LARGEST},
    {"overhead_us", offsetof(struct sg_network, overhead_us), LARGEST},
    {"gap_ns_per_byte", offsetof(struct sg_network, gap_ns_per_byte), LARGEST},
    {"multicast_us", offsetof(struct sg_network, multicast_us), LARGEST},
    {"multicast_loss", offsetof(struct sg_network, multicast_loss), 1},
    {"jitter_us", offsetof(struct sg_network, jitter_us), LARGEST},
    {"loopback_us", offsetof(struct sg_network, loopback_us), LARGEST},
    {"copy_ns_per_byte", offsetof(struct sg_network, copy_ns_per_byte), LARGEST},
    {"reduce_ns_per_byte", offsetof(struct sg_network, reduce_ns_per_byte), LARGEST},
    {"signal_us", offsetof(struct sg_network, signal_us), LARGEST},
    {"wake_us", offsetof(struct sg_network, wake_us), LARGEST},
    {"local_us", offsetof(struct sg_network, local_us), LARGEST},
    {"noise_us", offsetof(struct sg_network, noise_us), LARGEST},
    {"query_us", offsetof(struct sg_network, query_us), LARGEST},
    {"agent_us", offsetof(struct sg_network, agent_us), LARGEST},
    {"post_us", offsetof(struct sg_network, post_us), LARGEST},
};

#define KEY_COUNT ((int)(sizeof keys / sizeof *keys))

/* A simulation is meaningless without these published values. */
static const char *const needed[] = {"latency_us", "overhead_us", "gap_ns_per_byte"};

static double *field(struct sg_network *network, int key)
{
    void *at = (char *)network + keys[key].offset;

    return at;
}

const char *sg_network_value(const struct sg_network *network, int index, double *value)
{
    if (index < 0 || index >= KEY_COUNT)
        return NULL;
    memcpy(value, (const char *)network + keys[index].offset, sizeof *value);
    return keys[index].name;
}

static int find_key(const char *name)
{
    for (int key = 0; key < KEY_COUNT; key++) {
        if (strcmp(keys[key].name, name) == 0)
            return key;
    }
    return -1;
}

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Parses a plain decimal number in the key's range. */
static bool parse_value(const char *text, double largest, double *value)
{
    char *end;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value) && *value >= 0 && *value <= largest;
}

static void forget_fitted(struct sg_network *network, const char *name)
{
    int kept = 0;

    for (int i = 0; network->fitted[i] != NULL; i++) {
        if (strcmp(network->fitted[i], name) != 0)
            network->fitted[kept++] = network->fitted[i];
    }
    network->fitted[kept] = NULL;
}

static bool note_fitted(struct sg_network *network, const char *name)
{
    int count = 0;

    while (network->fitted[count] != NULL)
        count++;
    if (count == SG_NETWORK_FITTED_MAX)
        return false;
    network->fitted[count] = name;
    network->fitted[count + 1] = NULL;
    return true;
}

/* Sets a value from a line; returns NULL, or what is wrong with the line. */
static const char *set_line(struct sg_network *network, char *line, bool fitted)
{
    char *equals = strchr(line, '=');
    char *name, *text;
    double value;
    int key;

    if (equals == NULL)
        return "no 'key = value'";
    *equals = '\0';
    name = trim(line);
    text = trim(equals + 1);
    if (strcmp(name, "source") == 0 && !fitted) {
        snprintf(network->source, sizeof network->source, "%s", text);
        return NULL;
    }
    key = find_key(name);
    if (key < 0)
        return "no such key";
    if (!parse_value(text, keys[key].largest, &value))
        return "not a number in range";
    *field(network, key) = value;
    if (fitted && !note_fitted(network, keys[key].name))
        return "too many fitted values";
    return NULL;
}

static enum sg_status read_lines(const char *path, FILE *file, struct sg_network *network,
                                 bool fitted)
{
    char line[LINE_BYTES];

    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        const char *wrong;
        char *text;

        if (strchr(line, '\n') == NULL && !feof(file)) {
            sg_log("%s: line %d is longer than %d characters", path, number, LINE_BYTES - 2);
            return SG_ERR_FORMAT;
        }
        line[strcspn(line, "#")] = '\0';
        text = trim(line);
        if (*text == '\0')
            continue;
        wrong = set_line(network, text, fitted);
        if (wrong != NULL) {
            sg_log("%s: line %d: %s", path, number, wrong);
            return SG_ERR_FORMAT;
        }
    }
    if (ferror(file)) {
        sg_log("%s: %m", path);
        return SG_ERR_SYSTEM;
    }
    return SG_OK;
}

static enum sg_status check_needed(const char *path, struct sg_network *network)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (*field(network, find_key(needed[i])) <= 0) {
            sg_log("%s: %s is missing", path, needed[i]);
            return SG_ERR_FORMAT;
        }
    }
    return SG_OK;
}

/* Reads NAME.conf and, if it exists, NAME.fitted.conf. stem: the path without ".conf". */
static enum sg_status read_pair(const char *path, const char *stem, FILE *file,
                                struct sg_network *network)
{
    char fitted_path[PATH_MAX];
    enum sg_status status = read_lines(path, file, network, false);
    FILE *fitted;

    if (status == SG_OK)
        status = check_needed(path, network);
    if (status != SG_OK)
        return status;
    if (snprintf(fitted_path, sizeof fitted_path, "%s.fitted.conf", stem) >=
        (int)sizeof fitted_path)
        return SG_OK;
    fitted = fopen(fitted_path, "re");
    if (fitted == NULL)
        return SG_OK;
    status = read_lines(fitted_path, fitted, network, true);
    fclose(fitted);
    return status;
}

/* Directories of the networks, relative to the executable's; the first one that has the file
 * counts. */
static const char *const below[] = {"../share/stagger/networks", "../analysis/sim/networks",
                                    "../../analysis/sim/networks", "../../../analysis/sim/networks",
                                    "../../../../analysis/sim/networks"};

/* Opens NAME.conf in the first of those directories that has it; path gets the file that was
 * opened. */
static FILE *open_named(const char *name, char *path, size_t size_bytes)
{
    char own[PATH_MAX];

    if (!sg_own_directory(own))
        return NULL;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        FILE *file;

        if (snprintf(path, size_bytes, "%s/%s/%s.conf", own, below[i], name) >= (int)size_bytes)
            continue;
        file = fopen(path, "re");
        if (file != NULL)
            return file;
    }
    return NULL;
}

#define NAMES_BYTES 400

static int is_network(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && strcmp(entry->d_name + length - 5, ".conf") == 0 &&
           strstr(entry->d_name, ".fitted.") == NULL;
}

/* Lists the networks that are installed: "200g, colony"; or "none". */
static void list_names(char names[NAMES_BYTES])
{
    char own[PATH_MAX], path[PATH_MAX + 64];
    struct dirent **entries = NULL;
    int count = -1;
    size_t used = 0;

    strcpy(names, "none");
    for (size_t i = 0; i < sizeof below / sizeof *below && count <= 0 && sg_own_directory(own);
         i++) {
        snprintf(path, sizeof path, "%s/%s", own, below[i]);
        free(entries);
        entries = NULL;
        count = scandir(path, &entries, is_network, alphasort);
    }
    for (int i = 0; i < count; i++) {
        if (used < NAMES_BYTES)
            used += (size_t)snprintf(names + used, NAMES_BYTES - used, "%s%.*s", i > 0 ? ", " : "",
                                     (int)strlen(entries[i]->d_name) - 5, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void refuse(const char *command, const char *name)
{
    char names[NAMES_BYTES];

    list_names(names);
    sg_log("%s: no network '%s'; there are: %s; the path of a file needs a slash", command, name,
           names);
}

enum sg_status sg_network_read(const char *command, const char *name, struct sg_network *network)
{
    char path[PATH_MAX], stem[PATH_MAX];
    struct sg_network read = {0};
    const char *slash = strrchr(name, '/');
    enum sg_status status;
    FILE *file;

    if (strlen(name) >= sizeof path) {
        sg_log("%s: the network's name is too long", command);
        return SG_ERR_ARGUMENT;
    }
    strcpy(path, name);
    file = slash != NULL ? fopen(path, "re") : open_named(name, path, sizeof path);
    if (file == NULL) {
        if (slash != NULL)
            sg_log("%s: %s: %m", command, name);
        else
            refuse(command, name);
        return SG_ERR_MISSING;
    }
    strcpy(stem, path);
    if (strlen(stem) > 5 && strcmp(stem + strlen(stem) - 5, ".conf") == 0)
        stem[strlen(stem) - 5] = '\0';
    snprintf(read.name, sizeof read.name, "%s", strrchr(stem, '/') + 1);
    status = read_pair(path, stem, file, &read);
    fclose(file);
    if (status == SG_OK)
        *network = read;
    return status;
}

enum sg_status sg_network_set(struct sg_network *network, const char *assignment)
{
    char line[LINE_BYTES];
    const char *wrong;

    if (snprintf(line, sizeof line, "%s", assignment) >= (int)sizeof line) {
        sg_log("sim: --set wants KEY=VALUE");
        return SG_ERR_SYNTAX;
    }
    wrong = set_line(network, line, false);
    if (wrong != NULL) {
        sg_log("sim: --set '%s': %s", assignment, wrong);
        return SG_ERR_SYNTAX;
    }
    forget_fitted(network, trim(line));
    return SG_OK;
}

uint64_t sg_network_ns(double us)
{
    return (uint64_t)(us * 1e3 + 0.5);
}

uint64_t sg_network_bytes_ns(double ns_per_byte, uint64_t bytes)
{
    return (uint64_t)((double)bytes * ns_per_byte + 0.5);
}

uint64_t sg_network_gap_ns(const struct sg_network *network, uint64_t bytes)
{
    return sg_network_bytes_ns(network->gap_ns_per_byte, bytes);
}

uint64_t sg_network_multicast_ns(const struct sg_network *network, uint64_t bytes)
{
    double us = network->multicast_us > 0 ? network->multicast_us
                                          : network->latency_us + 2 * network->overhead_us;

    return sg_network_ns(us) + sg_network_gap_ns(network, bytes);
}

/* ---- the node level */

/* The same thresholds as in the built-in rules and the engine:
 * docs/decisions/03. */
#define FLAT_RANKS_MAX 8
#define FLAT_BYTES_MAX 1024
#define CLIMB_BYTES_MAX 4096
#define SLOT_BYTES 4096

enum sg_node_level sg_node_level_of(uint32_t ranks, uint64_t bytes)
{
    if (bytes <= FLAT_BYTES_MAX && ranks <= FLAT_RANKS_MAX)
        return SG_NODE_LEVEL_FLAT;
    return bytes > CLIMB_BYTES_MAX ? SG_NODE_LEVEL_CHUNKS : SG_NODE_LEVEL_CLIMB;
}

static uint64_t rounded(double ns)
{
    return (uint64_t)(ns + 0.5);
}

static uint64_t step_ns(const struct sg_network *network)
{
    return sg_network_ns(network->local_us);
}

uint64_t sg_node_copy_ns(const struct sg_network *network, uint64_t bytes)
{
    return rounded((double)bytes * network->copy_ns_per_byte);
}

uint64_t sg_node_store_ns(const struct sg_network *network, uint64_t bytes)
{
    return step_ns(network) + sg_node_copy_ns(network, bytes);
}

uint64_t sg_node_flat_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    return sg_node_store_ns(network, bytes) + step_ns(network) +
           rounded((double)bytes * (ranks - 1) * network->reduce_ns_per_byte);
}

uint64_t sg_node_chunks_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    double share = (double)bytes / ranks;
    double copies = 2 * ((double)bytes - share) * network->copy_ns_per_byte;
    double folds = share * (ranks - 1) * network->reduce_ns_per_byte;

    return 3 * step_ns(network) + rounded(copies + folds);
}

uint64_t sg_node_climb_part_ns(const struct sg_network *network, uint32_t folds, bool store,
                               uint64_t bytes)
{
    double ns = (double)bytes * folds * network->reduce_ns_per_byte;

    if (store)
        ns += (double)bytes * network->copy_ns_per_byte;
    return (folds + 1) * step_ns(network) + rounded(ns);
}

uint64_t sg_node_fill_ns(const struct sg_network *network, uint64_t bytes)
{
    uint64_t slots = bytes > SLOT_BYTES ? (bytes + SLOT_BYTES - 1) / SLOT_BYTES : 1;

    return slots * step_ns(network) + sg_node_copy_ns(network, bytes);
}

uint64_t sg_node_fetch_ns(const struct sg_network *network, uint64_t bytes, bool late)
{
    return step_ns(network) +
           sg_node_copy_ns(network, late || bytes < SLOT_BYTES ? bytes : SLOT_BYTES);
}

uint64_t sg_node_read_ns(const struct sg_network *network, uint64_t bytes)
{
    return 2 * step_ns(network) + sg_node_copy_ns(network, bytes);
}

uint64_t sg_node_call_ns(const struct sg_network *network, uint32_t ranks,
                         enum sg_operation operation, uint64_t bytes)
{
    uint32_t folds = (uint32_t)sg_tree_levels((int32_t)ranks);

    if (operation == SG_OPERATION_BCAST)
        return bytes >= SG_NODE_SINGLE_BYTES
                   ? sg_node_read_ns(network, bytes)
                   : sg_node_fill_ns(network, bytes) + sg_node_fetch_ns(network, bytes, false);
    switch (sg_node_level_of(ranks, bytes)) {
    case SG_NODE_LEVEL_FLAT:
        return sg_node_flat_ns(network, ranks, bytes);
    case SG_NODE_LEVEL_CHUNKS:
        return sg_node_chunks_ns(network, ranks, bytes);
    default:
        /* The last rank to arrive climbs to the top; the others see the release and copy the
         * result. */
        return sg_node_climb_part_ns(network, folds, false, bytes) +
               sg_node_copy_ns(network, bytes) + step_ns(network);
    }
}

uint64_t sg_node_climb_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes)
{
    uint64_t fold_ns = rounded((double)bytes * network->reduce_ns_per_byte);

    if (ranks == 1)
        return 0;
    return sg_node_store_ns(network, bytes) +
           (uint64_t)sg_tree_levels((int32_t)ranks) * (2 * step_ns(network) + fold_ns) -
           step_ns(network);
}

uint64_t sg_node_broadcast_ns(const struct sg_network *network, uint32_t ranks, uint64_t bytes,
                              uint64_t chunk_bytes, bool placed)
{
    uint64_t chunk = bytes < chunk_bytes ? bytes : chunk_bytes;
    uint64_t chunks = chunk > 0 ? (bytes + chunk - 1) / chunk : 1;
    uint64_t flags_ns = (ranks - 1) * step_ns(network);

    if (ranks == 1)
        return 0;
    if (placed)
        return flags_ns + sg_node_copy_ns(network, bytes);
    /* The root's part of a chunk is the longer one, so readers add time only for the last chunk. */
    return chunks * (flags_ns + sg_node_copy_ns(network, chunk)) + sg_node_copy_ns(network, chunk);
}

uint64_t sg_node_barrier_ns(const struct sg_network *network, uint32_t ranks)
{
    return UINT64_C(2) * (ranks - 1) * step_ns(network);
}
