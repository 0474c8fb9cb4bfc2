/* The charts of a report, from the data in the page: analysis/page/page_data.c says what is what. */
"use strict";
(() => {
  const { el, svg, ns, nsRound, bytes, count, ticks, wholeTicks, decades, plot, figure, title, choice, bars, steps, shorten, share } = charts;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const table = byId("sites");
  const tableRows = table ? [...table.tBodies[0].rows] : [];

  const nameOf = (site) => `${site.op} at ${site.site} on ${site.comm}`;

  /* ---- one call site --------------------------------------------------------------------------- */

  const skewLow = (bin) => (bin === 0 ? 0 : 2 ** ((bin - 1) / data.skew_octave));

  function skewChart(parent, site) {
    const bins = site.skews, max = Math.max(...bins, 1);
    const used = bins.map((n, i) => [n, i]).filter(([n, i]) => n > 0 && i > 0).map(([, i]) => i);
    const first = used.length ? used[0] : 1, last = used.length ? used[used.length - 1] : 2;
    const low = Math.log10(skewLow(first)), high = Math.log10(skewLow(last + 1));
    const zero = bins[0] > 0 ? 0.07 : 0; /* room for the bar of no skew */
    const at = (value) => zero + (1 - zero) * ((Math.log10(value) - low) / Math.max(1e-9, high - low));
    let marks = decades(10 ** low, 10 ** high);
    if (marks.length < 2) marks = [10 ** low, 10 ** high];
    const list = bins.map((n, i) => ({
      from: i ? at(skewLow(i)) : 0, to: i ? at(skewLow(i + 1)) : zero, parts: [["wait", n]],
      text: `${i ? `${ns(skewLow(i))} to ${ns(skewLow(i + 1))}` : "0ns"}: ${count(n)}`, n,
    })).filter((bar) => bar.n > 0);
    figure(parent, {
      name: "skew", title: "Skew of its instances",
      about: !site.instances ? "No instances: most of their members called from elsewhere."
        : `How far apart the ranks arrive; half of ${count(site.instances)} instances have at most ${ns(site.p50)}, 95% at most ${ns(site.p95)}.`,
      summary: site.instances && `Histogram on a logarithmic axis from ${nsRound(10 ** low)} to ${nsRound(10 ** high)}.`,
      table: site.instances && { head: ["skew", "instances"], rows: list.map((bar) => bar.text.split(": ")) },
      draw: site.instances && ((width) => [220, plot(width, 220, {
        x: { label: "skew", ticks: [...(zero ? [[zero / 2, "0"]] : []), ...marks.map((v) => [at(v), marks.length > 2 ? nsRound(v) : ns(v)])] },
        y: { ticks: wholeTicks(max, 4).map((v) => [v / max, count(v)]) },
      }, (g, w, h) => {
        bars(g, w, h, list, max);
        for (const [value, text] of [[site.p50, "median"], [site.p95, "95%"]]) {
          if (!(value > 0)) continue;
          const x = Math.min(1, Math.max(0, at(value))) * w;
          g.append(title(svg("path", { class: "guide", d: `M${x} 0V${h}` }), `${text}: ${ns(value)}`));
        }
      })]),
    });
  }

  function costChart(parent, site) {
    const bins = site.costs.flatMap(([wait, blocked]) => [wait, blocked]);
    const least = Math.max(0, Math.min(...bins, 30)), most = Math.max(...bins, least + 3) + 1;
    const span = most - least, max = Math.max(...site.costs.map((cell) => cell[2]), 1);
    const low = (bin) => 2 ** (bin - 1 + data.cost_log2);
    const text = (bin) => (bin === 0 ? `below ${ns(low(1))}` : `${ns(low(bin))} to ${ns(low(bin + 1))}`);
    const marks = [];
    if (least === 0) marks.push([0.5 / span, `<${ns(low(1))}`]);
    for (const value of decades(low(Math.max(1, least)), low(most)))
      marks.push([(Math.log2(value) - data.cost_log2 + 1 - least) / span, nsRound(value)]);
    figure(parent, {
      name: "cost", title: "Wait against blocked",
      about: "Each call by its wait and its time in the call. On the line, all of it was waiting; above the line, the operation itself took time.",
      summary: `${site.costs.length} cells; the strongest stands for ${count(max)} calls.`,
      table: { head: ["wait", "blocked", "calls"], rows: site.costs.map(([w, b, n]) => [text(w), text(b), count(n)]) },
      draw: (width) => [260, plot(width, 260, {
        left: 74, x: { label: "wait", ticks: marks }, y: { ticks: marks },
      }, (g, w, h) => {
        g.append(svg("path", { class: "guide", d: `M0 ${h}L${w} 0` }));
        g.append(svg("text", { x: 4, y: 10 }, "blocked"));
        for (const [wait, blocked, n] of site.costs)
          g.append(title(svg("rect", {
            class: "other", x: (((wait - least) / span) * w).toFixed(1), y: (h - ((blocked - least + 1) / span) * h).toFixed(1),
            width: Math.max(1, w / span - 0.5).toFixed(1), height: Math.max(1, h / span - 0.5).toFixed(1),
            "fill-opacity": (0.15 + 0.85 * (Math.log(n + 1) / Math.log(max + 1))).toFixed(2),
          }), `wait ${text(wait)}, blocked ${text(blocked)}: ${count(n)} calls`));
      })],
    });
  }

  /* Lines over the run. lines: [[class, name, values]]; show formats them. */
  function timeChart(parent, site, options) {
    const run = Math.max(data.run_ns, 1), across = site.width_ns / run;
    const bins = Math.min(site.times.length, Math.ceil(1 / across));
    const lines = options.lines.map(([kind, name, values]) => [kind, name, values.slice(0, bins)]);
    const max = Math.max(...lines.flatMap(([, , values]) => values), 0);
    const yTicks = options.whole ? wholeTicks(max, 4) : ticks(max, 4);
    const scale = Math.max(max, yTicks[yTicks.length - 1], 1e-9);
    figure(parent, {
      name: options.name, title: options.title, about: max > 0 ? options.about : options.none,
      legend: max > 0 ? lines.map(([kind, name]) => [kind, name]) : null,
      summary: lines.map(([, name, values]) => `${name}: at most ${options.show(Math.max(...values, 0))}`).join("; "),
      table: max > 0 && {
        head: ["from", ...lines.map(([, name]) => name)],
        rows: lines[0][2].map((_, i) => [ns(i * site.width_ns), ...lines.map(([, , values]) => options.show(values[i]))]),
      },
      draw: max > 0 && ((width) => [200, plot(width, 200, {
        x: { label: "time in the run", ticks: ticks(run, 5).map((v) => [v / run, nsRound(v)]) },
        y: { ticks: yTicks.map((v) => [v / scale, options.whole ? count(v) : nsRound(v)]) },
      }, (g, w, h) => {
        for (const [kind, , values] of lines) steps(g, w, h, values, scale, across, `line-${kind}`);
      })]),
    });
  }

  function sizeChart(parent, site) {
    const low = (bin) => (bin === 0 ? 0 : 2 ** (bin - 1));
    const text = (bin) => (bin < 2 ? bytes(low(bin)) : `${bytes(low(bin))} to ${bytes(low(bin + 1) - 1)}`);
    const used = site.sizes.map((n, i) => [n, i]).filter(([n]) => n > 0);
    const first = used.length ? used[0][1] : 0, last = used.length ? used[used.length - 1][1] : 0;
    const span = Math.max(8, last - first + 1), max = Math.max(...site.sizes, 1);
    figure(parent, {
      name: "size", title: "Message sizes", about: "Calls by the bytes of their operand.",
      summary: used.map(([n, i]) => `${text(i)}: ${count(n)} calls`).join("; "),
      table: { head: ["bytes", "calls"], rows: used.map(([n, i]) => [text(i), count(n)]) },
      draw: (width) => [200, plot(width, 200, {
        x: { label: "bytes, from", ticks: Array.from({ length: span }, (_, i) => [(i + 0.5) / span, bytes(low(first + i))]) },
        y: { ticks: wholeTicks(max, 4).map((v) => [v / max, count(v)]) },
      }, (g, w, h) => bars(g, w, h, used.map(([n, i]) => ({
        from: (i - first + 0.1) / span, to: (i - first + 0.9) / span, parts: [["other", n]], text: `${text(i)}: ${count(n)} calls`,
      })), max))],
    });
  }

  function showSite(site) {
    const parent = byId("one-charts");
    const times = (i) => site.times.map((time) => time[i]);
    byId("one-title").textContent = `One call site: ${nameOf(site)}`;
    parent.replaceChildren();
    skewChart(parent, site);
    costChart(parent, site);
    timeChart(parent, site, {
      name: "skew-time", title: "Skew over the run", about: "Largest and mean per time interval.", show: ns,
      none: "All ranks arrived together.",
      lines: [["wait", "largest", times(2)], ["other", "mean", site.times.map((t) => (t[0] ? t[1] / t[0] : 0))]],
    });
    timeChart(parent, site, {
      name: "wait-time", title: "Wait and blocked over the run", about: "Sums over all ranks.", show: ns, none: "No time was spent.",
      lines: [["other", "blocked", times(4)], ["wait", "wait", times(3)]],
    });
    timeChart(parent, site, {
      name: "messages", title: "Messages and signals over the run", whole: true, show: count,
      about: "Early: arrived before the call. Late: handled after it had returned.",
      none: "No early or late messages, no signals.",
      lines: [["other", "early", times(5)], ["wait", "late", times(6)], ["mark", "signals", times(7)]],
    });
    sizeChart(parent, site);
    tableRows.forEach((row) => row.classList.toggle("chosen", row === site.tableRow));
  }

  function startSites() {
    if (!data.sites.length) return;
    const select = el("select", { id: "one-select" }, ...data.sites.map((site, i) => el("option", { value: i }, nameOf(site))));
    byId("one").hidden = false;
    byId("one-controls").append(el("label", {}, "Call site", select));
    select.addEventListener("change", () => showSite(data.sites[select.value]));
    data.sites.forEach((site, i) => {
      site.tableRow = tableRows[site.row];
      if (!site.tableRow) return;
      const cell = site.tableRow.cells[1];
      const button = el("button", { type: "button", class: "link" }, cell.textContent);
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        select.value = i;
        showSite(site);
        byId("one").scrollIntoView({ block: "start" });
        select.focus({ preventScroll: true });
      });
    });
    showSite(data.sites[0]);
  }

  /* ---- ranks by call site ---------------------------------------------------------------------- */

  const { rankText, rankTicks } = charts.rankColumns(data.ranks, data.group);

  function heatChart(parent, mode) {
    const sites = data.sites.filter((site) => site.late).slice(0, 20);
    const columns = sites[0].late.length, height = 22;
    const cellsOf = (site) => (mode === "late" ? site.late : site.wait);
    const max = Math.max(...sites.flatMap((site) => cellsOf(site).map((cell) => (cell ? cell[0] : 0))), 1);
    const strength = (value) => (value <= 0 ? 0 : Math.max(0.04, 1 + Math.log10(value / max) / 2));
    const what = mode === "late" ? "comes on average" : "waits in all";
    const after = mode === "late" ? " after the first" : "";
    const worst = sites.map((site) => cellsOf(site).reduce((best, cell) => (cell && (!best || cell[0] > best[0]) ? cell : best), null));
    parent.replaceChildren();
    figure(parent, {
      name: "heat", title: mode === "late" ? "How late each rank arrives, by call site" : "How long each rank waits, by call site",
      about: `${mode === "late" ? "Mean time after the first arrival" : "Sum over the run"}; full colour is ${ns(max)}, half of it a tenth of that.` +
        (data.group > 1 ? ` Of ${data.group} ranks in a column the one with most.` : ""),
      summary: sites.map((site, i) => (worst[i] ? `${nameOf(site)}: most is rank ${worst[i][1]} with ${ns(worst[i][0])}` : "")).join("; "),
      table: {
        head: ["call site", "most: rank", mode === "late" ? "late by" : "wait"],
        rows: sites.map((site, i) => [nameOf(site), worst[i] ? worst[i][1] : "-", worst[i] ? ns(worst[i][0]) : "-"]),
      },
      draw: (width) => {
        const left = Math.min(250, Math.floor(width * 0.36)), total = sites.length * height + 50;
        const letters = Math.max(8, Math.floor((left - 12) / 6.6));
        return [total, plot(width, total, { left, x: { label: "rank", ticks: rankTicks(columns) } }, (g, w) => {
          sites.forEach((site, row) => {
            const label = `${site.op} ${site.site}`;
            const short = shorten(label, letters);
            g.append(title(svg("text", { class: "strong", x: -8, y: row * height + 15, "text-anchor": "end" }, short), nameOf(site)));
            cellsOf(site).forEach((cell, column) => {
              const x = (column / columns) * w, size = Math.max(0.6, w / columns - (columns > 60 ? 0 : 1));
              if (!cell) return;
              g.append(title(svg("rect", {
                class: "wait", x: x.toFixed(1), y: row * height + 1, width: size.toFixed(1), height: height - 2,
                "fill-opacity": strength(cell[0]).toFixed(2),
              }), `${nameOf(site)}: ${data.group > 1 ? `of ${rankText(column)} ` : ""}rank ${cell[1]} ${what} ${ns(cell[0])}${after}`));
            });
          });
        })];
      },
    });
  }

  function startHeat() {
    if (!data.sites.some((site) => site.late)) return;
    byId("heat").hidden = false;
    choice(byId("heat-controls"), "Show", "heat-mode", [["late", "who is late"], ["wait", "who waits"]],
      (mode) => heatChart(byId("heat-chart"), mode));
    heatChart(byId("heat-chart"), "late");
  }

  /* ---- worst instances -------------------------------------------------------------------------- */

  function showWorst(worst) {
    const parent = byId("worst-chart"), parts = worst.parts, n = parts.length;
    const end = Math.max(...parts.map((part) => part[2]), ...worst.late.map((late) => late[1] + late[2]), 1);
    const lane = Math.min(20, 640 / n), total = Math.ceil(n * lane) + 56;
    const last = parts.reduce((best, part) => (part[1] > best[1] ? part : best));
    const laneOf = new Map(parts.map((part, i) => [part[0], i]));
    const step = Math.max(1, Math.ceil(13 / lane));
    const gap = lane > 4 ? 1 : -0.5;
    parent.replaceChildren();
    figure(parent, {
      name: "worst", title: `${nameOf(worst)}, instance ${count(worst.seq)}`,
      about: `At ${ns(worst.at_ns)} in the run; ${ns(worst.skew_ns)} from the first arrival to the last, rank ${last[0]}'s.` +
        (worst.step > 1 ? ` Of ${worst.step} ranks each the one that comes last is shown.` : "") +
        (worst.late_count > worst.late.length ? ` Of ${count(worst.late_count)} late contributions ${worst.late.length} are shown.` : ""),
      summary: `${count(worst.ranks)} ranks from arrival to departure; rank ${last[0]} arrives last.`,
      legend: [["wait", "waits for the last"], ["other", "in the call"], ...(worst.late.length ? [["mark", "handles a late contribution"]] : [])],
      table: {
        head: ["rank", "arrives", "leaves", "waits"],
        rows: parts.map(([rank, from, to, wait]) => [rank, ns(from), ns(to), ns(wait)]),
      },
      draw: (width) => [total, plot(width, total, {
        x: { label: "time since the first arrival", ticks: ticks(end, 6).map((v) => [v / end, nsRound(v)]) },
      }, (g, w) => {
        const x = (value) => (value / end) * w;
        const bar = (kind, from, to, row, text) => {
          if (to > from || kind !== "wait")
            g.append(title(svg("rect", {
              class: kind, x: x(from).toFixed(1), y: +(row * lane).toFixed(2), width: Math.max(1.5, x(to) - x(from)).toFixed(1), height: +(lane - gap).toFixed(2),
            }), text));
        };
        parts.forEach(([rank, from, to, wait], row) => {
          const text = `rank ${rank}: arrives ${ns(from)}, leaves ${ns(to)}, waits ${ns(wait)}`;
          bar("other", from, to, row, text);
          bar("wait", from, Math.min(to, from + wait), row, text);
          if (row % step === 0)
            g.append(svg("text", { x: -8, y: row * lane + lane / 2 + 4, "text-anchor": "end" }, String(rank)));
        });
        for (const [rank, from, length] of worst.late)
          if (laneOf.has(rank)) bar("mark", from, from + length, laneOf.get(rank), `rank ${rank} handles a late contribution at ${ns(from)}, for ${ns(length)}`);
      })],
    });
  }

  function startWorst() {
    if (!data.worst.length) return;
    const select = el("select", {}, ...data.worst.map((worst, i) =>
      el("option", { value: i }, `${ns(worst.skew_ns)}: ${nameOf(worst)}, instance ${worst.seq}`)));
    byId("worst").hidden = false;
    byId("worst-controls").append(el("label", {}, "Instance", select));
    select.addEventListener("change", () => showWorst(data.worst[select.value]));
    showWorst(data.worst[0]);
  }

  /* ---- ranks ------------------------------------------------------------------------------------ */

  function startRanks() {
    if (!byId("ranks")) return;
    const columns = data.by_rank.length, margin = columns > 60 ? 0 : 0.08;
    const max = Math.max(...data.by_rank.map(([run, blocked]) => Math.max(run, blocked)), 1);
    const list = data.by_rank.map(([run, blocked, wait], i) => ({
      from: (i + margin) / columns, to: (i + 1 - margin) / columns,
      parts: [["wait", wait], ["other", Math.max(0, blocked - wait)], ["rest", Math.max(0, run - blocked)]],
      text: `${rankText(i)}: ${ns(run)} of rank time, blocked ${ns(blocked)} (${share(blocked, run)}), waiting ${ns(wait)}`,
    }));
    byId("ranks").hidden = false;
    figure(byId("ranks-chart"), {
      name: "ranks", title: "Use of each rank's time", about: data.group > 1 ? `Means of ${data.group} ranks each.` : "",
      legend: [["wait", "waiting in collectives"], ["other", "otherwise in collectives"], ["rest", "elsewhere"]],
      summary: `${data.ranks} ranks.`,
      table: {
        head: ["rank", "rank time", "blocked", "of it", "waiting"],
        rows: data.by_rank.map(([run, blocked, wait], i) => [rankText(i).replace(/^ranks? /, ""), ns(run), ns(blocked), share(blocked, run), ns(wait)]),
      },
      draw: (width) => [240, plot(width, 240, {
        x: { label: "rank", ticks: rankTicks(columns) },
        y: { ticks: ticks(max, 4).map((v) => [v / max, nsRound(v)]) },
      }, (g, w, h) => bars(g, w, h, list, max))],
    });
  }

  if (data.events) {
    startSites();
    startHeat();
    startWorst();
    startRanks();
  }
  for (const [name, word, by] of [["sites", "call sites", "Operation"], ["comms", "rows", "Operation"],
    ["functions"], ["calls", "call sites", "Function"], ["pairs"],
    ["skews", "call sites", "Function"], ["waits", "wait states", "State"], ["wait-pairs", "pairs", "State"]])
    if (byId(name)) sortableTable(byId(name), byId(`${name}-filters`), byId(`${name}-shown`), word, by);
})();
