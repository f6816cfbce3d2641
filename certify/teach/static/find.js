/* The index of the documentation: shows the entries that hold every word typed. */
"use strict";

(() => {
  const box = document.getElementById("find");
  const found = document.getElementById("found");
  const entries = [...document.querySelectorAll("#terms > li")].map((item) => [item, item.textContent.toLowerCase()]);

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [item, text] of entries) {
      item.hidden = !words.every((word) => text.includes(word));
      count += item.hidden ? 0 : 1;
    }
    found.textContent = words.length ? `${count} of ${entries.length}` : "";
  }

  box.addEventListener("input", show);
  show();
})();
