/* Proposition N3: what gradient descent from zero leaves at the contents it has never seen. */
"use strict";

Live.figures.descent = ({ data, place, note }) => {
  const { element, canvas, draw, slider, button, readout, evaluate, generator } = Live;
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  place.append(drawing, controls);
  const svg = canvas(drawing, 640, 200, "Contents seen in training are learned, the others keep weight zero");
  const contents = slider(controls, "number of contents d", { min: 20, max: 400, step: 20, start: 200, onChange: update });
  const examples = slider(controls, "training examples m", { min: 5, max: 100, step: 5, start: 20, onChange: update });
  let seed = 3;
  button(controls, "Another sample", () => { seed += 1; update(); });
  const show = readout(place, {
    train: "training error after one step", unseen: "share of contents never seen", gap: "expected gap, exactly",
    nominal: "√(rank ÷ m) with rank 1: not a bound",
  });

  function update() {
    const [d, m] = [contents.read(), examples.read()];
    const next = generator(seed);
    const label = Array.from({ length: d }, () => (next(0, 1) ? 1 : -1));
    const sample = Array.from({ length: m }, () => next(0, d - 1));
    const weight = new Array(d).fill(0);
    for (const content of sample) weight[content] += label[content] / m;
    const wrong = sample.filter((content) => weight[content] * label[content] <= 0).length;
    svg.replaceChildren();
    const across = 40;
    svg.setAttribute("viewBox", `0 0 640 ${12 + 18 * Math.ceil(d / across)}`);
    weight.forEach((w, i) => svg.append(draw("rect", {
      x: 4 + (i % across) * 15.8, y: 8 + Math.floor(i / across) * 18, width: 13, height: 14, rx: 2,
      class: w === 0 ? "zone" : "bar-fill",
    })));
    show("train", wrong / m);
    show("unseen", weight.filter((w) => w === 0).length / d);
    show("gap", evaluate(data.gap, { [data.names.contents]: d, [data.names.examples]: m }));
    show("nominal", Math.sqrt(1 / m));
    note({ contents: d, examples: m, seen: [...new Set(sample)].length });
  }
  update();
};
