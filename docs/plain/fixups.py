"""What the compiler finds behind merge.py, mended: names that meet, one function that nobody calls."""
def edit(path, *pairs):
    text = open(path).read()
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new)
    open(path, "w").write(text)
path = "analysis/report/cause_intervals.c"
text = open(path).read()
begin = text.index("/* The one behind it; NULL: none. */\nstatic const struct sg_sampled_interval *\nsg_intervals_kept_next")
open(path, "w").write(text[:begin] + text[text.index("/* Readings behind a call take"):])
edit("analysis/report/profile_print.c", ("static const struct sg_column columns[]", "static const struct sg_column call_columns[]"),
     ("sizeof columns / sizeof *columns)", "sizeof call_columns / sizeof *call_columns)"),
     ("= {columns, ", "= {call_columns, "), ("= {columns + ", "= {call_columns + "))
edit("analysis/cli/report_command.c", ("static const char text[] =", "static const char help[] ="), (".text = text,", ".text = help,"))
path = "analysis/watch/watch_print.c"
text = open(path).read()
at = text.index("static void put_share(const struct sg_live_view")
open(path, "w").write(text[:at] + text[at:].replace("put_share(const struct sg_live_view", "put_calls_share(const struct sg_live_view").replace("put_share(view, out)", "put_calls_share(view, out)"))
edit("shim/causes/kernel_figures.c", ("static atomic_int kept;", "static atomic_int kept_files;"), ("explicit(&kept, 1", "explicit(&kept_files, 1"))
edit("shim/profile/events.c", ("_Atomic uint64_t taken;", "_Atomic uint64_t taken_records;"), ("explicit(&taken,", "explicit(&taken_records,"))
path = "shim/progress/doorbell.c"
text = open(path).read()
at = text.index("struct sg_progress_table **table, uint32_t *own)")
tail = text[at:].replace("**table, uint32_t *own)", "**made, uint32_t *number)", 1)
for old, new in (("*table = NULL", "*made = NULL"), ("sizeof **table", "sizeof **made"), ("*table = segment", "*made = segment"), ("*own = (uint32_t)", "*number = (uint32_t)")):
    tail = tail.replace(old, new)
open(path, "w").write(text[:at] + tail)
edit("shim/bcs/live/sliced.c", ("static bool is_possible(", "static __attribute__((noinline)) bool is_possible("))
