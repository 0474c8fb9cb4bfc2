/* Seeded faults: the scenarios' verdicts when one operation of the sources has a weaker order. A
 * site is the place where the code calls the checker. The sources are compiled without inlining,
 * but a compiler may write an operation twice, in a loop's first iteration and in the others:
 * sites of one line are weakened together. All sites that the scenarios reach are tried. */
#include "lib/unit.h"
#include "weak/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITES_MAX 512
#define TEXT_BYTES 160

struct site {
    const void *address;
    uint8_t operation, order;
};

static struct site sites[SITES_MAX];
static int site_count;
static bool is_faulty[SITES_MAX];
static memory_order faulty_order;

static struct {
    const void *address;
    char text[TEXT_BYTES];
} texts[SITES_MAX];

memory_order weak_order_at(const void *address, enum operation operation, memory_order order)
{
    if (address == NULL || order == memory_order_relaxed)
        return order;
    for (int i = 0; i < site_count; i++) {
        if (sites[i].address == address && sites[i].operation == operation &&
            sites[i].order == order)
            return is_faulty[i] ? faulty_order : order;
    }
    if (site_count < SITES_MAX)
        sites[site_count++] = (struct site){address, (uint8_t)operation, (uint8_t)order};
    return order;
}

const char *weak_order_name(memory_order order)
{
    static const char *const names[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};

    return names[order];
}

const char *weak_operation_name(enum operation operation)
{
    static const char *const names[] = {"load", "store", "update", "fence"};

    return names[operation];
}

/* ---- where a site is ---- */

static void find_text(const void *address, char text[TEXT_BYTES])
{
    char self[512], command[700], function[TEXT_BYTES / 2] = "?", place[512] = "?";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length < 0 ? 0 : length] = '\0';
    snprintf(command, sizeof command, "addr2line -f -e '%s' %#lx", self,
             (unsigned long)address - 1);
    FILE *pipe = popen(command, "r");
    if (pipe != NULL) {
        if (fscanf(pipe, "%79s %511s", function, place) != 2)
            place[0] = '\0';
        pclose(pipe);
    }
    const char *base = strrchr(place, '/') != NULL ? strrchr(place, '/') + 1 : place;
    snprintf(text, TEXT_BYTES, "%s %.60s", function, base);
}

const char *weak_site_text(const void *address)
{
    int i = 0;

    if (address == NULL)
        return "the system";
    while (i < SITES_MAX - 1 && texts[i].address != NULL && texts[i].address != address)
        i++;
    if (texts[i].address != address) {
        texts[i].address = address;
        find_text(address, texts[i].text);
    }
    return texts[i].text;
}

static int line_of(const struct site *site)
{
    const char *colon = strrchr(weak_site_text(site->address), ':');

    return colon != NULL ? atoi(colon + 1) : 0;
}

/* One operation as it is written. */
static bool is_same(const struct site *one, const struct site *other)
{
    return one->operation == other->operation && one->order == other->order &&
           strcmp(weak_site_text(one->address), weak_site_text(other->address)) == 0;
}

static bool is_first(int site)
{
    int i = 0;

    while (!is_same(&sites[i], &sites[site]))
        i++;
    return i == site;
}

/* "function" of "function file:line" */
static void name_function(const struct site *site, char name[TEXT_BYTES])
{
    snprintf(name, TEXT_BYTES, "%s", weak_site_text(site->address));
    *strchr(name, ' ') = '\0';
}

/* The site's number among those of its kind in its function. */
static int number_of(const struct site *site)
{
    char function[TEXT_BYTES], other[TEXT_BYTES];
    int number = 1;

    name_function(site, function);
    for (int i = 0; i < site_count; i++) {
        name_function(&sites[i], other);
        number += sites[i].operation == site->operation && sites[i].order == site->order &&
                  strcmp(function, other) == 0 && line_of(&sites[i]) < line_of(site) && is_first(i);
    }
    return number;
}

/* ---- trying ---- */

static const struct weak_unneeded *find_unneeded(const struct weak_unneeded *unneeded,
                                                 const struct site *site, memory_order without)
{
    char function[TEXT_BYTES], operation[TEXT_BYTES];

    name_function(site, function);
    snprintf(operation, sizeof operation, "%s %s",
             weak_operation_name((enum operation)site->operation),
             weak_order_name((memory_order)site->order));
    for (; unneeded != NULL && unneeded->function != NULL; unneeded++) {
        if (strcmp(unneeded->function, function) == 0 &&
            strcmp(unneeded->operation, operation) == 0 && unneeded->nth == number_of(site) &&
            strcmp(unneeded->without, weak_order_name(without)) == 0)
            return unneeded;
    }
    return NULL;
}

/* The orders next weaker, at most two. */
static int weaken(enum operation operation, memory_order order, memory_order weaker[2])
{
    switch (order) {
    case memory_order_seq_cst:
        weaker[0] = operation == OPERATION_LOAD    ? memory_order_acquire
                    : operation == OPERATION_STORE ? memory_order_release
                                                   : memory_order_acq_rel;
        return 1;
    case memory_order_acq_rel:
        weaker[0] = memory_order_acquire;
        weaker[1] = memory_order_release;
        return 2;
    case memory_order_relaxed:
        return 0;
    default:
        weaker[0] = memory_order_relaxed;
        return 1;
    }
}

static bool is_found(const struct weak_scenario *const *scenarios, struct weak_result *result)
{
    for (; *scenarios != NULL; scenarios++) {
        weak_explore(*scenarios, result);
        if (result->failed)
            return true;
    }
    return false;
}

/* The orders weaker than `order`, and, where that is not found, those weaker still. */
static bool try_weaker(const struct site *site, memory_order order,
                       const struct weak_scenario *const *scenarios,
                       const struct weak_unneeded *unneeded)
{
    memory_order weaker[2];
    int count = weaken((enum operation)site->operation, order, weaker);
    bool all_right = true;

    for (int i = 0; i < count; i++) {
        const struct weak_unneeded *listed = find_unneeded(unneeded, site, weaker[i]);
        struct weak_result result;

        for (int k = 0; k < site_count; k++)
            is_faulty[k] = is_same(&sites[k], site);
        faulty_order = weaker[i];
        /* Orders listed as not needed take most of the time: only the full check explores them. */
        bool found = (listed == NULL || unit_in_full()) && is_found(scenarios, &result);
        memset(is_faulty, 0, sizeof is_faulty);
        printf("# %s: %s %s -> %s: %s\n", weak_site_text(site->address),
               weak_operation_name((enum operation)site->operation),
               weak_order_name((memory_order)site->order), weak_order_name(weaker[i]),
               found            ? result.what
               : listed != NULL ? listed->reason
                                : "NOT FOUND");
        if (found == (listed != NULL)) {
            printf("# %s\n", found ? "^ but it is listed as not needed" : "^ and it is not listed");
            all_right = false;
        }
        fflush(stdout);
        if (!found && !try_weaker(site, weaker[i], scenarios, unneeded))
            all_right = false;
    }
    return all_right;
}

bool weak_holds(const struct weak_scenario *const *scenarios)
{
    bool all_right = true;

    for (; *scenarios != NULL; scenarios++) {
        struct weak_result result;

        weak_explore(*scenarios, &result);
        printf("# %s: %lu executions, %lu begun for nothing, %lu with a loop cut short%s%s\n",
               (*scenarios)->name, (unsigned long)result.executions,
               (unsigned long)result.redundant, (unsigned long)result.bounded,
               result.failed ? ": " : "", result.what);
        fflush(stdout);
        all_right = all_right && !result.failed && result.complete;
    }
    return all_right;
}

static bool is_one_of(const struct site *site, const char *const *functions)
{
    char name[TEXT_BYTES];

    if (functions == NULL)
        return true;
    name_function(site, name);
    for (; *functions != NULL; functions++) {
        if (strcmp(*functions, name) == 0)
            return true;
    }
    return false;
}

bool weak_faults(const struct weak_scenario *const *scenarios, const char *const *functions,
                 const struct weak_unneeded *unneeded)
{
    struct weak_result result;
    bool all_right = true;
    int count, tried = 0;

    site_count = 0;
    if (is_found(scenarios, &result)) {
        printf("# without a fault: %s\n", result.what);
        return false;
    }
    count = site_count;
    for (int i = 0; i < count; i++) {
        struct site site = sites[i];

        if (!is_one_of(&site, functions) || !is_first(i))
            continue;
        tried++;
        if (!try_weaker(&site, (memory_order)site.order, scenarios, unneeded))
            all_right = false;
    }
    printf("# %d operations with an order\n", tried);
    return all_right && tried > 0;
}
