/* The stretch with the most waiting: a lane for each rank, its calls as bars, of which the part that
 * waited stands out, and messages as lines (analysis/page/page_causes.c says what is what). */
"use strict";
(() => {
  const { svg, ns, nsRound, ticks, plot, figure, title } = charts;
  const data = JSON.parse(document.getElementById("data").textContent).stretch;
  if (!data) return;
  const { labels, bars, lines } = data;
  const ranks = [...new Set([...bars.map((bar) => bar[0]), ...lines.flatMap((line) => [line[0], line[2]])])].sort((a, b) => a - b);
  const laneOf = new Map(ranks.map((rank, i) => [rank, i]));
  const length = Math.max(data.length_ns, 1), lane = Math.max(1, Math.min(26, 700 / ranks.length));
  const total = Math.ceil(ranks.length * lane) + 56, step = Math.max(1, Math.ceil(13 / lane));
  const gap = lane > 8 ? 6 : lane > 4 ? 1 : 0; /* lines run between the bars */
  const words = ([rank, label, begin, duration, wait]) =>
    `rank ${rank}: ${labels[label]}, at ${ns(data.from_ns + begin)}, for ${ns(duration)}` + (wait > 0 ? `, waits ${ns(wait)}` : "");

  figure(document.getElementById("stretch-chart"), {
    name: "stretch", title: "Calls and messages by rank",
    about: "Point at a bar for its call. A line connects the call that started a message with its receipt. Threads of a rank share a lane.",
    summary: `${bars.length} calls and ${lines.length} messages of ${ranks.length} ranks.`,
    legend: [["wait", "waits"], ["other", "otherwise in the call"], ...(lines.length ? [["mark", "message"]] : [])],
    table: {
      head: ["rank", "call", "begins", "takes", "waits"],
      rows: bars.map(([rank, label, begin, duration, wait]) => [rank, labels[label], ns(data.from_ns + begin), ns(duration), ns(wait)]),
    },
    draw: (width) => [total, plot(width, total, {
      x: { label: `time since ${ns(data.from_ns)} of the run`, ticks: ticks(length, 6).map((v) => [v / length, nsRound(v)]) },
    }, (g, w) => {
      const x = (value) => (value / length) * w, y = (rank) => laneOf.get(rank) * lane;
      for (const bar of bars) {
        const [rank, , begin, duration, wait] = bar;
        const rect = (kind, time) => g.append(title(svg("rect", {
          class: kind, x: x(begin).toFixed(1), y: (y(rank) + gap / 2).toFixed(2),
          width: Math.max(0.8, x(time)).toFixed(1), height: Math.max(0.5, lane - gap).toFixed(2),
        }), words(bar)));
        rect("other", duration);
        if (wait > 0) rect("wait", Math.min(wait, duration));
      }
      for (const [from, sent, to, received] of lines)
        g.append(title(svg("path", {
          class: "line-mark", "stroke-width": 1,
          d: `M${x(sent).toFixed(1)} ${(y(from) + lane / 2).toFixed(1)}L${x(received).toFixed(1)} ${(y(to) + lane / 2).toFixed(1)}`,
        }), `from rank ${from} at ${ns(data.from_ns + sent)} to rank ${to} at ${ns(data.from_ns + received)}`));
      ranks.forEach((rank, i) => {
        if (i % step === 0) g.append(svg("text", { x: -8, y: i * lane + lane / 2 + 4, "text-anchor": "end" }, String(rank)));
      });
    })],
  });
})();
