/* Proposition N1: any labels are fitted perfectly while every attention matrix keeps effective rank one. */
"use strict";

Live.figures.shattering = ({ data, place, note }) => {
  const { element, canvas, draw, slider, button, readout, evaluate, generator } = Live;
  const [queries, contents] = [data.queries, data.contents];
  let labels = Array.from({ length: queries * contents }, (_, i) => ((i * 7) % 3 ? 1 : -1));
  let seed = 11;

  const grid = element("div", { class: "labels", role: "group", "aria-label": "Labels: press to flip" });
  grid.style.gridTemplateColumns = `repeat(${contents}, minmax(2.4rem, 1fr))`;
  const controls = element("div", { class: "controls" });
  const strip = element("div", { class: "matrices", "aria-hidden": "true" });
  place.append(element("p", { class: "small" }, "The labels you want, one for each input. Press one to flip it."), grid, controls, strip);
  const beta = slider(controls, "scale of the weights", { min: 0.5, max: 12, step: 0.5, start: 6, onChange: update });
  const row = element("div", { class: "row" });
  controls.append(row);
  button(row, "Random labels", () => {
    const draw = generator(++seed);
    labels = labels.map(() => (draw(0, 1) ? 1 : -1));
    update();
  });
  const verdict = element("p", { class: "verdict" });
  const show = readout(place, {
    errors: "labels missed", margin: "smallest margin", rank: "largest effective rank of an attention matrix",
    complexity: "Rademacher complexity of the class",
  });
  place.append(verdict);

  labels.forEach((_, i) => grid.append(element("button", { type: "button", "data-index": i })));
  grid.addEventListener("click", (event) => {
    const index = event.target.dataset.index;
    if (index === undefined) return;
    labels[index] = -labels[index];
    update();
  });

  /* Tokens x1 = (e_r, e_j, 1) and x2 = (e_r, 0, -1); the weight matrix holds scale times label at (r, j). */
  function attention(r, j) {
    const token = (content, value) => [
      ...Array.from({ length: queries }, (_, i) => Number(i === r)),
      ...Array.from({ length: contents }, (_, i) => Number(content && i === j)), value,
    ];
    const tokens = [token(true, 1), token(false, -1)];
    const score = (x, z) => {
      let total = 0;
      for (let a = 0; a < queries; a++) for (let b = 0; b < contents; b++) {
        total += x[a] * beta.read() * labels[a * contents + b] * z[queries + b];
      }
      return total;
    };
    const rows = tokens.map((x) => {
      const s = tokens.map((z) => score(x, z));
      const top = Math.max(...s);
      const e = s.map((v) => Math.exp(v - top));
      return e.map((v) => v / (e[0] + e[1]));
    });
    const output = rows[0].reduce((sum, p, t) => sum + p * tokens[t][queries + contents], 0);
    return { rows, output };
  }

  /* For a 2 x 2 matrix: squared Frobenius norm over squared largest singular value. */
  function stableRank([[a, b], [c, d]]) {
    const square = a * a + b * b + c * c + d * d;
    const determinant = a * d - b * c;
    const top = (square + Math.sqrt(Math.max(0, square * square - 4 * determinant * determinant))) / 2;
    return square / top;
  }

  function update() {
    let [errors, margin, rank] = [0, Infinity, 0];
    strip.replaceChildren();
    labels.forEach((label, i) => {
      const [r, j] = [Math.floor(i / contents), i % contents];
      const { rows, output } = attention(r, j);
      if (output * label <= 0) errors += 1;
      margin = Math.min(margin, output * label);
      rank = Math.max(rank, stableRank(rows));
      const key = grid.children[i];
      key.textContent = label > 0 ? "+1" : "−1";
      key.setAttribute("aria-pressed", String(label > 0));
      key.setAttribute("aria-label", `query ${r + 1}, content ${j + 1}: label ${label > 0 ? "plus" : "minus"} one`);
      const figure = element("figure");
      const svg = canvas(figure, 40, 40, "");
      rows.flat().forEach((p, k) => svg.append(draw("rect", {
        x: 20 * (k % 2), y: 20 * Math.floor(k / 2), width: 19, height: 19, class: "bar-fill", "fill-opacity": (0.08 + 0.92 * p).toFixed(3),
      })));
      figure.append(element("figcaption", {}, (output > 0 ? "+" : "−") + Math.abs(output).toFixed(3)));
      strip.append(figure);
    });
    show("errors", errors); show("margin", margin); show("rank", rank);
    show("complexity", evaluate(data.complexity, { [data.scale]: beta.read() }));
    verdict.textContent = errors === 0
      ? "Every label is fitted. In each matrix both rows are equal: rank one."
      : "Some labels are missed.";
    verdict.className = "verdict " + (errors === 0 ? "bad" : "good");
    note({ labels, scale: beta.read() });
  }
  update();
};
