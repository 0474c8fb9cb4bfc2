/* The one symbol of libstagger-otf2.so that libstagger.so looks up. */
#include "trace/export/export.h"

__attribute__((visibility("default"))) const struct sg_companion sg_companion = {
    .version = SG_LOG_VERSION,
    .export_archive = sg_export_archive,
    .export_site_names = sg_export_site_names,
    .logread_try = sg_logread_try,
    .logread_close = sg_logread_close,
    .symbols_open = sg_symbols_open,
    .symbols_lookup = sg_symbols_lookup,
    .symbols_close = sg_symbols_close,
};
