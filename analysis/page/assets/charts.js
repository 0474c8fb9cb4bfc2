/* Drawing: SVG by hand, so that a chart follows the page's colours, prints, and can be read with its
 * figures as a table beside it. Text from the program only ever becomes text nodes. */
"use strict";
const charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /* Figures as the text report has them: three digits. */
  function threeDigits(value) {
    return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  }
  function ns(value) {
    if (value < 1000) return `${Math.round(value)}ns`;
    let unit = -1;
    while (unit < 2 && (unit < 0 || value >= 999.5)) { value /= 1000; unit++; }
    return threeDigits(value) + ["us", "ms", "s"][unit];
  }
  function bytes(value) {
    if (value < 1024) return `${value}B`;
    let unit = -1;
    while (unit < 5 && (unit < 0 || value >= 1023.5)) { value /= 1024; unit++; }
    return (Number.isInteger(value) ? value : threeDigits(value)) + ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit];
  }
  /* Of round values, on axes: 20us, not 20.0us. */
  function nsRound(value) {
    if (value <= 0) return "0";
    const unit = value < 1e3 ? 0 : value < 1e6 ? 1 : value < 1e9 ? 2 : 3;
    return `${+(value / 1000 ** unit).toPrecision(6)}${["ns", "us", "ms", "s"][unit]}`;
  }
  const count = (value) => value.toLocaleString("en-US").replace(/,/g, "\u2009");

  /* About n round values from 0 to max. */
  function ticks(max, n) {
    if (!(max > 0)) return [0];
    const rough = max / n, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough * 0.999);
    const list = [];
    for (let value = 0; value <= max * 1.0001; value += step) list.push(value);
    return list;
  }
  function wholeTicks(max, n) {
    return [...new Set(ticks(max, n).map(Math.round))];
  }
  function decades(low, high) {
    const list = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) list.push(10 ** e);
    return list;
  }

  let number = 0;

  /* A frame with axes. x, y: {label, ticks: [[position 0..1, text]]}, y bare: without lines across;
     draw(g, w, h) draws inside. */
  function plot(width, height, options, draw) {
    const left = options.left || 62, right = 12, top = options.top || 8, bottom = options.bottom || 42;
    const w = Math.max(60, width - left - right), h = height - top - bottom;
    const g = svg("g", { transform: `translate(${left} ${top})` });
    g.append(svg("path", { class: "axis", d: `M0 0V${h}H${w}` }));
    let lastEnd = -1e9;
    for (const [at, text] of options.x.ticks) {
      const x = at * w, half = text.length * 3.9;
      g.append(svg("path", { class: "axis", d: `M${x} ${h}v5` }));
      const anchor = x + half > w + right ? "end" : "middle";
      const start = anchor === "end" ? w + right - 2 * half : x - half;
      if (start < lastEnd + 6) continue;
      lastEnd = start + 2 * half;
      g.append(svg("text", { x: anchor === "end" ? w + right : x, y: h + 18, "text-anchor": anchor }, text));
    }
    let lastLine = 1e9;
    for (const [at, text] of options.y ? options.y.ticks : []) {
      g.append(svg("path", { class: "axis", d: `M-5 ${h - at * h}H${at > 0 && !options.y.bare ? w : 0}` }));
      if (lastLine - (h - at * h) < 13) continue;
      lastLine = h - at * h;
      g.append(svg("text", { x: -8, y: h - at * h + 4, "text-anchor": "end" }, text));
    }
    g.append(svg("text", { x: w, y: h + 35, "text-anchor": "end" }, options.x.label));
    draw(g, w, h);
    return g;
  }

  /* A chart with caption, legend and its figures as a table. draw(width) gives [height, node]; where
     there is nothing to draw it is false. */
  function figure(parent, options) {
    const id = `chart-${++number}`;
    const drawing = el("div");
    const table = el("details", {}, el("summary", { "aria-label": `Figures of: ${options.title}` }, "Figures"));
    const node = el("figure", { "data-chart": options.name },
      el("figcaption", {}, el("b", { id }, options.title), el("span", {}, options.about || "")));
    if (options.legend)
      node.append(el("ul", { class: "legend" }, ...options.legend.map(([kind, text]) =>
        el("li", { class: kind }, el("i", { "aria-hidden": "true" }), text))));
    node.append(drawing);
    if (options.table) node.append(table);
    parent.append(node);

    let drawn = 0;
    function render() {
      const width = Math.max(240, Math.floor(drawing.clientWidth || parent.clientWidth || 480));
      if (width === drawn) return;
      drawn = width;
      const [height, content] = options.draw(width);
      drawing.replaceChildren(svg("svg", {
        viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
        "aria-label": `${options.title}. ${options.summary || ""}`,
      }, content));
    }
    if (options.draw) render();
    if (options.draw) new ResizeObserver(() => window.requestAnimationFrame(render)).observe(node);
    table.addEventListener("toggle", () => {
      if (!table.open || table.children.length > 1) return;
      const body = el("tbody", {}, ...options.table.rows.map((row) =>
        el("tr", {}, ...row.map((cell, i) => el(i ? "td" : "th", i ? {} : { scope: "row" }, String(cell))))));
      table.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": id },
        el("table", {}, el("thead", {}, el("tr", {},
          ...options.table.head.map((text) => el("th", { scope: "col" }, text)))), body)));
    });
    return node;
  }

  function title(node, text) {
    node.append(svg("title", {}, text));
    return node;
  }

  /* A choice of a few, as radio buttons. */
  function choice(parent, legend, name, options, change) {
    const set = el("fieldset", {}, el("legend", {}, legend));
    options.forEach(([value, text], i) => {
      const input = el("input", { type: "radio", name, value });
      input.checked = i === 0;
      input.addEventListener("change", () => change(value));
      set.append(el("label", {}, input, ` ${text}`));
    });
    parent.append(set);
  }

  /* Bars side by side; each {from, to (0..1), parts: [[class, value]], text}. */
  function bars(g, w, h, list, max) {
    for (const bar of list) {
      const x = bar.from * w, wide = (bar.to - bar.from) * w, width = Math.max(0.6, wide - (wide > 4 ? 1 : 0));
      let y = h;
      for (const [kind, value] of bar.parts) {
        const height = value > 0 ? Math.max(1, (value / max) * h) : 0;
        y -= height;
        if (height > 0)
          g.append(title(svg("rect", { class: kind, x: x.toFixed(1), y: y.toFixed(1), width: width.toFixed(1), height: height.toFixed(1) }), bar.text));
      }
    }
  }

  /* A line of steps over equally wide bins; behind the last it lies at zero. */
  function steps(g, w, h, values, max, across, kind) {
    let d = "";
    values.forEach((value, i) => {
      const y = (h - (max > 0 ? value / max : 0) * h).toFixed(1);
      const x0 = Math.min(w, i * across * w).toFixed(1), x1 = Math.min(w, (i + 1) * across * w).toFixed(1);
      d += `${i ? "L" : "M"}${x0} ${y}L${x1} ${y}`;
    });
    if (values.length * across < 1) d += `L${(values.length * across * w).toFixed(1)} ${h}H${w}`;
    g.append(svg("path", { class: kind, d }));
  }

  const share = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : "-");

  /* Without its middle, where it is longer. */
  function shorten(text, letters) {
    return text.length > letters ? `${text.slice(0, Math.ceil(letters / 2) - 1)}\u2026${text.slice(-Math.floor(letters / 2))}` : text;
  }

  /* Of columns that several ranks may share. */
  function rankColumns(ranks, group) {
    const rankText = (column) => {
      const first = column * group, last = Math.min(ranks, first + group) - 1;
      return group === 1 ? `rank ${first}` : `ranks ${first} to ${last}`;
    };
    const rankTicks = (columns) => {
      const marks = columns <= 16 && group === 1 ? Array.from({ length: columns }, (_, i) => i) : wholeTicks(ranks - 1, 8);
      return marks.filter((rank) => rank < ranks).map((rank) => [(Math.floor(rank / group) + 0.5) / columns, String(rank)]);
    };
    return { rankText, rankTicks };
  }

  return { el, svg, ns, nsRound, bytes, count, ticks, wholeTicks, decades, plot, figure, title, choice, bars, steps, share, shorten, rankColumns };
})();
