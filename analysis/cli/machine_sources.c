/* The sources of what a rank does between calls (STAGGER_CAUSES), read as a rank reads them. */
#include "causes/reader.h"
#include "cli/machine.h"

#include <inttypes.h>
#include <string.h>

static void print_source(const struct sg_reader *reader, int source, uint64_t cost_ns, FILE *out)
{
    const struct sg_source_facts *facts = &sg_source_table[source];

    if ((reader->mask & sg_source_mask(source)) != 0)
        fprintf(out, "  %s: %" PRIu64 " ns a reading", facts->name, cost_ns);
    else
        fprintf(out, "  %s: not there (%s)", facts->name,
                reader->errors[source] != 0 ? strerror(reader->errors[source])
                                            : "tells nothing that can be read");
    fprintf(out, "; needs %s\n      ", facts->needs);
    for (unsigned i = 0; i < facts->count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", sg_figure_table[facts->first + i].name);
    fputc('\n', out);
}

void sg_machine_print_sources(FILE *out)
{
    static const struct sg_reader_places places = {"/proc", "/sys", NULL};
    uint64_t costs_ns[SG_SOURCE_COUNT];
    struct sg_reader reader;

    sg_reader_open(&reader, &places);
    sg_reader_measure(&reader, costs_ns);
    for (int source = 0; source < SG_SOURCE_COUNT; source++)
        print_source(&reader, source, costs_ns[source], out);
    sg_reader_close(&reader);
}
