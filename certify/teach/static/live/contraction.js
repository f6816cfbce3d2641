/* Vector contraction on a class small enough to enumerate: both sides of the inequality, every sign counted. */
"use strict";

Live.figures.contraction = ({ data, place, note }) => {
  const { element, choice, button, readout, evaluate, signs, generator } = Live;
  const constant = evaluate(data.constant);
  const [points, outputs, size] = [2, 2, 4];
  const maps = {
    length: ["the length of the output", (g) => Math.hypot(...g)],
    largest: ["the larger coordinate", (g) => Math.max(...g)],
    first: ["the first coordinate", (g) => g[0]],
    bent: ["distance to the point (1, 1), at most 2", (g) => Math.min(2, Math.hypot(g[0] - 1, g[1] - 1))],
  };
  let seed = 4;
  let members = [];

  const table = element("div", { class: "scroll" });
  const controls = element("div", { class: "controls" });
  place.append(table, controls);
  const map = choice(controls, "1-Lipschitz map", Object.entries(maps).map(([key, [text]]) => [key, text]), update);
  const row = element("div", { class: "row", style: "align-self: end" });
  controls.append(row);
  button(row, "Another class", () => { seed += 1; fresh(); update(); });
  const show = readout(place, {
    left: "left side: the map's complexity", right: "right side: constant × coordinates", ratio: "left ÷ right",
  });

  function fresh() {
    const draw = generator(seed);
    members = Array.from({ length: size }, () =>
      Array.from({ length: points }, () => Array.from({ length: outputs }, () => draw(-3, 3))));
  }

  function update() {
    const h = maps[map.read()][1];
    let left = 0;
    for (const s of signs(points)) {
      left += Math.max(...members.map((g) => g.reduce((sum, at, i) => sum + s[i] * h(at), 0)));
    }
    let right = 0;
    for (const eps of signs(points * outputs)) {
      right += Math.max(...members.map((g) => g.flat().reduce((sum, value, i) => sum + eps[i] * value, 0)));
    }
    left /= 2 ** points;
    right = (constant * right) / 2 ** (points * outputs);
    const head = element("tr", {}, element("th", { scope: "col" }, "member"));
    for (let i = 1; i <= points; i++) head.append(element("th", { scope: "col" }, "output at point " + i));
    const body = element("tbody");
    members.forEach((g, k) => {
      const line = element("tr", {}, element("td", {}, "function " + (k + 1)));
      for (const at of g) line.append(element("td", {}, `(${at.join(", ")})`));
      body.append(line);
    });
    table.replaceChildren(element("table", {}, element("thead", {}, head), body));
    show("left", left); show("right", right);
    show("ratio", right > 0 ? left / right : "no spread");
    note({ map: map.read(), members });
  }
  fresh();
  update();
};
