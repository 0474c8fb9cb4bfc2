/* The map of messages: who sends how much to whom, with a cell for each pair of ranks, or of blocks
 * of ranks where there are many (analysis/page/page_calls.c). One picture of a point a cell, made by
 * a canvas: ten thousand elements would be slow. */
"use strict";
(() => {
  const { el, svg, bytes, count, wholeTicks, plot, figure, choice } = charts;
  const data = JSON.parse(document.getElementById("data").textContent).messages;
  if (!data) return;
  const { ranks, group, blocks } = data;
  const GRID = 32; /* with more cells across than this there are no lines between them */
  const measures = {
    bytes: { word: "Bytes", of: (cell) => cell.bytes, show: bytes },
    messages: { word: "Messages", of: (cell) => cell.messages, show: count },
  };

  const cells = new Map();
  for (let i = 0, at = -1; i < data.cells.length; i += 3) {
    at += data.cells[i] + 1;
    cells.set(at, { from: Math.floor(at / blocks), to: at % blocks, messages: data.cells[i + 1], bytes: data.cells[i + 2] });
  }
  const last = (block) => Math.min(ranks, (block + 1) * group) - 1;
  const nameOf = (block) => (last(block) === block * group ? `rank ${last(block)}` : `ranks ${block * group} to ${last(block)}`);
  const words = (cell) => `${nameOf(cell.from)} to ${nameOf(cell.to)}: ${count(cell.messages)} messages, ${bytes(cell.bytes)}`;

  /* Both figures of what each block of ranks sends and receives. */
  function sums() {
    const rows = Array.from({ length: blocks }, () => [0, 0, 0, 0]);
    for (const cell of cells.values()) {
      rows[cell.from][0] += cell.messages;
      rows[cell.from][1] += cell.bytes;
      rows[cell.to][2] += cell.messages;
      rows[cell.to][3] += cell.bytes;
    }
    return rows.map((row, i) => [nameOf(i).replace(/^ranks? /, ""), count(row[0]), bytes(row[1]), count(row[2]), bytes(row[3])]);
  }

  /* One point a cell, in the page's colour; the paler, the less, on a logarithmic scale. */
  function picture(measure, least, most) {
    const canvas = el("canvas", { width: blocks, height: blocks }), context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--other").trim();
    for (const cell of cells.values()) {
      const value = measure.of(cell);
      context.globalAlpha = value <= 0 ? 0.06 : most <= least ? 1 : 0.2 + (0.8 * Math.log(value / least)) / Math.log(most / least);
      context.fillRect(cell.to, cell.from, 1, 1);
    }
    return canvas.toDataURL();
  }

  function rankTicks(down) {
    const marks = blocks === ranks && blocks <= 16 ? Array.from({ length: blocks }, (_, i) => i) : wholeTicks(ranks - 1, 8);
    return marks.filter((rank) => rank < ranks).map((rank) => {
      const at = (Math.floor(rank / group) + 0.5) / blocks;
      return [down ? 1 - at : at, String(rank)];
    });
  }

  function grid(g, side) {
    for (let i = 1; i < blocks && blocks <= GRID; i++)
      g.append(svg("path", { class: "grid", d: `M${(i / blocks) * side} 0V${side}M0 ${(i / blocks) * side}H${side}` }));
  }

  function show(name) {
    const parent = document.getElementById("map"), measure = measures[name];
    const values = [...cells.values()].map(measure.of).filter((value) => value > 0);
    const least = values.length ? Math.min(...values) : 1, most = values.length ? Math.max(...values) : 1;
    const greatest = [...cells.values()].reduce((best, cell) => (measure.of(cell) > measure.of(best) ? cell : best));
    const image = picture(measure, least, most);
    const pointed = el("p", { class: "quiet" }, "Point at a cell for its figures.");
    const what = group > 1 ? `A cell is the total that ${group} ranks sent to ${group} ranks` : "A cell is what one rank sent to another";
    const scale = least === most ? `every cell with messages has ${measure.show(most)}`
      : `from ${measure.show(least)}, pale, to ${measure.show(most)}, full, on a logarithmic scale`;
    parent.replaceChildren();
    figure(parent, {
      name: "map", title: `${measure.word} from rank to rank`,
      about: `${what}: ${scale}. ${count(data.pairs)} pairs of ranks have messages.`,
      summary: `The most: ${words(greatest)}.`,
      table: { head: [ranks > blocks ? "ranks" : "rank", "messages sent", "bytes sent", "messages received", "bytes received"], rows: sums() },
      draw: (width) => {
        const left = 62, top = 24, bottom = 42, side = Math.min(560, Math.max(60, width - left - 12));
        return [side + top + bottom, plot(left + side + 12, side + top + bottom, {
          left, top, bottom, x: { label: "to rank", ticks: rankTicks(false) }, y: { ticks: rankTicks(true).reverse(), bare: true },
        }, (g, w) => {
          g.append(svg("text", { x: -8, y: -8, "text-anchor": "end" }, "from rank"));
          const map = svg("image", { href: image, width: w, height: w, preserveAspectRatio: "none" });
          g.append(map);
          grid(g, w);
          map.addEventListener("pointermove", (event) => {
            const box = map.getBoundingClientRect();
            const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]
              .map((part) => Math.min(blocks - 1, Math.max(0, Math.floor(part * blocks))));
            const cell = cells.get(row * blocks + column);
            pointed.textContent = cell ? words(cell) : `${nameOf(row)} to ${nameOf(column)}: no messages`;
          });
        })];
      },
    }).querySelector("details").before(pointed);
  }

  let chosen = "bytes";
  choice(document.getElementById("map-controls"), "Show", "map-measure", [["bytes", "bytes"], ["messages", "messages"]], (name) => {
    chosen = name;
    show(name);
  });
  show(chosen);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(chosen));
})();
