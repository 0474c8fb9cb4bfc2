/* The critical path for people at a terminal. */
#include "output/format.h"
#include "output/table.h"
#include "report/path/columns.h"
#include "report/path/path.h"
#include "report/path/print.h"

#include <inttypes.h>

enum sg_status sg_path_print(const struct sg_report *report, const struct sg_print_options *options,
                             FILE *out)
{
    const struct sg_path *path = report->critical_path;
    struct sg_table table = {0};
    uint32_t count;

    if (path == NULL || path->row_count == 0)
        return SG_OK;
    fprintf(out, "critical path      %s, %s of it between recorded calls", SG_NS(path->ns),
            SG_SHARE(path->intervals_ns, path->ns));
    if (path->saving_ns > path->saving_error_ns)
        fprintf(out, "; balance would save about %s +-%s (%s)", SG_NS(path->saving_ns),
                SG_NS(path->saving_error_ns), SG_SHARE(path->saving_ns, path->ns));
    fputc('\n', out);
    count = sg_print_count_of_long(options, path->row_count);
    sg_table_show(&table, sg_path_columns, "path share times rank mean saving where");
    for (uint32_t i = 0; i < count; i++)
        sg_table_row(&table, &path->rows[i], path);
    return sg_print_finish(&table, out);
}

void sg_path_print_notes(const struct sg_report *report, const struct sg_print_options *options,
                         FILE *out)
{
    const struct sg_path *path = report->critical_path;
    uint32_t count = path != NULL ? sg_print_count_of_long(options, path->row_count) : 0;

    if (path != NULL && count < path->row_count)
        fprintf(out,
                "note: %" PRIu32 " of %" PRIu32 " parts of the critical path are shown (--top)\n",
                count, path->row_count);
}
