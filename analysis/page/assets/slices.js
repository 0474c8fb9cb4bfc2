/* Slices of buffered coscheduling, as the node saw them that sends the strobes: the intervals between strobes over the run and
 * how often which came, and what the time of a slice goes to (analysis/page/page_trials.c says what is what). */
"use strict";
(() => {
  const { svg, ns, nsRound, count, ticks, wholeTicks, plot, figure, title } = charts;
  const parent = document.getElementById("slice-charts"), data = JSON.parse(document.getElementById("data").textContent).slices;
  if (!data || !parent) return;
  const { columns, bins, group } = data, n = columns.length;
  const which = ([first, slices]) => slices > 1 ? `${slices} slices from ${first}` : `slice ${first}`;
  const more = group > 1 ? ` A column is ${group} slices.` : "";
  const xTicks = (width) => {
    const step = Math.max(1, Math.floor(n / (width > 600 ? 6 : 3)));
    return columns.map(([first], i) => [(i + 0.5) / n, String(first)]).filter((tick, i) => i % step === 0);
  };

  const known = columns.filter((column) => column[4] > 0), greatest = Math.max(...known.map((column) => column[4]), 1);
  figure(parent, {
    name: "slice-intervals", title: "Time between strobes",
    about: `From the previous slice's strobe, on ${data.comm}: mean, minimum and maximum.${more}`,
    summary: `From ${ns(Math.min(...known.map((column) => column[2])))} to ${ns(greatest)}.`,
    legend: [["mark", "mean"], ["other faint", "from least to greatest"]],
    table: {
      head: ["slices", "least", "mean", "greatest"],
      rows: known.map((column) => [which(column), ns(column[2]), ns(column[3]), ns(column[4])]),
    },
    draw: (width) => [240, plot(width, 240, {
      x: { label: "slice", ticks: xTicks(width) },
      y: { ticks: ticks(greatest, 4).map((v) => [v / greatest, nsRound(v)]).filter((tick) => tick[0] <= 1) },
    }, (g, w, h) => {
      const wide = w / n, y = (v) => h - (v / greatest) * h;
      columns.forEach((column, i) => {
        if (column[4] === 0) return;
        const text = `${which(column)}: ${ns(column[3])}` + (column[1] > 1 ? `, ${ns(column[2])} to ${ns(column[4])}` : "");
        g.append(title(svg("rect", { class: "other faint", x: (i * wide).toFixed(1), y: y(column[4]).toFixed(1), width: Math.max(0.8, wide).toFixed(1), height: Math.max(1, y(column[2]) - y(column[4])).toFixed(1) }), text));
        g.append(title(svg("rect", { class: "mark", x: (i * wide).toFixed(1), y: (y(column[3]) - 1).toFixed(1), width: Math.max(0.8, wide).toFixed(1), height: 2 }), text));
      });
    })],
  });

  if (bins) {
    const width1 = (bins.to - bins.from) / bins.counts.length, most = Math.max(...bins.counts, 1);
    const range = (i) => `${ns(bins.from + i * width1)} ${i === bins.counts.length - 1 ? "or more" : `to ${ns(bins.from + (i + 1) * width1)}`}`;
    figure(parent, {
      name: "slice-histogram", title: "Distribution of the time between strobes",
      about: "The last bar includes all longer times.",
      summary: `Most often ${range(bins.counts.indexOf(most))}.`,
      table: { head: ["time between strobes", "slices"], rows: bins.counts.map((v, i) => [range(i), count(v)]).filter((row, i) => bins.counts[i] > 0) },
      draw: (width) => [240, plot(width, 240, {
        x: { label: "time between strobes", ticks: [0, 0.25, 0.5, 0.75, 1].map((v) => [v, ns(bins.from + v * (bins.to - bins.from))]) },
        y: { ticks: wholeTicks(most, 4).map((v) => [v / most, count(v)]).filter((tick) => tick[0] <= 1) },
      }, (g, w, h) => bins.counts.forEach((v, i) => {
        const wide = w / bins.counts.length, high = (v / most) * h;
        if (v > 0) g.append(title(svg("rect", { class: "other", x: (i * wide).toFixed(1), y: (h - high).toFixed(1), width: Math.max(0.8, wide - 1).toFixed(1), height: high.toFixed(1) }), `${range(i)}: ${count(v)}`));
      }))],
    });
  }

  /* In one strobe all of it takes as long as each part. */
  const apart = columns.every((column) => column[5] + column[6] <= column[7]), longest = Math.max(...columns.map((column) => column[7]), 1);
  const partsOf = (column) => apart
    ? [["wait", "descriptors", column[5]], ["mark", "scheduling", column[6]], ["other", "what runs", column[7] - column[5] - column[6]]]
    : [["other", "all microphases", column[7]]];
  figure(parent, {
    name: "slice-phases", title: "Microphases",
    about: `Mean time from a slice's strobe until all nodes are done.${more}`,
    summary: `At most ${ns(longest)}.`,
    legend: partsOf(columns[0]).map(([kind, name]) => [kind, name]),
    table: {
      head: ["slices", ...partsOf(columns[0]).map((part) => part[1]), "collectives"],
      rows: columns.map((column) => [which(column), ...partsOf(column).map((part) => ns(part[2])), count(column[8])]),
    },
    draw: (width) => [240, plot(width, 240, {
      x: { label: "slice", ticks: xTicks(width) },
      y: { ticks: ticks(longest, 4).map((v) => [v / longest, nsRound(v)]).filter((tick) => tick[0] <= 1) },
    }, (g, w, h) => columns.forEach((column, i) => {
      let below = 0;
      for (const [kind, name, time] of partsOf(column)) {
        const high = (time / longest) * h;
        if (high > 0) g.append(title(svg("rect", { class: kind, x: ((i * w) / n).toFixed(1), y: (h - below - high).toFixed(2), width: Math.max(0.8, w / n - (w / n > 3 ? 1 : 0)).toFixed(1), height: high.toFixed(2) }), `${which(column)}: ${name} ${ns(time)}, ${count(column[8])} collectives`));
        below += high;
      }
    }))],
  });
})();
