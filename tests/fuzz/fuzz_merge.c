/* Fuzzes the pooling of stagger-bench's JSON outputs: the bytes are once the first file and once
 * another beside a sound one. */
#include "fuzz/fuzz.h"

#include "bench/bench_merge.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_file file = fuzz_file(data, size);
    struct fuzz_file good = fuzz_file((const uint8_t *)sound, sizeof sound - 1);

    merge(good.path, file.path);
    merge(file.path, file.path);
    close(file.file);
    close(good.file);
    return 0;
}
