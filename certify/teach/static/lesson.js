/* The lesson's own script: formulas, theme, questions, progress. No network, no dependency but KaTeX. */
"use strict";

const Lesson = (() => {
  const root = document.documentElement;
  root.classList.add("js");

  /* Memory that is allowed to fail: from file:// or in a private window the lesson works without it. */
  const memory = {
    read(key, fallback) {
      try {
        const text = window.localStorage.getItem("lesson:" + key);
        return text === null ? fallback : JSON.parse(text);
      } catch { return fallback; }
    },
    write(key, value) {
      try { window.localStorage.setItem("lesson:" + key, JSON.stringify(value)); } catch { /* kept for this page only */ }
    },
  };
  const answered = memory.read("answered", {});

  function renderFormulas(where) {
    for (const node of where.querySelectorAll(".math:not([data-done])")) {
      const source = node.textContent;
      try {
        window.katex.render(source, node, {
          displayMode: node.classList.contains("display"), throwOnError: true, strict: "error", output: "htmlAndMathml",
        });
      } catch (error) {
        node.classList.add("math-error");
        node.title = String(error);
      }
      node.dataset.done = "";
    }
  }

  /* A formula that is wider than its place is made smaller, as far as it stays readable; then it scrolls. */
  function fitFormulas() {
    const nodes = [...document.querySelectorAll(".math.display, .choice .math, .hypotheses > li > .math")];
    for (const node of nodes) if (node.style.fontSize) node.style.fontSize = "";
    const shares = nodes.map((node) => (node.clientWidth > 0 ? node.clientWidth / node.scrollWidth : 1));
    nodes.forEach((node, i) => { if (shares[i] < 1) node.style.fontSize = Math.max(0.6, 0.98 * shares[i]) + "em"; });
  }

  /* Paper shows every answer, and formulas that fit the width of a page; the screen is put back afterwards. */
  function beforePrint() {
    for (const details of document.querySelectorAll(".model:not([open])")) {
      details.open = true;
      details.dataset.opened = "";
    }
    root.classList.add("printing");
    fitFormulas();
  }
  function afterPrint() {
    for (const details of document.querySelectorAll(".model[data-opened]")) {
      details.open = false;
      delete details.dataset.opened;
    }
    root.classList.remove("printing");
    fitFormulas();
  }

  function setTheme(theme) {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-action=theme]")) {
      button.querySelector(".long").textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme];
    }
    memory.write("theme", theme);
  }

  function setReasons(mode) {
    root.dataset.reasons = mode;
    for (const button of document.querySelectorAll("[data-action=reasons]")) {
      button.querySelector(".long").textContent = mode === "always" ? "Reasons: shown" : "Reasons: after the question";
      button.setAttribute("aria-pressed", String(mode === "always"));
    }
    memory.write("reasons", mode);
  }

  /* A reason is veiled until its question is answered, or until the reader has scrolled past the question. */
  function liftVeils() {
    const line = window.innerHeight * 0.45;
    const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 4;
    for (const veil of document.querySelectorAll(".veil:not(.lifted)")) {
      if (atEnd || veil.getBoundingClientRect().top < line) veil.classList.add("lifted");
    }
    const bar = document.querySelector(".progress i");
    const length = document.body.scrollHeight - window.innerHeight;
    if (bar) bar.style.width = (length > 0 ? (100 * window.scrollY) / length : 100) + "%";
    for (const item of document.querySelectorAll(".ledger-side li")) {
      const step = document.getElementById(item.dataset.step);
      item.classList.toggle("paid", Boolean(step) && step.getBoundingClientRect().top < line);
    }
  }

  function say(box, right, text) {
    const line = box.querySelector(".feedback");
    const word = document.createElement("b");
    word.className = right ? "right" : "wrong";
    word.textContent = right ? "Right. " : "Not yet. ";
    line.replaceChildren(word);
    line.insertAdjacentHTML("beforeend", text);
    renderFormulas(line);
  }

  function settle(box, right) {
    box.dataset.result = right ? "right" : "wrong";
    box.querySelector(".model").open = true;
    const veil = document.querySelector(`.veil[data-question="${box.id}"]`);
    if (veil) veil.classList.add("lifted");
    answered[box.id] = right || answered[box.id] === true;
    memory.write("answered", answered);
    showProgress();
  }

  function wireChoices(box) {
    for (const button of box.querySelectorAll(".choice")) {
      button.addEventListener("click", () => {
        const right = button.dataset.right === "yes";
        button.dataset.state = right ? "right" : "wrong";
        say(box, right, button.dataset.feedback);
        settle(box, right);
      });
    }
  }

  function wireNumber(box) {
    const form = box.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = form.elements.answer.value.trim().replace(",", ".");
      const value = Number(text);
      if (text === "" || !Number.isFinite(value)) {
        say(box, false, "Type a number, for example 0.5.");
        return;
      }
      const right = value >= Number(form.dataset.lower) && value <= Number(form.dataset.upper);
      say(box, right, right ? form.dataset.right : form.dataset.wrong);
      settle(box, right);
    });
  }

  function showProgress() {
    for (const place of document.querySelectorAll("[data-chapter-questions]")) {
      const ids = place.dataset.chapterQuestions.split(" ").filter(Boolean);
      const right = ids.filter((id) => answered[id] === true).length;
      place.textContent = right === 0 ? "" : right === ids.length ? "✓ all " + right : right + " of " + ids.length;
      if (right) place.setAttribute("aria-label", right + " of " + ids.length + " questions answered");
    }
  }

  const actions = {
    theme() {
      const order = ["auto", "light", "dark"];
      setTheme(order[(order.indexOf(memory.read("theme", root.dataset.theme || "auto")) + 1) % 3]);
    },
    reasons() { setReasons(root.dataset.reasons === "always" ? "asked" : "always"); },
    print() { window.print(); },
    forget() {
      for (const key of Object.keys(answered)) delete answered[key];
      memory.write("answered", answered);
      showProgress();
    },
  };

  function start() {
    renderFormulas(document);
    setTheme(memory.read("theme", "auto"));
    setReasons(memory.read("reasons", "asked"));
    for (const button of document.querySelectorAll("[data-action]")) {
      button.addEventListener("click", () => actions[button.dataset.action]());
    }
    for (const box of document.querySelectorAll("[data-question]")) {
      if (box.classList.contains("veil")) continue;
      if (box.querySelector("form")) wireNumber(box); else wireChoices(box);
    }
    for (const figure of document.querySelectorAll(".live[data-live]")) Live.mount(figure);
    /* On a phone the map is too small to read: there it is a list. */
    const list = document.querySelector(".as-list");
    if (list && window.matchMedia("(max-width: 40rem)").matches) list.open = true;
    showProgress();
    window.addEventListener("scroll", liftVeils, { passive: true });
    window.addEventListener("resize", () => { fitFormulas(); liftVeils(); });
    window.addEventListener("beforeprint", beforePrint);
    window.addEventListener("afterprint", afterPrint);
    document.fonts.ready.then(() => {
      fitFormulas();
      liftVeils();
      root.dataset.ready = "yes";
    });
  }

  document.addEventListener("DOMContentLoaded", start);
  return { renderFormulas };
})();
