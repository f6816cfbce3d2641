/* What the live figures share: registration, controls, drawing, and the value of a prefix expression.
   Formulas arrive from `proofs/` as prefix text; no constant of a theorem is written in these files. */
"use strict";

const Live = (() => {
  const figures = {};
  const SVG = "http://www.w3.org/2000/svg";

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function draw(tag, attributes = {}, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function canvas(place, width, height, label) {
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    place.append(svg);
    return svg;
  }

  let serial = 0;

  /* A labelled slider; `show` turns the position into the value that is displayed and used. */
  function slider(place, label, { min, max, step, start, show = (x) => x, text = String, onChange }) {
    const id = "live-" + ++serial;
    const output = element("output", { for: id });
    const input = element("input", { type: "range", id, min, max, step, value: start });
    const read = () => show(Number(input.value));
    const refresh = () => {
      output.textContent = text(read());
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => { refresh(); onChange(); });
    place.append(element("label", { for: id }, element("span", {}, label, output), input));
    refresh();
    return { read, set(value) { input.value = value; refresh(); }, input };
  }

  function choice(place, label, options, onChange) {
    const id = "live-" + ++serial;
    const select = element("select", { id });
    for (const [value, text] of options) select.append(element("option", { value }, text));
    select.addEventListener("change", onChange);
    place.append(element("label", { for: id }, element("span", {}, label), select));
    return { read: () => select.value, select };
  }

  function checkbox(place, label, checked, onChange) {
    const id = "live-" + ++serial;
    const input = element("input", { type: "checkbox", id });
    input.checked = checked;
    input.addEventListener("change", onChange);
    place.append(element("label", { for: id, class: "switch" }, input, element("span", {}, label)));
    return { read: () => input.checked, input };
  }

  function button(place, label, onPress) {
    const node = element("button", { type: "button" }, label);
    node.addEventListener("click", onPress);
    place.append(node);
    return node;
  }

  /* Named numbers under a figure. They are what the tests compare with Python. */
  function readout(place, names) {
    const box = element("div", { class: "readout", "aria-live": "polite" });
    const outputs = {};
    for (const [name, label] of Object.entries(names)) {
      outputs[name] = element("output", { "data-value": name });
      box.append(element("div", {}, label, outputs[name]));
    }
    place.append(box);
    return (name, value) => { outputs[name].textContent = typeof value === "number" ? number(value) : value; };
  }

  /* Four significant digits, as far as a reader can use them. */
  function number(value) {
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "undefined";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-4) return value.toExponential(3);
    return value.toPrecision(4).includes("e") ? value.toFixed(0) : value.toPrecision(4);
  }

  function path(points) {
    return points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(2) + " " + y.toFixed(2)).join("");
  }

  /* ---- prefix expressions ---- */
  function parse(text) {
    const tokens = text.match(/[()]|[^\s()]+/g) || [];
    let at = 0;
    const one = () => {
      const token = tokens[at++];
      if (token === undefined) throw new Error("the expression ends too early: " + text);
      if (token !== "(") return token;
      const node = [];
      while (tokens[at] !== ")") node.push(one());
      at++;
      return node;
    };
    const tree = one();
    if (at !== tokens.length) throw new Error("text after the expression: " + text);
    return tree;
  }

  function bisect(low, high, isBelow) {
    for (let i = 0; i < 200 && high - low > 0; i++) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (isBelow(middle)) low = middle; else high = middle;
    }
    return low;
  }

  function relativeEntropy(q, p) {
    const part = (a, b) => (a === 0 ? 0 : b === 0 ? Infinity : a * Math.log(a / b));
    return part(q, p) + part(1 - q, 1 - p);
  }

  function logGamma(x) {
    if (x < 8) return logGamma(x + 1) - Math.log(x);
    const y = 1 / (x * x);
    return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI)
      + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
  }

  function binomialBelow(k, n, p) {
    let total = 0;
    for (let i = 0; i <= k; i++) {
      total += Math.exp(logGamma(n + 1) - logGamma(i + 1) - logGamma(n - i + 1)
        + (i ? i * Math.log(p) : 0) + (n - i ? (n - i) * Math.log1p(-p) : 0));
    }
    return total;
  }

  const operations = {
    add: (...a) => a.reduce((x, y) => x + y, 0),
    mul: (...a) => a.reduce((x, y) => x * y, 1),
    neg: (a) => -a,
    sub: (a, b) => a - b,
    div: (a, b) => a / b,
    pow: (a, b) => Math.pow(a, b),
    sqrt: Math.sqrt, log: Math.log, exp: Math.exp, ceil: Math.ceil, tanh: Math.tanh, cosh: Math.cosh,
    acosh: Math.acosh, max: Math.max, min: Math.min,
    pi: () => Math.PI,
    gamma: (x) => Math.exp(logGamma(x)),
    kl_inverse: (q, c) => bisect(q, 1, (p) => relativeEntropy(q, p) <= c),
    binomial_tail_inverse: (k, n, delta) => bisect(0, 1, (p) => binomialBelow(k, n, p) >= delta),
  };

  function valueOf(tree, values) {
    if (Array.isArray(tree)) {
      const operation = operations[tree[0]];
      if (!operation) throw new Error("unknown operation " + tree[0]);
      return operation(...tree.slice(1).map((branch) => valueOf(branch, values)));
    }
    if (/^-?\d+(\/\d+)?$/.test(tree)) {
      const [top, bottom] = tree.split("/").map(Number);
      return bottom === undefined ? top : top / bottom;
    }
    if (!(tree in values)) throw new Error("no value for " + tree);
    return values[tree];
  }

  function evaluate(prefix, values = {}) { return valueOf(parse(prefix), values); }

  /* Every pattern of n signs, as arrays of -1 and 1. */
  function* signs(n) {
    for (let code = 0; code < 2 ** n; code++) {
      yield Array.from({ length: n }, (_, i) => ((code >> i) & 1 ? 1 : -1));
    }
  }

  /* A small generator of whole numbers, so that "another one" is the same for everyone. */
  function generator(seed) {
    let state = seed >>> 0;
    return (low, high) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return low + Math.floor((state / 4294967296) * (high - low + 1));
    };
  }

  function mount(figure) {
    const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const place = figure.querySelector(".stage");
    place.replaceChildren();
    figures[figure.dataset.live]({
      data, place,
      /* The inputs behind the shown numbers, for the tests. */
      note(state) { figure.dataset.state = JSON.stringify(state); },
    });
  }

  return {
    figures, element, draw, canvas, slider, choice, checkbox, button, readout, number, path, evaluate, signs,
    generator, mount,
  };
})();
