/* Why ranks come late, by site and by rank; how one of the latest instances came about, back through the
 * ranks; and the critical path (analysis/page/page_causes.c says what is what). */
"use strict";
(() => {
  const { el, svg, ns, nsRound, count, ticks, plot, figure, title, bars, share, shorten, rankColumns } = charts;
  const { causes, path } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);

  /* Kinds of time have a colour each, and the causes within a kind are of different strength. */
  const looks = {
    "computing": "other", "more work": "other pale", "slower": "other faint", "page faults": "mark", "kernel": "mark pale",
    "preempted": "wait", "preempted by its threads": "wait dim", "preempted by others": "wait thin", "throttled": "wait pale", "asleep": "good", "reading or writing": "good pale",
    "busy in calls": "unsure faint", "preempted in calls": "wait faint", "preempted in calls by its threads": "wait faint dim", "preempted in calls by others": "wait faint thin", "throttled in calls": "wait faint pale", "asleep in calls": "good faint",
    "calls of MPI": "unsure", "left later": "unsure pale", "not told apart": "rest",
  };
  const lookOf = (cause) => looks[causes.names[cause]];
  const legendOf = (used) => causes.names.map((name, i) => [i, name]).filter(([i]) => used.has(i)).map(([i, name]) => [lookOf(i), name]);
  const wordsOf = (parts) => [...parts].sort((a, b) => b[1] - a[1]).map(([cause, time]) => `${causes.names[cause]} ${ns(time)}`).join(", ");

  /* Bars from the left, a lane each: {name, parts: [[class, ns, text]]}. */
  function lanes(width, items, label) {
    const height = 26, total = items.length * height + 50, max = Math.max(...items.map((item) => item.parts.reduce((sum, part) => sum + part[1], 0)), 1);
    const left = Math.min(300, Math.floor(width * 0.42)), letters = Math.max(8, Math.floor((left - 12) / 6.6));
    return [total, plot(width, total, { left, x: { label, ticks: ticks(max, width > 600 ? 5 : 3).map((v) => [v / max, nsRound(v)]) } }, (g, w) => {
      items.forEach((item, i) => {
        let x = 0;
        g.append(title(svg("text", { class: "strong", x: -8, y: i * height + height / 2 + 4, "text-anchor": "end" }, shorten(item.name, letters)), item.name));
        for (const [kind, time, text] of item.parts) {
          const wide = (time / max) * w;
          g.append(title(svg("rect", { class: kind, x: x.toFixed(1), y: i * height + 3, width: Math.max(0.5, wide - (wide > 3 ? 1 : 0)).toFixed(1), height: height - 6 }), text));
          x += wide;
        }
      });
    })];
  }

  function showSites() {
    const items = causes.sites.map((site) => ({
      name: site.name, parts: site.parts.map(([cause, time]) =>
        [lookOf(cause), time, `${site.name}: ${causes.names[cause]} ${ns(time)}, ${share(time, site.late)} of it`]),
    }));
    figure(byId("cause-charts"), {
      name: "causes", title: "By call site", about: "Time that others waited for the last rank, by the cause of its lateness.",
      summary: causes.sites.map((site) => `${site.name}: ${wordsOf(site.parts)}`).join("; "),
      legend: legendOf(new Set(causes.sites.flatMap((site) => site.parts.map(([cause]) => cause)))),
      table: {
        head: ["call site", "instances", "waited", "because of"],
        rows: causes.sites.map((site) => [site.name, count(site.instances), ns(site.late), wordsOf(site.parts)]),
      },
      draw: (width) => lanes(width, items, "waited for the last rank"),
    });
  }

  function showRanks() {
    const columns = Math.ceil(causes.ranks / causes.group), margin = columns > 60 ? 0 : 0.08;
    const { rankText, rankTicks } = rankColumns(causes.ranks, causes.group);
    const of = Array.from({ length: columns }, () => []);
    for (const [column, cause, time] of causes.by_rank) of[column].push([cause, time]);
    const sums = of.map((parts) => parts.reduce((sum, part) => sum + part[1], 0)), max = Math.max(...sums, 1);
    const greatest = sums.indexOf(Math.max(...sums));
    figure(byId("cause-charts"), {
      name: "cause-ranks", title: "By rank of origin",
      about: `Most is caused by ${rankText(greatest)}: ${ns(sums[greatest])}.` + (causes.group > 1 ? ` A bar is the sum of ${causes.group} ranks.` : ""),
      summary: `${rankText(greatest)}: ${wordsOf(of[greatest])}.`,
      legend: legendOf(new Set(causes.by_rank.map((cell) => cell[1]))),
      table: {
        head: ["rank", "others waited", "because of"],
        rows: of.map((parts, i) => [rankText(i).replace(/^ranks? /, ""), ns(sums[i]), wordsOf(parts)]).filter((row, i) => sums[i] > 0),
      },
      draw: (width) => [240, plot(width, 240, {
        x: { label: "rank", ticks: rankTicks(columns) }, y: { ticks: ticks(max, 4).map((v) => [v / max, nsRound(v)]) },
      }, (g, w, h) => bars(g, w, h, of.map((parts, i) => ({
        from: (i + margin) / columns, to: (i + 1 - margin) / columns, parts: parts.map(([cause, time]) => [lookOf(cause), time]),
        text: `${rankText(i)}: ${wordsOf(parts)}`,
      })), max))],
    });
  }

  /* ---- one instance ----------------------------------------------------------------------------- */

  const spentOf = (link) => link.parts.length ? wordsOf(link.parts) : "nothing";
  const betweenOf = (link) => (link.until ? `${link.after} \u2192 ${link.until}` : "-");

  function chainWords(chain, i) {
    const link = chain.links[i];
    return `rank ${link.rank}, ${ns(link.to - link.from)}: ${spentOf(link)}` + (link.until ? `; longest between ${betweenOf(link)}` : "");
  }

  function drawChain(chain, ranks, width) {
    const lane = 30, total = ranks.length * lane + 56, came = chain.links[0].to, end = Math.max(came, 1);
    return [total, plot(width, total, {
      left: 80, x: { label: `time since ${ns(chain.at)} of the run`, ticks: ticks(end, width > 600 ? 6 : 3).map((v) => [v / end, nsRound(v)]) },
    }, (g, w) => {
      const x = (value) => (value / end) * w, y = (rank) => ranks.indexOf(rank) * lane;
      ranks.forEach((rank) => g.append(svg("text", { x: -8, y: y(rank) + lane / 2 + 4, "text-anchor": "end" }, `rank ${rank}`)));
      g.append(title(svg("path", { class: "guide", d: `M${x(chain.first).toFixed(1)} ${y(chain.first_rank) + lane / 2}H${x(came).toFixed(1)}` }),
        `rank ${chain.first_rank} came at ${ns(chain.first)}, and waits ${ns(came - chain.first)}`));
      chain.links.forEach((link, i) => {
        const all = link.parts.reduce((sum, part) => sum + part[1], 0) || 1;
        let from = x(link.from);
        for (const [cause, time] of link.parts) {
          const wide = (time / all) * x(link.to - link.from);
          g.append(title(svg("rect", { class: lookOf(cause), x: from.toFixed(1), y: y(link.rank) + 5, width: Math.max(0.8, wide).toFixed(1), height: lane - 10 }),
            chainWords(chain, i)));
          from += wide;
        }
        const before = chain.links[i + 1];
        if (before)
          g.append(title(svg("path", {
            class: "line-mark firm",
            d: `M${x(before.to).toFixed(1)} ${y(before.rank) + lane / 2}L${x(link.from).toFixed(1)} ${y(link.rank) + lane / 2}`,
          }), `rank ${link.rank} waits in ${before.waited} until rank ${before.rank} is ready`));
      });
    })];
  }

  function showChain(chain) {
    const parent = byId("chain-chart"), ranks = [...new Set([...chain.links.map((link) => link.rank), chain.first_rank])];
    const first = chain.links[chain.links.length - 1];
    parent.replaceChildren();
    figure(parent, {
      name: "chain", title: `How rank ${chain.links[0].rank} came late to ${chain.name}`,
      about: `Others waited ${ns(chain.late)} for it, ${share(chain.because, chain.late)} of that because of: ${causes.names[chain.cause]} on rank ${chain.rank}. ` +
        `The chart follows its path back from the top: if a rank waited in a call, the path continues on the rank that it waited for` +
        (chain.links.length > 1 ? `, and begins on rank ${first.rank}.` : ".") + " Within a bar, times are grouped by kind. The dashed line is the wait of the first rank.",
      summary: chain.links.map((_, i) => chainWords(chain, i)).join("; "),
      legend: [...legendOf(new Set(chain.links.flatMap((link) => link.parts.map(([cause]) => cause)))), ...(chain.links.length > 1 ? [["mark", "waited for"]] : [])],
      table: {
        head: ["rank", "from", "until", "spends it with", "longest between", "was waited for in"],
        rows: chain.links.map((link) => [link.rank, ns(link.from), ns(link.to), spentOf(link), betweenOf(link), link.waited || "-"]),
      },
      draw: (width) => drawChain(chain, ranks, width),
    });
  }

  function startChains() {
    if (!causes.chains.length) return;
    const select = el("select", {}, ...causes.chains.map((chain, i) =>
      el("option", { value: i }, `${ns(chain.late)}: ${chain.name}, ${causes.names[chain.cause]} on rank ${chain.rank}`)));
    byId("chain-controls").append(el("label", {}, "Latest instance of", select));
    select.addEventListener("change", () => showChain(causes.chains[select.value]));
    showChain(causes.chains[0]);
  }

  function showPath() {
    const saves = path.steps.some((step) => step[2] > 0);
    figure(byId("path-chart"), {
      name: "path", title: "Parts of the path",
      about: saves ? "Balancing would save the time of an interval beyond its mean over all ranks." : "",
      summary: path.steps.map(([name, time]) => `${name}: ${ns(time)}`).join("; "),
      legend: [["other", "on the path"], ...(saves ? [["wait", "of it, balance saves"]] : [])],
      table: {
        head: ["interval or call", "on the path", "share", "balance saves"],
        rows: path.steps.map(([name, time, saving]) => [name, ns(time), share(time, path.ns), saving > 0 ? ns(saving) : "-"]),
      },
      draw: (width) => lanes(width, path.steps.map(([name, time, saving]) => {
        const text = `${name}: ${ns(time)}, ${share(time, path.ns)} of the path` + (saving > 0 ? `; balance saves ${ns(saving)}` : "");
        return { name, parts: [["other", time - saving, text], ...(saving > 0 ? [["wait", saving, text]] : [])] };
      }), "on the path"),
    });
  }

  if (causes) {
    showSites();
    showRanks();
    startChains();
    sortableTable(byId("causes"), byId("causes-filters"), byId("causes-shown"), "causes", "Cause");
  }
  if (byId("before")) sortableTable(byId("before"));
  if (path) {
    showPath();
    sortableTable(byId("path"));
  }
})();
