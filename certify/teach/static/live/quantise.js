/* Quantise and certify: fewer bits cost errors, more bits cost confidence; the bound weighs them. */
"use strict";

Live.figures.quantise = ({ data, place, note }) => {
  const { element, canvas, draw, slider, readout, path, evaluate } = Live;
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  place.append(drawing, controls);
  const svg = canvas(drawing, 640, 280, "Errors, true risk and certified bound against the bits for each weight");
  const bits = slider(controls, "bits for each weight", { min: 1, max: 12, step: 1, start: 3, onChange: update });
  const size = slider(controls, "training examples m", { min: 100, max: data.sample.length, step: 100, start: data.sample.length, onChange: update });
  const show = readout(place, { code: "length of the code, bits", errors: "share of training errors", bound: "certified risk, at most", truth: "true risk (all cases counted)" });
  const d = data.weights.length;
  const corner = (code) => Array.from({ length: d }, (_, i) => ((code >> i) & 1 ? 1 : -1));

  /* 2^b equally spaced values in (-scale, scale); the scale is a power of two. */
  function quantise(b) {
    const exponent = Math.ceil(Math.log2(Math.max(...data.weights.map(Math.abs))));
    const scale = 2 ** exponent;
    const steps = 2 ** b;
    const weights = data.weights.map((w) => {
      const k = Math.min(steps - 1, Math.max(0, Math.floor(((w / scale + 1) / 2) * steps)));
      return (scale * (2 * k + 1 - steps)) / steps;
    });
    const zigzag = exponent > 0 ? 2 * exponent - 1 : -2 * exponent;
    return { weights, code: d * b + Math.log2(b * (b + 1)) + Math.log2((zigzag + 1) * (zigzag + 2)) };
  }
  const sign = (w, x) => (w.reduce((sum, v, i) => sum + v * x[i], 0) >= 0 ? 1 : -1);

  function judge(b, m) {
    const { weights, code } = quantise(b);
    const answers = Array.from({ length: 2 ** d }, (_, c) => sign(weights, corner(c)));
    let wrong = 0;
    for (let i = 0; i < m; i++) {
      const [c, label] = [data.sample[i] >> 1, data.sample[i] & 1 ? 1 : -1];
      if (answers[c] !== label) wrong += 1;
    }
    let apart = 0;
    answers.forEach((answer, c) => { if (answer !== sign(data.teacher, corner(c))) apart += 1; });
    const share = apart / 2 ** d;
    const truth = data.noise + (1 - 2 * data.noise) * share;
    const bound = evaluate(data.bound, { code_bits: code, emp_risk: wrong / m, m, delta: data.delta });
    return { code, errors: wrong / m, truth, bound };
  }

  function update() {
    const [b, m] = [bits.read(), size.read()];
    const all = Array.from({ length: 12 }, (_, i) => judge(i + 1, m));
    const now = all[b - 1];
    svg.replaceChildren();
    const [left, right, top, bottom] = [50, 625, 15, 240];
    const x = (i) => left + ((right - left) * (i - 0.5)) / 12;
    const y = (value) => bottom - (bottom - top) * Math.min(1, value / 0.6);
    for (const level of [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) {
      svg.append(draw("line", { class: "axis", x1: left, x2: right, y1: y(level), y2: y(level) }),
        draw("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end" }, String(level)));
    }
    all.forEach((_, i) => svg.append(draw("text", { x: x(i + 1), y: bottom + 18, "text-anchor": "middle" }, String(i + 1))));
    const line = (key, kind) => svg.append(draw("path", { class: "curve " + kind, d: path(all.map((p, i) => [x(i + 1), y(p[key])])) }));
    line("errors", "third"); line("truth", "second"); line("bound", "");
    svg.append(draw("line", { class: "mark", x1: left, x2: right, y1: y(0.5), y2: y(0.5) }),
      draw("text", { x: right - 4, y: y(0.5) - 6, "text-anchor": "end", class: "strong" }, "coin tossing"),
      draw("circle", { class: "dot", cx: x(b), cy: y(now.bound), r: 7 }),
      draw("text", { x: right, y: bottom + 36, "text-anchor": "end" }, "bits for each weight"));
    const last = all[11];
    svg.append(draw("text", { x: right - 4, y: y(last.bound) - 8, "text-anchor": "end", class: "strong" }, "certified bound"),
      draw("text", { x: right - 4, y: y(Math.min(last.truth, last.errors)) + 18, "text-anchor": "end" }, "true risk and training errors"));
    show("code", now.code); show("errors", now.errors); show("bound", now.bound); show("truth", now.truth);
    note({ bits: b, m });
  }
  update();
};
