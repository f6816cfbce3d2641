"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const STATISTICS = { minimum: "minimum", lower_quartile: "lower quartile", median: "median", upper_quartile: "upper quartile", maximum: "maximum" };
const ROLES = { "query-key": "query-key", "value-output": "value-output", weight: "linear weights" };

/* ---- helpers ------------------------------------------------------------------------------- */
function element(tag, attributes = {}, text) {
  const svg = ["svg", "path", "line", "text", "rect", "circle", "g", "clipPath"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
function fill(select, options, chosen) {
  if (!select) return;
  for (const [value, label] of options) select.append(element("option", { value }, label));
  if (chosen !== undefined) select.value = chosen;
}
function brief(pair, digits = 4) {
  const middle = (Number(pair[0]) + Number(pair[1])) / 2;
  if (middle === 0) return "0";
  return middle >= 1e6 || middle < 1e-3 ? middle.toExponential(digits - 2) : String(Number(middle.toPrecision(digits)));
}
function formula(target, text) {
  target.replaceChildren(...text.split("_F").flatMap((part, i) => (i ? [element("sub", {}, "F"), part] : [part])));
}
const whole = (pair) => `[${pair[0]}, ${pair[1]}]`;

/* ---- theme --------------------------------------------------------------------------------- */
function theme(name) {
  root.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
}
theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
$("theme").addEventListener("click", () => { theme(root.dataset.theme === "dark" ? "light" : "dark"); redraw(); });

/* ---- tooltip ------------------------------------------------------------------------------- */
const tip = $("tip");
function showTip(event) {
  const cell = event.target.closest("[data-tip]");
  if (!cell) { tip.classList.remove("on"); return; }
  tip.textContent = cell.dataset.tip;
  const box = cell.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - tip.offsetWidth - 12);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${box.bottom + 6 + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
  tip.classList.add("on");
}
for (const kind of ["mouseover", "focusin", "click"]) document.addEventListener(kind, showTip);
document.addEventListener("scroll", () => tip.classList.remove("on"), { passive: true });

/* ---- heat maps ----------------------------------------------------------------------------- */
function colour(t) {
  const dark = root.dataset.theme === "dark";
  const light = dark ? 17 + 33 * t : 96 - 58 * t;
  return `hsl(${dark ? 205 : 208} ${dark ? 48 : 52}% ${light}%)`;
}
function heat(target, cells, rowNames, columnNames) {
  const values = cells.filter((c) => c.pair).map((c) => Math.log(Math.max(1e-12, Number(c.pair[1]))));
  const least = Math.min(...values), most = Math.max(...values);
  const table = element("table", { class: "heat" });
  const top = table.createTHead().insertRow();
  top.append(element("th"));
  for (const name of columnNames) top.append(element("th", { scope: "col" }, name.replaceAll(".", ".\u200b").replaceAll("_", "_\u200b")));
  const body = table.createTBody();
  for (const row of rowNames) {
    const line = body.insertRow();
    line.append(element("th", { scope: "row" }, row));
    for (const column of columnNames) {
      const cell = cells.find((c) => c.row === row && c.column === column);
      const box = line.insertCell();
      if (!cell) continue;
      if (!cell.pair) { box.textContent = "–"; box.dataset.tip = `${cell.title}: ${cell.reason}`; continue; }
      const t = most > least ? (Math.log(Math.max(1e-12, Number(cell.pair[1]))) - least) / (most - least) : 0.5;
      box.textContent = brief(cell.pair, 3);
      box.style.background = colour(t);
      box.style.color = root.dataset.theme === "light" && t > 0.55 ? "#fff" : "var(--cell-ink)";
      box.tabIndex = 0;
      box.dataset.tip = `${cell.title}: ${whole(cell.pair)}`;
      box.setAttribute("aria-label", box.dataset.tip);
    }
  }
  target.replaceChildren(table);
  if (!values.length) return;
  const legend = element("div", { class: "legend" });
  const bar = element("i");
  bar.style.background = `linear-gradient(90deg, ${colour(0)}, ${colour(0.5)}, ${colour(1)})`;
  legend.append(element("span", {}, brief([Math.exp(least), Math.exp(least)], 3)), bar, element("span", {}, brief([Math.exp(most), Math.exp(most)], 3)), element("span", {}, "logarithmic colour scale"));
  target.append(legend);
}
const unique = (items) => [...new Set(items)];
const rowName = (item) => (item.stack ? `${item.stack} ` : "") + (item.layer === null ? "other" : `layer ${item.layer}`);

function weights() {
  const role = $("weight-role").value, kind = $("weight-kind").value;
  formula($("weight-formula"), data.formulas[kind]);
  const chosen = data.matrices.filter((m) => m.role === role);
  const named = role === "weight" ? namedWeights(chosen) : chosen.map((m) => ({ m, row: rowName(m), column: `head ${m.head}` }));
  const cells = named.map(({ m, row, column }) => ({
    row, column, title: m.name, pair: m.ranks ? m.ranks[kind] : null, reason: m.error || "the zero matrix has no effective rank",
  }));
  heat($("weight-heat"), cells, unique(cells.map((c) => c.row)), unique(cells.map((c) => c.column)));
}
function namedWeights(matrices) {
  return matrices.map((m) => {
    const name = m.name.replace(/\.weight$/, "");
    const after = m.layer === null ? "" : name.split(`.${m.layer}.`).slice(1).join(".");
    return { m, row: rowName(m), column: after || name };
  });
}
function attention() {
  if (!$("attention-heat")) return;
  const stat = $("attention-stat").value, kind = $("attention-kind").value;
  formula($("attention-formula"), data.formulas[kind]);
  const cells = data.heads.map((h) => ({
    row: rowName(h), column: `head ${h.head}`, title: `${rowName(h)}, head ${h.head}, ${STATISTICS[stat]}`, pair: h.ranks[kind][stat],
  }));
  heat($("attention-heat"), cells, unique(cells.map((c) => c.row)), unique(cells.map((c) => c.column)));
}

/* A figure is as wide as its place, so that its letters keep their size on a phone. */
const room = (place, most) => Math.max(300, Math.min(most, place.clientWidth || most));

/* ---- figures ------------------------------------------------------------------------------- */
let drawn = 0;
function logAxes({ width, height, x, y, xLabel, yLabel, left = 64 }) {
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
  const box = { left, right: width - 16, top: 14, bottom: height - 44 };
  const px = (v) => box.left + ((Math.log10(v) - x[0]) / (x[1] - x[0])) * (box.right - box.left);
  const py = (v) => box.bottom - ((Math.min(y[1] + 1, Math.max(y[0] - 1, Math.log10(Math.max(1e-320, v)))) - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
  const ticks = (range, room) => {
    const step = Math.max(1, Math.ceil((range[1] - range[0]) / room)), found = [];
    for (let k = Math.ceil(range[0]); k <= range[1]; k += step) found.push(10 ** k);
    if (found.length > 2) return found;
    const fine = [];
    for (let k = Math.floor(range[0]); k <= range[1]; k++) for (const f of [1, 2, 5]) fine.push(f * 10 ** k);
    return fine.filter((v) => Math.log10(v) >= range[0] && Math.log10(v) <= range[1]);
  };
  const power = (v) => {
    const k = Math.round(Math.log10(v));
    if (v >= 0.0099 && v < 1001) return String(Number(v.toPrecision(1)));
    const digits = [...String(k)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻").join("");
    const factor = Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9));
    return factor === 1 ? `10${digits}` : v.toExponential(0);
  };
  for (const v of ticks(y, 8)) {
    svg.append(element("line", { class: "grid", x1: box.left, x2: box.right, y1: py(v), y2: py(v) }));
    svg.append(element("text", { x: box.left - 8, y: py(v) + 4, "text-anchor": "end" }, power(v)));
  }
  for (const v of ticks(x, 9)) {
    svg.append(element("line", { class: "grid", x1: px(v), x2: px(v), y1: box.top, y2: box.bottom }));
    svg.append(element("text", { x: px(v), y: box.bottom + 18, "text-anchor": "middle" }, power(v)));
  }
  svg.append(element("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  svg.append(element("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel));
  svg.append(element("text", { x: 14, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(box.top + box.bottom) / 2})` }, yLabel));
  const name = `clip${(drawn += 1)}`, clip = element("clipPath", { id: name });
  clip.append(element("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
  const plot = element("g", { "clip-path": `url(#${name})` });
  svg.append(clip, plot);
  return { svg, plot, px, py, box };
}
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
function band(axes, lower, upper, fillClass, lineClass) {
  const up = upper.map(([x, v]) => [axes.px(x), axes.py(v)]), down = lower.map(([x, v]) => [axes.px(x), axes.py(v)]);
  axes.plot.append(element("path", { class: fillClass, d: `${path([...up, ...down.reverse()])}Z` }));
  axes.plot.append(element("path", { class: lineClass, d: path(up) }));
}
function spectrum() {
  const m = data.matrices[Number($("spectrum-matrix").value)];
  const table = element("table");
  const row = (name, value, title) => { const r = table.insertRow(); r.append(element("td", {}, name)); const c = element("td", { class: "num" }, value); if (title) { c.dataset.tip = title; c.tabIndex = 0; } r.append(c); };
  if (!m.spectrum) { row("not certified", m.error); $("spectrum-figure").replaceChildren(); $("spectrum-table").replaceChildren(table); return; }
  row("shape", m.shape.join(" × "));
  row("largest width / σ₁", `≤ ${m.width}`);
  if (m.zeros) row("exactly zero beyond", `${m.zeros} of ${m.count + m.zeros}`);
  for (const [name, pair] of Object.entries(m.norms)) row(`${name} norm`, brief(pair, 6), whole(pair));
  if (m.ranks) for (const [kind, title] of Object.entries(data.kinds)) row(title, brief(m.ranks[kind], 6), whole(m.ranks[kind]));
  for (const [eps, a, b] of m.eps) row(`#{σ > ${eps} σ₁}`, a === b ? a : `${a} to ${b}`);
  for (const [level, a, b] of m.energy) row(`values for ${level} of the energy`, a === b ? a : `${a} to ${b}`);
  $("spectrum-table").replaceChildren(table);
  const points = m.spectrum.filter((p) => Number(p[2]) > 0);
  if (!points.length) { $("spectrum-figure").replaceChildren(element("p", {}, "The zero matrix.")); return; }
  const top = Math.log10(Number(points[0][2]));
  const bottom = Math.max(top - 18, Math.log10(Math.min(...points.map((p) => Number(p[1]) || Number(p[2])))));
  const axes = logAxes({ width: room($("spectrum-figure"), 600), height: 360, x: [0, Math.max(0.5, Math.log10(m.count))], y: [Math.min(bottom - 0.08, top - 0.5), top + 0.08], xLabel: "index i", yLabel: "singular value σᵢ" });
  band(axes, points.map((p) => [p[0], Number(p[1])]), points.map((p) => [p[0], Number(p[2])]), "fill", "line");
  for (const p of points.length > 40 ? points.filter((_, i) => i % 4 === 0) : points) {
    axes.plot.append(element("circle", { cx: axes.px(p[0]), cy: axes.py(Number(p[2])), r: points.length === 1 ? 4 : 5, fill: points.length === 1 ? "var(--accent)" : "transparent", "data-tip": `σ${p[0]} in ${whole([p[1], p[2]])}` }));
  }
  const caption = element("p", { class: "soft" }, `Upper and lower ends of all ${m.count} certified enclosures; the widest is ${m.width} of σ₁${Number(m.width) < 1e-3 ? ", thinner than the line" : ""}.`);
  $("spectrum-figure").replaceChildren(axes.svg, caption);
}
function bound() {
  const target = $("bound-figure");
  if (!target) return;
  const curves = data.bounds.flatMap((g) => g.entries.flatMap((e) => e.curve));
  if (!curves.length) { target.replaceChildren(element("p", {}, "No bound applies to this model.")); return; }
  const sizes = curves.map((p) => p[0]), tops = curves.map((p) => Number(p[2]));
  const x = [Math.log10(Math.min(...sizes)), Math.log10(Math.max(...sizes))];
  const y = [-2.2, Math.min(14, Math.ceil(Math.log10(Math.max(...tops))))];
  const axes = logAxes({ width: room(target, 1000), height: 430, x, y, xLabel: "sample size m (independent inputs)", yLabel: "bound on the gap" });
  axes.plot.append(element("rect", { x: axes.box.left, y: axes.box.top, width: axes.box.right - axes.box.left, height: axes.py(1) - axes.box.top, fill: "var(--grid)", opacity: 0.45 }));
  axes.svg.append(element("text", { x: axes.box.right - 8, y: axes.box.top + 16, "text-anchor": "end" }, "vacuous: at or above 1"));
  for (const level of [1, 0.5, 0.1]) axes.svg.append(element("line", { class: "level", x1: axes.box.left, x2: axes.box.right, y1: axes.py(level), y2: axes.py(level) }));
  const m = unique(sizes).sort((a, b) => a - b);
  const legend = element("div", { class: "legend" });
  legend.style.flexWrap = "wrap";
  const note = (style, text) => { const s = element("span", { style }, text); legend.append(s); };
  data.bounds.forEach((group, i) => {
    if (!group.entries.length) return;
    const at = (k, pick) => pick(...group.entries.map((e) => Number(e.curve[k][2])));
    const low = m.map((v, k) => [v, at(k, Math.min)]), high = m.map((v, k) => [v, at(k, Math.max)]);
    band(axes, low, high, i ? "secondfill" : "fill", i ? "line second" : "line");
    if (group.entries.length > 1) axes.plot.append(element("path", { class: "line second", d: path(low.map(([a, v]) => [axes.px(a), axes.py(v)])) }));
    note(`color:var(${i ? "--warn" : "--accent"})`, `■ Theorem ${group.theorem}${group.entries.length > 1 ? `, from the best to the worst of ${group.entries.length} heads` : ""}`);
  });
  const worst = data.nominal.filter((n) => n[0] === "entropy")[0] || data.nominal[0];
  if (worst) {
    const line = m.map((v) => [axes.px(v), axes.py(Number(worst[2]) * Math.sqrt(worst[1] / v))]);
    axes.plot.append(element("path", { class: "nominal", d: path(line) }));
    note("color:var(--bad)", `╌ √(R/m), R = ${data.kinds[worst[0]]} of attention: not a valid bound`);
  }
  target.replaceChildren(axes.svg, legend);
}

/* ---- wiring -------------------------------------------------------------------------------- */
const kinds = Object.entries(data.kinds);
const present = Object.keys(ROLES).filter((r) => data.matrices.some((m) => m.role === r));
fill($("weight-role"), present.map((r) => [r, ROLES[r]]), present[0]);
fill($("weight-kind"), kinds, "stable");
fill($("attention-kind"), kinds, "stable");
fill($("attention-stat"), Object.entries(STATISTICS), "median");
fill($("spectrum-matrix"), data.matrices.map((m, i) => [i, m.name]), Math.max(0, data.matrices.findIndex((m) => m.role === "query-key")));
for (const [id, draw] of [["weight-role", weights], ["weight-kind", weights], ["attention-stat", attention], ["attention-kind", attention], ["spectrum-matrix", spectrum]]) {
  const select = $(id);
  if (select) select.addEventListener("change", draw);
}
$("filter").addEventListener("input", (event) => {
  for (const row of $("all").tBodies[0].rows) row.hidden = !row.cells[0].textContent.includes(event.target.value);
});
function redraw() { if (data.matrices.length) { weights(); spectrum(); } attention(); bound(); }
redraw();
let waiting = 0, seen = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === seen) return;
  seen = innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (data.matrices.length) spectrum(); bound(); }, 150);
});
