/* The chart of a comparison, from the rows of its table. */
"use strict";
(() => {
  const { el, svg, plot, figure, title, ticks, shorten } = charts;
  const byId = (id) => document.getElementById(id);
  for (const [name, word, by] of [["functions", "functions", "Function"], ["calls", "call sites", "Function"],
    ["waits", "wait states", "State"]])
    if (byId(name)) sortableTable(byId(name), byId(`${name}-filters`), byId(`${name}-shown`), word, by);
  const table = byId("sites");
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const several = table.hasAttribute("data-several");
  const SHOWN = 30, LEAST = -1, MOST = 2; /* changes beyond are drawn at the edge */

  function itemOf(row) {
    const number = (cell, name) => (cell.dataset[name] === undefined ? null : +cell.dataset[name]);
    const [a, change, interval] = [5, 8, 9].map((i) => row.cells[i]);
    const mean = number(a, "v"), low = number(interval, "low");
    if (!(mean > 0) || number(change, "v") === null) return null;
    return {
      name: `${row.cells[0].textContent} ${row.cells[1].textContent}`, change: number(change, "v"),
      low: low === null ? null : low / mean, high: low === null ? null : number(interval, "high") / mean,
      verdict: row.cells[10].classList[1], words: row.cells[10].textContent,
    };
  }
  const percent = (value) => `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(100 * value).toFixed(1)}%`;

  function draw(measure) {
    const items = rows.filter((row) => row.dataset.measure === measure).slice(0, SHOWN).map(itemOf).filter(Boolean);
    const parent = byId("changes"), lane = 24, total = items.length * lane + 50;
    parent.replaceChildren();
    const values = items.flatMap((item) => [item.change, item.low, item.high]).filter((v) => v !== null);
    const reach = Math.max(0.05, ...values.map(Math.abs));
    const least = Math.max(LEAST, -reach), most = Math.min(MOST, reach), span = most - least;
    const marks = ticks(most, 3).slice(1);
    const all = [...ticks(-least, 3).slice(1).map((v) => -v).reverse(), 0, ...marks];
    figure(parent, {
      name: "changes", title: `Change from A to B of ${measure} per call`,
      about: items.length ? "With the 95% interval, if there are enough instances." : "No call site has a figure in both runs.",
      legend: items.length ? several ? [["other", "less in B"], ["wait", "more in B"], ["unsure", "not told apart"]]
        : [["unsure", "two runs do not show which side is better"]] : null,
      summary: items.map((item) => `${item.name}: ${percent(item.change)}, ${item.words}`).join("; "),
      table: items.length && {
        head: ["call site", "change", "from", "to", "verdict"],
        rows: items.map((item) => [item.name, percent(item.change), item.low === null ? "-" : percent(item.low),
          item.high === null ? "-" : percent(item.high), item.words]),
      },
      draw: items.length && ((width) => {
        const left = Math.min(280, Math.floor(width * 0.4)), letters = Math.max(8, Math.floor((left - 12) / 6.6));
        const at = (value) => (Math.min(most, Math.max(least, value)) - least) / span;
        return [total, plot(width, total, {
          left, x: { label: "change", ticks: all.map((v) => [at(v), v === 0 ? "0" : `${v > 0 ? "+" : "\u2212"}${Math.round(Math.abs(v) * 1000) / 10}%`]) },
        }, (g, w, h) => {
          g.append(svg("path", { class: "guide", d: `M${at(0) * w} 0V${h}` }));
          items.forEach((item, i) => {
            const y = i * lane + lane / 2;
            const kind = item.verdict === "less" ? "other" : item.verdict === "more" ? "wait" : "unsure";
            const text = shorten(item.name, letters);
            const words = `${item.name}: ${percent(item.change)}, ${item.words}`;
            g.append(title(svg("text", { class: "strong", x: -8, y: y + 4, "text-anchor": "end" }, text), words));
            if (item.low !== null)
              g.append(title(svg("rect", {
                class: kind, x: (at(item.low) * w).toFixed(1), y: y - 3, height: 6,
                width: Math.max(1, (at(item.high) - at(item.low)) * w).toFixed(1), "fill-opacity": 0.55,
              }), words));
            g.append(title(svg("circle", { class: kind, cx: (at(item.change) * w).toFixed(1), cy: y, r: 5 }), words));
          });
        })];
      }),
    });
    rows.forEach((row) => { row.dataset.left = row.dataset.measure === measure ? "" : "out"; });
  }

  const set = el("fieldset", {}, el("legend", {}, "Per call"));
  [["blocked", "time blocked"], ["wait", "wait"], ["processor", "time in and outside of calls"]].forEach(([value, text], i) => {
    const input = el("input", { type: "radio", name: "measure", value });
    input.checked = i === 0;
    input.addEventListener("change", () => { draw(value); filter(); });
    set.append(el("label", {}, input, ` ${text}`));
  });
  byId("measures").append(set);
  const filter = sortableTable(table, byId("sites-filters"), byId("sites-shown"), "rows");
  draw("blocked");
  filter();
})();
