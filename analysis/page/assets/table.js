/* A table that is sorted by its headers and, where there is an element for that, filtered by what a
 * row is. A row whose data-left is "out" is left out by someone else. Returns what filters it anew. */
"use strict";
function sortableTable(table, filters, status, word, by = "Operation") {
  const { el } = charts;
  const body = table.tBodies[0], rows = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];

  function keyOf(row, column) {
    const cell = row.cells[column];
    const figure = cell.dataset.v;
    return figure !== undefined ? +figure : cell.textContent.trim();
  }
  function sort(column) {
    const header = headers[column], text = header.classList.contains("text");
    const now = header.getAttribute("aria-sort");
    const up = now ? now === "descending" : text;
    const order = rows.map((row, i) => ({ row, i, key: keyOf(row, column) }));
    order.sort((a, b) => {
      const unknown = (x) => !text && typeof x.key !== "number";
      if (unknown(a) !== unknown(b)) return unknown(a) ? 1 : -1;
      const difference = typeof a.key === "number" && typeof b.key === "number"
        ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en");
      return (up ? difference : -difference) || a.i - b.i;
    });
    for (const other of headers) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...order.map((item) => item.row));
  }
  headers.forEach((header, column) => {
    const button = el("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => sort(column));
  });
  if (!filters) return null;

  const operations = [...new Set(rows.map((row) => row.dataset.op))].sort();
  const select = el("select", {}, el("option", { value: "" }, "all"),
    ...operations.map((name) => el("option", { value: name }, name)));
  const search = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  function filter() {
    const text = search.value.trim().toLowerCase();
    let left = 0, all = 0;
    for (const row of rows) {
      const out = row.dataset.left === "out";
      row.hidden = out || (select.value !== "" && row.dataset.op !== select.value) ||
        (text !== "" && !row.textContent.toLowerCase().includes(text));
      left += !row.hidden;
      all += !out;
    }
    status.textContent = left === all ? "" : `${left} of ${all} ${word} shown`;
  }
  select.addEventListener("change", filter);
  search.addEventListener("input", filter);
  if (rows.length > 1)
    filters.append(el("label", {}, by, select), el("label", {}, "Search", search));
  return filter;
}
