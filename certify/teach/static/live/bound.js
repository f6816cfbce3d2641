/* A bound against the number of examples. Each constant can be set to one, to see what it costs. */
"use strict";

Live.figures.bound = ({ data, place, note }) => {
  const { element, canvas, draw, slider, checkbox, readout, path, evaluate, number } = Live;
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  const switches = element("div", { class: "controls", role: "group", "aria-label": "Constants of the bound" });
  place.append(drawing, controls, element("p", { class: "small" },
    "Constants of the proof. Switch one off to see its price; what is left is then no longer a proved bound."), switches);
  const svg = canvas(drawing, 640, 300, "The bound on the gap, falling with the number of examples");
  const logarithm = (label, min, max, start, text) => slider(controls, label, {
    min, max, step: 0.05, start, show: (x) => 10 ** x, text, onChange: update,
  });
  const examples = slider(controls, "examples m", {
    min: 1, max: 8, step: 0.05, start: 5, show: (x) => Math.round(10 ** x), text: (x) => x.toLocaleString("en"), onChange: update,
  });
  const failure = logarithm("failure probability δ", -6, -0.3, -1.3, (x) => x.toPrecision(2));
  const inputs = data.inputs.map((input) => [input.name, logarithm(input.label, input.low, input.high, input.start, number)]);
  const constants = data.constants.map((c) => [c, checkbox(switches, `${c.name} = ${number(evaluate(c.prefix))} (${c.origin})`, true, update)]);
  const show = readout(place, { bound: "bound on the gap", spread: "part from the class", luck: "part from the sample's luck",
    needed: "examples until the bound says something" });
  const verdict = element("p", { class: "verdict" });
  place.append(verdict);

  function parts(m, delta) {
    const values = { m, delta };
    for (const [name, control] of inputs) values[name] = control.read();
    for (const sum of data.sums) values[sum.name] = evaluate(sum.prefix, values);
    let [spread, luck] = [evaluate(data.spread, values), evaluate(data.luck, values)];
    for (const [constant, control] of constants) {
      if (control.read()) continue;
      if (constant.acts === "spread") spread /= evaluate(constant.prefix);
      else luck /= evaluate(constant.prefix);
    }
    return { spread, luck, total: spread + luck };
  }

  function needed(delta) {
    let [low, high] = [0, 18];
    if (parts(10 ** high, delta).total >= 1) return "more than 10¹⁸";
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (parts(10 ** middle, delta).total >= 1) low = middle; else high = middle;
    }
    return Math.ceil(10 ** high).toLocaleString("en");
  }

  function update() {
    const [m, delta] = [examples.read(), failure.read()];
    const now = parts(m, delta);
    svg.replaceChildren();
    const [left, right, top, bottom] = [55, 625, 15, 262];
    const x = (power) => left + ((right - left) * (power - 1)) / 7;
    const y = (value) => bottom - ((bottom - top) * (Math.log10(Math.min(1e3, Math.max(1e-4, value))) + 4)) / 7;
    svg.append(draw("rect", { class: "zone", x: left, y: top, width: right - left, height: y(1) - top }));
    for (let power = -4; power <= 3; power++) {
      svg.append(draw("text", { x: left - 8, y: y(10 ** power) + 4, "text-anchor": "end" }, power < -1 ? "10⁻" + "⁰¹²³⁴"[-power] : String(10 ** power)));
    }
    for (let power = 1; power <= 8; power++) {
      svg.append(draw("text", { x: x(power), y: bottom + 18, "text-anchor": "middle" }, "10" + "⁰¹²³⁴⁵⁶⁷⁸"[power]));
    }
    const curve = (read) => path(Array.from({ length: 71 }, (_, i) => [x(1 + i / 10), y(read(parts(10 ** (1 + i / 10), delta)))]));
    svg.append(
      draw("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}`, fill: "none" }),
      draw("line", { class: "mark", x1: left, x2: right, y1: y(1), y2: y(1) }),
      draw("text", { x: right - 6, y: top + 16, "text-anchor": "end", class: "strong" }, "vacuous: says nothing about a loss in [0, 1]"),
      draw("path", { class: "curve second", d: curve((p) => p.luck) }),
      draw("path", { class: "curve", d: curve((p) => p.total) }),
      draw("circle", { class: "dot", cx: x(Math.log10(m)), cy: y(now.total), r: 7 }),
      draw("text", { x: right, y: bottom + 34, "text-anchor": "end" }, "examples m"),
      draw("text", { x: right - 6, y: y(curveEnd("luck", delta)) - 8, "text-anchor": "end" }, "luck alone"),
    );
    const proved = constants.every(([, control]) => control.read());
    show("bound", now.total); show("spread", now.spread); show("luck", now.luck); show("needed", needed(delta));
    verdict.textContent = !proved ? "A constant is switched off: this curve is not a bound."
      : now.total >= 1 ? "Vacuous: a loss in [0, 1] never has a gap above 1 anyway." : "A proved bound, if the hypotheses hold.";
    verdict.className = "verdict " + (proved && now.total < 1 ? "good" : "bad");
    const values = Object.fromEntries(inputs.map(([name, control]) => [name, control.read()]));
    note({ m, delta, values, on: constants.map(([, control]) => control.read()) });
  }
  const curveEnd = (key, delta) => parts(1e8, delta)[key];
  update();
};
