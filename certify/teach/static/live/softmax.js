/* How far softmax can move: the scores change, the probabilities move at most half the oscillation. */
"use strict";

Live.figures.softmax = ({ data, place, note }) => {
  const { element, canvas, draw, slider, readout, evaluate } = Live;
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  place.append(drawing, controls);
  const svg = canvas(drawing, 640, 190, "Probabilities before and after the change of scores");
  const base = ["score 1", "score 2", "score 3"].map((label, i) =>
    slider(controls, label, { min: -4, max: 4, step: 0.25, start: [0, 0, -4][i], onChange: update }));
  const change = ["change of score 1", "change of score 2", "change of score 3"].map((label, i) =>
    slider(controls, label, { min: -4, max: 4, step: 0.25, start: [0.5, -0.5, 0][i], onChange: update }));
  const show = readout(place, {
    moved: "probability moved (ℓ1)", bound: "bound from the oscillation", ratio: "moved ÷ bound",
    largest: "largest single change",
  });
  const softmax = (s) => {
    const top = Math.max(...s);
    const e = s.map((x) => Math.exp(x - top));
    const total = e.reduce((a, b) => a + b, 0);
    return e.map((x) => x / total);
  };

  function update() {
    const s = base.map((c) => c.read());
    const u = change.map((c) => c.read());
    const [p, q] = [softmax(s), softmax(s.map((x, i) => x + u[i]))];
    const moved = p.reduce((sum, x, i) => sum + Math.abs(x - q[i]), 0);
    const oscillation = Math.max(...u) - Math.min(...u);
    const bound = evaluate(data.constant) * oscillation;
    svg.replaceChildren();
    p.forEach((x, i) => {
      const left = 30 + i * 205;
      svg.append(
        draw("rect", { x: left, y: 160 - 130 * x, width: 70, height: 130 * x, class: "bar-fill", opacity: 0.4 }),
        draw("rect", { x: left + 80, y: 160 - 130 * q[i], width: 70, height: 130 * q[i], class: "bar-fill" }),
        draw("text", { x: left + 35, y: 153 - 130 * x, "text-anchor": "middle" }, x.toFixed(3)),
        draw("text", { x: left + 115, y: 153 - 130 * q[i], "text-anchor": "middle", class: "strong" }, q[i].toFixed(3)),
        draw("text", { x: left + 75, y: 180, "text-anchor": "middle" }, "token " + (i + 1) + ": before, after"),
      );
    });
    svg.append(draw("line", { class: "axis", x1: 20, x2: 620, y1: 160, y2: 160 }));
    show("moved", moved); show("bound", bound);
    show("ratio", bound > 0 ? moved / bound : "no change");
    show("largest", Math.max(...u.map(Math.abs)));
    note({ scores: s, change: u });
  }
  update();
};
