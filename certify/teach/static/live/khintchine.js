/* Khintchine's inequality: a vector, its four sign sums, and the ratio that never falls below the constant. */
"use strict";

Live.figures.khintchine = ({ data, place, note }) => {
  const { canvas, draw, slider, readout, path, evaluate, signs, element } = Live;
  const floor = 1 / evaluate(data.constant);
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  place.append(drawing, controls);
  const svg = canvas(drawing, 640, 260, "The vector, and the ratio as its angle changes");
  const angle = slider(controls, "angle of the first two weights", {
    min: 0, max: 90, step: 1, start: 20, text: (x) => x + "°", onChange: update,
  });
  const third = slider(controls, "third weight", { min: 0, max: 1.5, step: 0.05, start: 0, onChange: update });
  const show = readout(place, {
    mean: "average of the |signed sums|", length: "length of the vector", ratio: "average ÷ length",
    floor: "the ratio never falls below",
  });

  function weights(degrees) {
    const turn = (degrees * Math.PI) / 180;
    return [Math.cos(turn), Math.sin(turn), third.read()];
  }
  function average(u) {
    let total = 0;
    for (const eps of signs(u.length)) total += Math.abs(u.reduce((sum, x, i) => sum + eps[i] * x, 0));
    return total / 2 ** u.length;
  }
  const length = (u) => Math.hypot(...u);

  function update() {
    const u = weights(angle.read());
    const [mean, size] = [average(u), length(u)];
    svg.replaceChildren();
    const [cx, cy, r] = [30, 230, 190];
    svg.append(draw("path", { class: "axis", d: `M${cx} 20V${cy}H250`, fill: "none" }));
    svg.append(draw("path", { class: "axis", d: `M${cx + r} ${cy}A${r} ${r} 0 0 0 ${cx} ${cy - r}`, fill: "none" }));
    const tip = [cx + r * u[0], cy - r * u[1]];
    svg.append(draw("line", { x1: cx, y1: cy, x2: tip[0], y2: tip[1], class: "curve" }));
    const handle = draw("circle", { cx: tip[0], cy: tip[1], r: 9, class: "dot handle", "data-handle": "" });
    handle.addEventListener("pointerdown", drag);
    svg.append(handle, draw("text", { x: cx + 70, y: 252 }, "first weight"), draw("text", { x: 6, y: 12 }, "second weight"));

    const [left, right, top, bottom] = [320, 625, 25, 225];
    const x = (degrees) => left + ((right - left) * degrees) / 90;
    const y = (ratio) => bottom - ((bottom - top) * (ratio - 0.6)) / 0.42;
    const curve = Array.from({ length: 91 }, (_, d) => [x(d), y(average(weights(d)) / length(weights(d)))]);
    svg.append(
      draw("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}`, fill: "none" }),
      draw("path", { class: "curve", d: path(curve) }),
      draw("line", { class: "mark", x1: left, x2: right, y1: y(floor), y2: y(floor) }),
      draw("text", { x: right, y: y(floor) + 16, "text-anchor": "end", class: "strong" }, "the constant of the lemma"),
      draw("circle", { class: "dot", cx: x(angle.read()), cy: y(mean / size), r: 6 }),
      draw("text", { x: left + 6, y: top - 8 }, "ratio"),
      draw("text", { x: right, y: bottom + 18, "text-anchor": "end" }, "angle"),
    );
    show("mean", mean); show("length", size); show("ratio", mean / size); show("floor", floor);
    note({ angle: angle.read(), third: third.read() });
  }

  function drag(event) {
    const target = svg;
    const move = (e) => {
      const box = target.getBoundingClientRect();
      const [px, py] = [((e.clientX - box.left) * 640) / box.width - 30, 230 - ((e.clientY - box.top) * 260) / box.height];
      angle.set(Math.round(Math.min(90, Math.max(0, (Math.atan2(py, px) * 180) / Math.PI))));
      update();
    };
    const stop = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", stop);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", stop);
    event.preventDefault();
  }
  update();
};
