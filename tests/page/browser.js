/* Opens pages in headless Chromium and looks at them: node browser.js CHROMIUM SHOTS PAGES...
 *
 * Leaves screenshots in the folder SHOTS, if it is not empty.
 * Each PAGE is NAME=FILE=KIND, KIND report, plain (one without charts of collectives), waits (with messages), why
 * (with causes of lateness), slices, comparison or history, and with =accessible behind it axe-core looks at it. Prints "ok - " and "not ok - "
 * lines. The modules come from the directory in NODE_PATH. */
"use strict";
const path = require("path");
const { chromium } = require("playwright-core");
const axe = require("axe-core");

let failures = 0;
function tell(sentence, problems) {
  if (problems.length) failures++;
  console.log(`${problems.length ? "not ok" : "ok"} - ${sentence}`);
  for (const problem of problems.slice(0, 12)) console.log(`#   ${problem}`);
}
const expect = (holds, words) => (holds ? [] : [words]);

/* Opens the page; what it should not do is gathered in .problems. */
async function open(context, file) {
  const page = await context.newPage();
  const url = `file://${path.resolve(file)}`;
  page.problems = [];
  page.on("console", (message) => page.problems.push(`console: ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => page.problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) page.problems.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

/* Two frames: observers of sizes have run, and what they asked for is drawn. */
const settle = (page) => page.evaluate(() =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

/* Charts without marks, texts that lie on each other or leave the drawing, a page too wide. */
const faults = (page) => page.evaluate(() => {
  const list = [];
  if (document.documentElement.scrollWidth > window.innerWidth)
    list.push(`the page is ${document.documentElement.scrollWidth} wide in ${window.innerWidth}`);
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const name = figure.dataset.chart, svg = figure.querySelector("svg");
    if (!svg) {
      if (!/No |arrived together/.test(figure.querySelector("figcaption").textContent)) list.push(`${name}: not drawn`);
      continue;
    }
    const marks = svg.querySelectorAll("rect, circle, image, path[class^=line-]").length;
    if (!marks) list.push(`${name}: no marks`);
    if (/NaN|Infinity|undefined/.test(svg.outerHTML)) list.push(`${name}: a figure that is none`);
    const outer = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([text, box], i) => {
      if (box.left < outer.left - 12 || box.right > document.documentElement.clientWidth) list.push(`${name}: "${text}" is cut off`);
      for (const [other, its] of boxes.slice(0, i))
        if (box.left < its.right - 1 && its.left < box.right - 1 && box.top < its.bottom - 3 && its.top < box.bottom - 3)
          list.push(`${name}: "${text}" lies on "${other}"`);
    });
    for (const [text] of boxes) if (!text.trim()) list.push(`${name}: an empty text`);
  }
  return list;
});

/* Of axe's rules only contrast depends on the colour scheme. */
async function accessible(page, scheme, sentence) {
  const only = scheme === "dark" ? { runOnly: ["color-contrast"] } : {};
  const found = await page.evaluate((options) => window.axe.run(document, options), { resultTypes: ["violations"], ...only });
  const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  tell(sentence, bad.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(", ")}`));
}

const column = (page, n) => page.$$eval("#sites tbody tr", (rows, at) =>
  rows.filter((row) => !row.hidden).map((row) => row.cells[at].dataset.v ?? row.cells[at].textContent), n);
const isSorted = (values, sign) => values.every((value, i) => i === 0 || sign * (value - values[i - 1]) >= 0);

async function tableWorks(page, name, calls) {
  const header = page.locator("#sites thead button").nth(calls);
  await header.click();
  const down = (await column(page, calls)).map(Number);
  await header.focus();
  await page.keyboard.press("Enter");
  const up = (await column(page, calls)).map(Number);
  const aria = await page.locator("#sites thead th").nth(calls).getAttribute("aria-sort");
  tell(`${name}: the table sorts by a header, by mouse and by keyboard`, [
    ...expect(down.length > 1 && isSorted(down, -1), `down: ${down}`), ...expect(isSorted(up, 1), `up: ${up}`),
    ...expect(aria === "ascending", `aria-sort: ${aria}`)]);

  const select = page.locator("#sites-filters select"), search = page.locator("#sites-filters input");
  const all = await column(page, 0);
  await select.selectOption("barrier");
  const barriers = await column(page, 0), status = await page.textContent("#sites-shown");
  await select.selectOption("");
  const text = (await column(page, 1))[0];
  await search.fill(text);
  const found = await column(page, 1);
  await search.fill("");
  tell(`${name}: the table filters by operation and by text`, [
    ...expect(barriers.length > 0 && barriers.length < all.length && barriers.every((op) => op === "barrier"), `barriers: ${barriers}`),
    ...expect(status.startsWith(`${barriers.length} of `), status),
    ...expect(found.length > 0 && found.every((value) => value.includes(text)), `found: ${found}`),
    ...expect((await column(page, 0)).length === all.length, "all are back")]);
}

async function reportWorks(page, name) {
  const charts = () => page.$$eval("figure[data-chart]", (list) => list.map((one) => one.dataset.chart));
  const wanted = ["skew", "cost", "skew-time", "wait-time", "messages", "size", "heat", "worst", "ranks"];
  const there = await charts();
  tell(`${name}: every chart is there`, wanted.filter((one) => !there.includes(one)));
  await tableWorks(page, name, 4);

  const marked = () => page.$eval("#sites tr.chosen", (row) => row.cells[1].textContent);
  const button = page.locator("#sites button.link").last();
  const text = await button.textContent();
  await button.focus();
  await page.keyboard.press("Enter");
  await settle(page);
  const focus = await page.evaluate(() => document.activeElement.id);
  tell(`${name}: a call site is chosen from the table by keyboard`, [
    ...expect((await marked()) === text, `${await marked()} instead of ${text}`), ...expect(focus === "one-select", focus)]);
  const sites = await page.$$eval("#one-select option", (list) => list.length);
  const problems = [];
  for (let i = 0; i < Math.min(sites, 6); i++) {
    await page.selectOption("#one-select", String(i));
    problems.push(...(await faults(page)).map((fault) => `call site ${i}: ${fault}`));
  }
  tell(`${name}: the charts of its call sites are drawn`, problems);

  const title = () => page.textContent("#heat figcaption b");
  const late = await title();
  await page.check("#heat input[value=wait]");
  tell(`${name}: the heat map shows who waits as well`, expect(late !== (await title()), late));
  const worst = await page.$$eval("#worst option", (list) => list.length), drawn = [];
  for (let i = 0; i < worst; i++) {
    await page.selectOption("#worst select", String(i));
    drawn.push(...(await faults(page)).map((fault) => `instance ${i}: ${fault}`));
  }
  tell(`${name}: each of the worst instances is drawn`, drawn);

  const summary = page.locator("figure[data-chart=ranks] summary");
  await summary.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("figure[data-chart=ranks] table");
  const rows = await page.$$eval("figure[data-chart=ranks] tbody tr", (list) => list.length);
  tell(`${name}: a chart's figures are a table as well`, expect(rows > 0, `${rows} rows`));
}

/* The map's picture, as one number for each cell: how strong its colour is. */
const cellsOf = (page) => page.evaluate(async () => {
  const picture = new Image();
  picture.src = document.querySelector("#map image").getAttribute("href");
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const points = context.getImageData(0, 0, picture.width, picture.height).data;
  return Array.from({ length: points.length / 4 }, (_, i) => points[4 * i + 3]);
});

async function messagesWork(page, name) {
  const data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).messages);
  const bytes = [], messages = [];
  for (let i = 0, at = -1; i < data.cells.length; i += 3) {
    at += data.cells[i] + 1;
    [messages[at], bytes[at]] = [data.cells[i + 1], data.cells[i + 2]];
  }
  const faultsOf = (cells, values) => cells.flatMap((strength, at) => [
    ...expect((strength > 0) === (at in values), `cell ${at}: ${strength} for ${values[at]}`),
    ...expect(at === 0 || !(values[at] > values[at - 1]) || strength >= cells[at - 1], `cell ${at} is weaker than the one before`)]);
  const byBytes = await cellsOf(page), title = await page.textContent("figure[data-chart=map] figcaption b");
  await page.check("#map-controls input[value=messages]");
  const byMessages = await cellsOf(page);
  tell(`${name}: the map has a cell for each pair with messages, the stronger the more`, [
    ...faultsOf(byBytes, bytes), ...faultsOf(byMessages, messages),
    ...expect(title !== (await page.textContent("figure[data-chart=map] figcaption b")), title)]);

  const at = bytes.findIndex((value) => value > 0), column = at % data.blocks, row = Math.floor(at / data.blocks);
  const map = page.locator("#map image");
  await map.scrollIntoViewIfNeeded();
  const box = await map.boundingBox();
  await page.mouse.move(box.x + ((column + 0.5) * box.width) / data.blocks, box.y + ((row + 0.5) * box.height) / data.blocks);
  const words = await page.textContent("#map figure p");
  tell(`${name}: the cell that is pointed at has its figures`, expect(
    words.includes(`: ${messages[at].toLocaleString("en-US").replace(/,/g, "\u2009")} messages, `), words));

  await page.locator("#pairs thead button").nth(2).click();
  const sorted = (await page.$$eval("#pairs tbody tr", (rows) => rows.map((one) => +one.cells[2].dataset.v)));
  tell(`${name}: the pairs of ranks sort by messages`, expect(sorted.length > 1 && isSorted(sorted, -1), `${sorted.slice(0, 20)}`));
}

async function callsWork(page, name) {
  await page.locator("#functions thead button").nth(1).click();
  const calls = await page.$$eval("#functions tbody tr", (rows) => rows.map((one) => +one.cells[1].dataset.v));
  tell(`${name}: the functions sort by calls`, expect(calls.length > 0 && isSorted(calls, -1), `${calls}`));
  if (!(await page.$("#calls"))) return;
  const functions = () => page.$$eval("#calls tbody tr", (rows) => rows.filter((one) => !one.hidden).map((one) => one.cells[0].textContent));
  const first = (await functions())[0];
  await page.selectOption("#calls-filters select", first);
  const left = await functions();
  await page.selectOption("#calls-filters select", "");
  tell(`${name}: call sites of all functions are filtered by function`,
    expect(left.length > 0 && left.length < (await functions()).length && left.every((one) => one === first), `${left.length} of ${first}`));
}

/* A bar for each call, of which those that waited stand out, and a line for each message. */
async function stretchWorks(page, name) {
  const { bars, lines } = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).stretch);
  const drawn = await page.$$eval("figure[data-chart=stretch] svg", ([one]) => ["rect.other", "rect.wait", "path.line-mark"]
    .map((what) => one.querySelectorAll(what).length));
  const wanted = [bars.length, bars.filter((bar) => bar[4] > 0).length, lines.length];
  tell(`${name}: the stretch with the most waiting has its calls, waits and messages`,
    expect(String(drawn) === String(wanted), `${drawn} instead of ${wanted}`));
  const words = await page.$$eval("figure[data-chart=stretch] rect.wait title", (list) => list.map((one) => one.textContent));
  tell(`${name}: a bar that waited says how long`, expect(words.length > 0 && words.every((one) => /waits \d/.test(one)), `${words[0]}`));
}

/* A mark for each column of intervals, a bar for each bin that has some, and the parts of each column's slices. */
async function slicesWork(page, name) {
  const { columns, bins } = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).slices);
  const drawn = (chart, what) => page.$$eval(`figure[data-chart=${chart}] svg ${what}`, (list) => list.length);
  const apart = columns.every((one) => one[5] + one[6] <= one[7]);
  const counts = [await drawn("slice-intervals", "rect.mark"), await drawn("slice-histogram", "rect"), await drawn("slice-phases", "rect.other")];
  const wanted = [columns.filter((one) => one[4] > 0).length, bins.counts.filter((one) => one > 0).length, columns.filter((one) => one[7] > (apart ? one[5] + one[6] : 0)).length];
  tell(`${name}: intervals between strobes, how often which came, and microphases are drawn`,
    expect(String(counts) === String(wanted), `${counts} instead of ${wanted}`));
  const sum = bins.counts.reduce((a, b) => a + b, 0), slices = columns.reduce((a, one) => a + one[1], 0);
  tell(`${name}: every interval is in the histogram`, expect(sum === slices - 1 || sum === slices, `${sum} of ${slices}`));
}

/* A bar for each cause of a site, of a rank and of a rank's part in an instance; lines where it waited. */
async function whyWorks(page, name) {
  const { causes, path } = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
  const drawn = (chart, what) => page.$$eval(`figure[data-chart=${chart}] svg ${what}`, (list) => list.length);
  const { links } = causes.chains[0];
  const counts = [await drawn("causes", "rect"), await drawn("cause-ranks", "rect"), await drawn("chain", "rect"),
    await drawn("chain", "path.line-mark"), await drawn("path", "rect")];
  const parts = (list) => list.reduce((sum, one) => sum + one.parts.length, 0);
  const wanted = [parts(causes.sites), causes.by_rank.length, parts(links), links.length - 1,
    path.steps.reduce((sum, step) => sum + (step[2] > 0 ? 2 : 1), 0)];
  tell(`${name}: causes, the chain of an instance and the critical path are drawn`,
    expect(String(counts) === String(wanted), `${counts} instead of ${wanted}`));
  const title = await page.textContent("figure[data-chart=chain] rect title");
  tell(`${name}: a bar of the chain says what its rank did`, expect(/^rank \d+, .*(preempted|computing).*longest between/.test(title), title));
  const shown = () => page.$$eval("#causes tbody tr", (rows) => rows.filter((one) => !one.hidden).map((one) => one.cells[1].textContent));
  const all = await shown();
  await page.selectOption("#causes-filters select", "asleep");
  const left = await shown();
  await page.selectOption("#causes-filters select", "");
  await page.locator("#causes thead button").nth(3).click();
  const sorted = await page.$$eval("#causes tbody tr", (rows) => rows.map((one) => +one.cells[3].dataset.v));
  tell(`${name}: the table of causes is filtered by cause, and sorts`, [
    ...expect(left.length > 0 && left.length < all.length && left.every((one) => one === "asleep"), `${left}`),
    ...expect(isSorted(sorted, -1), `${sorted}`)]);
}

let filtered = 0;
async function waitsWork(page, name) {
  const states = () => page.$$eval("#waits tbody tr", (rows) => rows.filter((one) => !one.hidden).map((one) => one.cells[0].textContent));
  const first = (await states())[0];
  await page.selectOption("#waits-filters select", first);
  const left = await states();
  await page.selectOption("#waits-filters select", "");
  tell(`${name}: wait states are filtered by state`,
    expect(left.length > 0 && left.every((one) => one === first), `${left} of ${await states()}`));
  filtered++;
}

async function comparisonWorks(page, name) {
  await page.check("#measures input[value=wait]");
  await settle(page);
  const shown = await column(page, 4);
  const title = await page.textContent("figure[data-chart=changes] figcaption b");
  tell(`${name}: chart and table show one measure`, [
    ...expect(shown.length > 0 && shown.every((measure) => measure === "wait"), `${shown}`), ...expect(/wait per call/.test(title), title)]);
  await page.check("#measures input[value=blocked]");
  await tableWorks(page, name, 6);
}

async function look(context, shots, [name, file, kind, looks]) {
  const page = await open(context, file);
  if (looks === "accessible") await page.evaluate(axe.source.concat(";0"));
  for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [390, "light"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await settle(page);
    if (scheme === "light") {
      tell(`${name}: at ${width} pixels nothing overlaps and nothing is cut off`, await faults(page));
      if (shots) await page.screenshot({ path: path.join(shots, `${name}-${width}.png`), fullPage: true });
    }
    if (looks === "accessible")
      await accessible(page, scheme, `${name}: no serious accessibility fault (${scheme}, ${width})`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await settle(page);
  if (kind === "report") await reportWorks(page, name);
  if (kind === "comparison") await comparisonWorks(page, name);
  if (kind === "plain")
    tell(`${name}: it has words and no empty charts`,
      expect((await page.$$("figure:not([data-chart=map]), section[hidden]")).length === 0, "charts"));
  if (kind === "waits") await stretchWorks(page, name);
  if (kind === "why") await whyWorks(page, name);
  if (await page.$("#slice-charts")) await slicesWork(page, name);
  if (await page.$("#waits-filters select")) await waitsWork(page, name);
  if (await page.$("#functions") && kind !== "comparison") await callsWork(page, name);
  if (await page.$("#map")) await messagesWork(page, name);
  await page.emulateMedia({ media: "print" });
  const controls = await page.$$eval(".controls", (list) => list.filter((one) => one.offsetParent !== null).length);
  const pdf = await page.pdf({ format: "A4", landscape: true });
  tell(`${name}: it prints, without what only a screen can use`, [
    ...expect(controls === 0, `${controls} controls`), ...expect(pdf.length > 10000, `${pdf.length} bytes`)]);
  tell(`${name}: no console message, no request`, page.problems);
  await page.close();
}

async function withoutScripts(context, [name, file]) {
  const page = await open(context, file);
  const text = await page.textContent("main"), hidden = await page.$$("section[hidden]");
  const rows = await page.$$("#sites tbody tr");
  tell(`${name}: without scripts the table is there, and it says what is not`, [
    ...expect(rows.length > 1, `${rows.length} rows`), ...expect(/need JavaScript/.test(text), "no word of it"),
    ...expect(hidden.length === 4, `${hidden.length} hidden sections`)]);
}

async function main() {
  const [executablePath, shots, ...words] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath, timeout: 0, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  const contextOf = async (options) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(0);
    return context;
  };
  const context = await contextOf({}), pages = words.map((word) => word.split("="));
  for (const page of pages) await look(context, shots, page);
  tell("some pages have several wait states", expect(filtered > 0, "none"));
  await withoutScripts(await contextOf({ javaScriptEnabled: false }), pages.find(([, , kind]) => kind === "report"));
  await browser.close();
  process.exitCode = failures ? 1 : 0;
}

main().catch((error) => {
  console.log(`not ok - the pages are looked at\n#   ${error.stack}`);
  process.exit(1);
});
