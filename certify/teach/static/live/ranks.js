/* An attention matrix, its spectrum, and the effective ranks that this one spectrum gives. */
"use strict";

Live.figures.ranks = ({ data, place, note }) => {
  const { element, canvas, draw, slider, choice, readout, evaluate, checkbox } = Live;
  const n = data.tokens;
  const drawing = element("div");
  const controls = element("div", { class: "controls" });
  place.append(drawing, controls);
  const svg = canvas(drawing, 640, 250, "The attention matrix as a heat map, and its singular values");
  const pattern = choice(controls, "who looks at whom", [
    ["near", "near tokens"], ["same", "tokens of the same kind"], ["first", "the first token"], ["all", "everyone alike"],
  ], update);
  const sharp = slider(controls, "sharpness of the scores", { min: 0, max: 8, step: 0.25, start: 1, onChange: update });
  const causal = checkbox(controls, "causal: no token sees the future", false, update);
  const show = readout(place, Object.fromEntries(data.ranks.map((rank) => [rank.kind, rank.label])));

  const score = {
    near: (i, j) => -Math.abs(i - j), same: (i, j) => (i % 3 === j % 3 ? 1 : -1),
    first: (i, j) => (j === 0 ? 2 : 0), all: () => 0,
  };

  function attention() {
    const beta = sharp.read();
    return Array.from({ length: n }, (_, i) => {
      const visible = (j) => !causal.read() || j <= i;
      const s = Array.from({ length: n }, (_, j) => beta * score[pattern.read()](i, j));
      const top = Math.max(...s.filter((_, j) => visible(j)));
      const e = s.map((x, j) => (visible(j) ? Math.exp(x - top) : 0));
      const total = e.reduce((a, b) => a + b, 0);
      return e.map((x) => x / total);
    });
  }

  /* One-sided Jacobi: rotate pairs of columns until all are orthogonal; their lengths are the singular values. */
  function singularValues(matrix) {
    const columns = matrix[0].map((_, j) => matrix.map((row) => row[j]));
    for (let sweep = 0; sweep < 60; sweep++) {
      let worst = 0;
      for (let p = 0; p < n - 1; p++) for (let q = p + 1; q < n; q++) {
        let [a, b, c] = [0, 0, 0];
        for (let i = 0; i < n; i++) {
          a += columns[p][i] ** 2; b += columns[q][i] ** 2; c += columns[p][i] * columns[q][i];
        }
        if (Math.abs(c) <= 1e-300 || Math.abs(c) <= 1e-17 * Math.sqrt(a * b)) continue;
        worst = Math.max(worst, Math.abs(c) / Math.sqrt(a * b));
        const zeta = (b - a) / (2 * c);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cosine = 1 / Math.hypot(1, t);
        for (let i = 0; i < n; i++) {
          const [x, y] = [columns[p][i], columns[q][i]];
          columns[p][i] = cosine * (x - t * y);
          columns[q][i] = cosine * (t * x + y);
        }
      }
      if (worst < 1e-15) break;
    }
    return columns.map((column) => Math.hypot(...column)).sort((x, y) => y - x);
  }

  function update() {
    const matrix = attention();
    const values = singularValues(matrix);
    const sums = {
      sigma_max: values[0],
      nuclear: values.reduce((a, b) => a + b, 0),
      frobenius: Math.sqrt(values.reduce((a, b) => a + b * b, 0)),
    };
    const shares = (power) => {
      const total = values.reduce((a, b) => a + b ** power, 0);
      return values.map((x) => x ** power / total);
    };
    svg.replaceChildren();
    const cell = 220 / n;
    const heat = draw("g", { class: "heat" });
    matrix.forEach((line, i) => line.forEach((x, j) => heat.append(draw("rect", {
      x: 10 + j * cell, y: 10 + i * cell, width: cell, height: cell, class: "bar-fill", "fill-opacity": (0.06 + 0.94 * x).toFixed(3),
    }))));
    svg.append(heat, draw("line", { class: "axis", x1: 290, x2: 630, y1: 215, y2: 215 }));
    values.forEach((x, i) => {
      const width = 330 / n;
      svg.append(
        draw("rect", { x: 295 + i * width, y: 215 - 190 * (x / values[0]), width: width - 8, height: 190 * (x / values[0]), class: "bar-fill" }),
        draw("text", { x: 295 + i * width + (width - 8) / 2, y: 234, "text-anchor": "middle" }, x < 1e-12 ? "0" : x.toFixed(2)),
      );
    });
    svg.append(draw("text", { x: 120, y: 246, "text-anchor": "middle" }, "one row per query"));
    svg.append(draw("text", { x: 460, y: 16, "text-anchor": "middle" }, "singular values, largest first"));
    for (const rank of data.ranks) show(rank.kind, rankOf(rank, sums, shares));
    note({ pattern: pattern.read(), sharpness: sharp.read(), causal: causal.read(), values });
  }

  function rankOf(rank, sums, shares) {
    if (rank.prefix) return evaluate(rank.prefix, sums);
    const p = shares(rank.power);
    if (rank.order === 1) return Math.exp(-p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0));
    if (rank.order === "inf") return 1 / Math.max(...p);
    return Math.pow(p.reduce((sum, x) => sum + x ** rank.order, 0), 1 / (1 - rank.order));
  }
  update();
};
