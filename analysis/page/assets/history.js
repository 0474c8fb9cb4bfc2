/* The charts of a history: each figure over the runs, with the band of noise and the changes. */
"use strict";
(() => {
  const { el, svg, plot, figure, title, ticks, ns, nsRound } = charts;
  const { names, figures } = JSON.parse(document.getElementById("data").textContent);
  const percent = (value) => `${+(100 * value).toFixed(1)}%`;
  const KINDS = [
    ["run", "Run time", ns, nsRound], ["waiting", "Share of rank time waiting for others", percent, percent],
    ["mpi", "Share of rank time in MPI", percent, percent]];

  /* The least and the greatest value drawn, by round steps. */
  function rangeOf(rows) {
    const values = rows.flatMap((row) => row.slice(0, 3)).filter((value) => value !== null);
    const low = Math.min(...values), high = Math.max(...values);
    const marks = ticks((high - low) || high || 1, 4), step = marks[1] || 1;
    const from = Math.max(0, Math.floor(low / step - 0.5) * step), list = [];
    for (let at = from; list.length < 12; at += step) {
      list.push(at);
      if (at >= high) break;
    }
    return list;
  }

  function draw([name, text, exact, round], rows) {
    const known = rows.map((row, i) => [i, ...row]).filter((row) => row[1] !== null);
    if (!known.length) return;
    const marks = rangeOf(rows), from = marks[0], span = marks[marks.length - 1] - from || 1;
    const y = (value) => (value - from) / span, x = (i) => (rows.length > 1 ? i / (rows.length - 1) : 0.5);
    const banded = known.filter((row) => row[2] !== null);
    figure(document.getElementById("over"), {
      name, title: text, about: "One point a run, in the order of time.",
      legend: [["other", "a run"], ["rest", "noise of the runs before it"], ["wait", "the level changes"]],
      summary: `${known.length} runs, from ${exact(known[0][1])} to ${exact(known[known.length - 1][1])}`,
      table: {
        head: ["run", "value", "noise from", "to", "changes"],
        rows: known.map(([i, value, low, high, changed]) => [names[i], exact(value), low === null ? "-" : exact(low),
          high === null ? "-" : exact(high), changed ? "yes" : ""]),
      },
      draw: (width) => [240, plot(width, 240, {
        left: 70, x: { label: "runs", ticks: [0, Math.floor(rows.length / 2), rows.length - 1]
          .filter((i, at, all) => all.indexOf(i) === at).map((i) => [x(i), charts.shorten(names[i], 12)]) },
        y: { ticks: marks.map((value) => [y(value), round(value)]) },
      }, (g, w, h) => {
        const px = (i) => (x(i) * w).toFixed(1), py = (value) => ((1 - y(value)) * h).toFixed(1);
        if (banded.length > 1)
          g.append(svg("path", { class: "rest", "fill-opacity": 0.7,
            d: `M${banded.map((row) => `${px(row[0])} ${py(row[3])}`).join("L")}L${banded.slice().reverse()
              .map((row) => `${px(row[0])} ${py(row[2])}`).join("L")}Z` }));
        known.filter((row) => row[4]).forEach((row) =>
          g.append(svg("path", { class: "guide", d: `M${px(row[0])} 0V${h}` })));
        known.forEach(([i, value, , , changed]) => g.append(title(svg("circle", {
          class: changed ? "wait" : "other", cx: px(i), cy: py(value), r: changed ? 5 : 3,
        }), `${names[i]}: ${exact(value)}`)));
      })],
    });
  }
  KINDS.forEach((kind, i) => draw(kind, figures[i]));
  sortableTable(document.getElementById("history"));
})();
