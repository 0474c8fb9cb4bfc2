/* Fuzzes the readers of JSON files: of stagger-bench's outputs, which are pooled, where the bytes
 * are once the first file and once another beside a sound one; and of a history, where each line is
 * a run's file, and the page and the badge are written. */
#include "fuzz/directory.h"

#include "bench/bench_merge.h"
#include "compare/run_history.h"
#include "page/page.h"

#include <math.h>

#define RUNS_MAX 40

static const char sound[] =
    "{\"version\":1,\"command\":\"latency\",\"ranks\":2,\"results\":[{\"op\":\"barrier\",\"bytes\":"
    "0,"
    "\"algorithm\":\"rules\",\"vs\":\"mpich\",\"scheme\":\"window\",\"samples_us\":[1,2,3,4,5,6,7],"
    "\"vs_samples_us\":[2,3,4,5,6,7,8]}]}";

static void merge(char *one, char *other)
{
    char *paths[] = {one, other};
    json_t *merged = NULL;

    if (sg_bench_merge(paths, 2, &merged) != SG_OK)
        return;
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL)
        abort();
    sg_bench_merge_print(merged, out);
    fclose(out);
    json_decref(merged);
}

static void write_runs(const char *directory, const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;

    for (int i = 0; i < RUNS_MAX && data < end; i++) {
        const uint8_t *line = memchr(data, '\n', (size_t)(end - data));
        size_t length = (size_t)((line != NULL ? line : end) - data);
        char path[256];

        snprintf(path, sizeof path, "%s/%d.run.json", directory, i);
        FILE *file = fopen(path, "w");
        if (file == NULL || fwrite(data, 1, length, file) != length || fclose(file) != 0)
            abort();
        data += length + 1;
    }
}

static void read_history(const uint8_t *data, size_t size)
{
    const char *directory = fuzz_directory();
    struct sg_run_history history;

    write_runs(directory, data, size);
    if (sg_run_history_read(directory, &history) != SG_OK)
        return;
    fuzz_holds(history.count > 0 && history.count <= RUNS_MAX, "a history has runs");
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++)
        fuzz_holds(history.first[figure] < history.count &&
                       history.change[figure] <= history.count && !isinf(history.level[figure]),
                   "levels begin in the history and are finite");
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL)
        abort();
    sg_page_write_history(&history, out);
    sg_page_write_badge(&history, out);
    fclose(out);
    sg_run_history_clear(&history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_file file = fuzz_file(data, size);
    struct fuzz_file good = fuzz_file((const uint8_t *)sound, sizeof sound - 1);

    merge(good.path, file.path);
    merge(file.path, file.path);
    read_history(data, size);
    close(file.file);
    close(good.file);
    return 0;
}
