#include "sim/sim_output.h"

#include "output/column.h"
#include "output/json_output.h"

#include <math.h>
#include <string.h>

#define FORMAT_VERSION 1
#define CELL_BYTES 640
#define DIGITS 9

json_t *sg_sim_real(double value)
{
    return isfinite(value) ? json_real(round(value * 1e3) / 1e3) : json_null();
}

json_t *sg_sim_fitted(const struct sg_network *network)
{
    json_t *list = json_array();

    for (int i = 0; network->fitted[i] != NULL; i++)
        json_array_append_new(list, json_string(network->fitted[i]));
    return list;
}

static json_t *network_of(const struct sg_network *network)
{
    json_t *object = json_pack("{s:s, s:s}", "name", network->name, "source", network->source);
    const char *key;
    double value;

    for (int i = 0; (key = sg_network_value(network, i, &value)) != NULL; i++)
        json_object_set_new(object, key, json_real(value));
    return object;
}

static json_t *output_of(const char *command, const struct sg_sim_common *common)
{
    static const char *const modes[] = {"signal", "thread", "poll"};
    const struct sg_sim_options *options = &common->options;

    if (options->network.name[0] == '\0')
        return json_pack("{s:i, s:s, s:s, s:[]}", "version", FORMAT_VERSION, "command", command,
                         "commit", sg_commit, "rows");
    return json_pack(
        "{s:i, s:s, s:s, s:I, s:s, s:i, s:i, s:o, s:o, s:[]}", "version", FORMAT_VERSION, "command",
        command, "commit", sg_commit, "seed", (json_int_t)options->seed, "mode",
        common->mode_name != NULL ? common->mode_name : modes[options->mode], "iterations",
        (int)options->iterations, "ranks_per_node", (int)options->ranks_per_node, "network",
        network_of(&options->network), "fitted", sg_sim_fitted(&options->network), "rows");
}

/* Lists the rare states that were reached, each as "name: count". */
static json_t *marks_of(const struct sg_world_result *result)
{
    json_t *list = json_array();

    for (int mark = 0; mark < SG_MARK_COUNT; mark++) {
        if (result->marks[mark] > 0)
            json_array_append_new(list, json_sprintf("%s: %llu", sg_mark_names[mark],
                                                     (unsigned long long)result->marks[mark]));
    }
    return list;
}

/* Adds the requests to adapters per iteration, over all endpoints. */
static void add_requests(json_t *row, const struct sg_world_result *result)
{
    static const struct {
        const char *name;
        enum sg_action_kind kinds[2];
    } columns[] = {
        {"sends", {SG_ACTION_SEND, SG_ACTION_SEND}},
        {"releases", {SG_ACTION_MULTICAST, SG_ACTION_MULTICAST}},
        {"writes", {SG_ACTION_WRITE, SG_ACTION_WRITE_RESULT}},
        {"cell_writes", {SG_ACTION_WRITE_CELL, SG_ACTION_WRITE_CELL}},
        {"fetch_adds", {SG_ACTION_FETCH_ADD, SG_ACTION_FETCH_ADD}},
        {"reads", {SG_ACTION_READ, SG_ACTION_READ_CELLS}},
    };

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const enum sg_action_kind *kinds = columns[i].kinds;
        double count = result->requests[kinds[0]];

        if (kinds[1] != kinds[0])
            count += result->requests[kinds[1]];
        json_object_set_new(row, columns[i].name, sg_sim_real(count));
    }
}

void sg_sim_add_stats(json_t *row, const struct sg_world_result *result)
{
    char history[17];

    snprintf(history, sizeof history, "%016llx", (unsigned long long)result->history);
    json_object_set_new(row, "events", json_integer((json_int_t)result->events));
    json_object_set_new(row, "events_s",
                        json_integer((json_int_t)((double)result->events / result->seconds)));
    json_object_set_new(row, "process_bytes",
                        json_integer((json_int_t)(result->bytes_a_process + 0.5)));
    json_object_set_new(row, "history", json_string(history));
    json_object_set_new(row, "marks", marks_of(result));
    add_requests(row, result);
}

/* ---- CSV and text: lists in rows become words */

static json_t *join(const json_t *list)
{
    char text[CELL_BYTES] = "";
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(list) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "; " : "",
                                 json_string_value(json_array_get(list, i)));
    return json_string(text);
}

static void join_lists(json_t *rows)
{
    json_t *row, *value;
    const char *key;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, key, value)
        {
            if (json_is_array(value))
                json_object_set_new(row, key, join(value));
        }
    }
}

/* Repeats the values that all rows share in each row. */
static enum sg_status print_csv(json_t *output, FILE *out)
{
    static const char *const common[] = {"seed", "mode", "iterations", "ranks_per_node", "commit"};
    json_t *rows = json_object_get(output, "rows"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_object_set(row, "network",
                        json_object_get(json_object_get(output, "network"), "name"));
        for (size_t j = 0; j < sizeof common / sizeof *common; j++)
            json_object_set(row, common[j], json_object_get(output, common[j]));
    }
    return sg_csv_print_fields(rows, "\r\n", DIGITS, "sim", out);
}

static void cell_of(const json_t *value, char *cell)
{
    if (json_is_string(value))
        snprintf(cell, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(cell, CELL_BYTES, "%lld", (long long)json_integer_value(value));
    else
        snprintf(cell, CELL_BYTES, "%.*g", DIGITS, json_real_value(value));
}

static long long whole_of(json_t *output, const char *key)
{
    return json_integer_value(json_object_get(output, key));
}

static void print_heading(json_t *output, FILE *out)
{
    json_t *network = json_object_get(output, "network");
    json_t *list;
    const char *fitted;

    if (network == NULL) {
        fprintf(out, "commit %s\n\n", sg_commit);
        return;
    }
    list = join(json_object_get(output, "fitted"));
    fitted = json_string_value(list);
    fprintf(out, "network %s:", json_string_value(json_object_get(network, "name")));
    for (void *at = json_object_iter(network); at != NULL;
         at = json_object_iter_next(network, at)) {
        const json_t *value = json_object_iter_value(at);

        if (json_is_real(value) && json_real_value(value) > 0)
            fprintf(out, " %s %g", json_object_iter_key(at), json_real_value(value));
    }
    fprintf(out,
            "\nseed %lld, %lld iterations, mode %s, %lld ranks per node, commit %s, fitted: %s\n\n",
            whole_of(output, "seed"), whole_of(output, "iterations"),
            json_string_value(json_object_get(output, "mode")), whole_of(output, "ranks_per_node"),
            sg_commit, fitted != NULL && fitted[0] != '\0' ? fitted : "none");
    json_decref(list);
}

static int width_of(json_t *rows, const char *key)
{
    int width = (int)strlen(key);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        char cell[CELL_BYTES];

        cell_of(json_object_get(json_array_get(rows, i), key), cell);
        if ((int)strlen(cell) > width)
            width = (int)strlen(cell);
    }
    return width;
}

/* Prints a line of the table: the cells of a row, or the keys if row is NULL. The heading of the
 * output lists the fitted values; the table leaves them out. */
static void print_line(json_t *rows, json_t *row, FILE *out)
{
    json_t *first = json_array_get(rows, 0);

    for (void *at = json_object_iter(first); at != NULL; at = json_object_iter_next(first, at)) {
        const char *key = json_object_iter_key(at);
        char cell[CELL_BYTES];

        if (strcmp(key, "fitted") == 0)
            continue;
        if (row != NULL)
            cell_of(json_object_get(row, key), cell);
        fprintf(out, json_is_string(json_object_iter_value(at)) ? "%-*s  " : "%*s  ",
                width_of(rows, key), row != NULL ? cell : key);
    }
    fputc('\n', out);
}

static void print_text(json_t *output, FILE *out)
{
    json_t *rows = json_object_get(output, "rows");

    print_heading(output, out);
    print_line(rows, NULL, out);
    for (size_t i = 0; i < json_array_size(rows); i++)
        print_line(rows, json_array_get(rows, i), out);
}

static enum sg_status print_output(json_t *output, enum sg_sim_format format, FILE *out)
{
    enum sg_status status = SG_OK;

    if (format == SG_SIM_JSON) {
        status = sg_json_print(json_incref(output), DIGITS, "sim", out);
    } else {
        join_lists(json_object_get(output, "rows"));
        if (format == SG_SIM_CSV)
            status = print_csv(output, out);
        else
            print_text(output, out);
    }
    return fflush(out) == 0 && !ferror(out) ? status : SG_ERR_SYSTEM;
}

/* ---- a command's rows */

static enum sg_status add_row(json_t *output, sg_sim_measure_row measure, const void *options,
                              int i)
{
    json_t *row;
    enum sg_status status = measure(options, i, &row);

    if (status != SG_OK)
        return status;
    /* Fails if the row is NULL, or if the output is NULL because memory ran out. */
    if (json_array_append_new(json_object_get(output, "rows"), row) == 0)
        return SG_OK;
    sg_log("sim: out of memory");
    return SG_ERR_MEMORY;
}

int sg_sim_print_rows(const char *command, const char *what, const struct sg_sim_common *common,
                      int total, sg_sim_measure_row measure, const void *options)
{
    json_t *output = output_of(command, common);
    struct sg_progress_line progress;
    enum sg_status status = SG_OK;

    sg_progress_line_start(&progress, true);
    for (int i = 0; i < total && status == SG_OK; i++) {
        sg_sim_show(&progress, what, i, total);
        status = add_row(output, measure, options, i);
    }
    sg_progress_line_end(&progress);
    if (status == SG_OK)
        status = print_output(output, common->format, stdout);
    json_decref(output);
    return status == SG_OK ? 0 : 1;
}

void sg_sim_show(struct sg_progress_line *progress, const char *what, int done, int total)
{
    sg_progress_line_show(progress, "stagger: simulating %s, %d of %d", what, done, total);
}
