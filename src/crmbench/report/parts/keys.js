"use strict";
// What pages and the report do alike: steps from place to place by keys and buttons.
const places = (() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)].filter((each) => !each.closest("[hidden]"));

  function open(element) {
    for (let part = element; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  }

  function goTo(element) {
    if (!element) return;
    open(element);
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "center" });
  }

  // Where in a list of places the reader is: the last one that has the focus or is above the middle.
  function step(found, by) {
    if (!found.length) return;
    let at = found.findIndex((place) => place === document.activeElement || place.contains(document.activeElement));
    if (at < 0) {
      at = found.filter((place) => place.getBoundingClientRect().top < 80).length - 1;
      if (by < 0) at += 1;
    }
    goTo(found[Math.min(found.length - 1, Math.max(0, at + by))]);
  }

  function theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
  }

  const keys = {
    j: () => step(all("[data-row]"), 1),
    k: () => step(all("[data-row]"), -1),
    n: () => step(all(".fault"), 1),
    p: () => step(all(".fault"), -1),
    e: () => { const steps = all("details.step"), closed = steps.some((each) => !each.open); steps.forEach((each) => { each.open = closed; }); },
    o: () => { const row = document.activeElement && document.activeElement.closest("[data-row]"); const link = row && row.querySelector("a"); if (link) link.click(); },
    "/": () => { const box = all("[data-search]")[0]; if (box) { box.focus(); box.select(); } },
    t: theme,
    "?": () => { const help = document.getElementById("help"); if (help.open) help.close(); else help.showModal(); },
  };

  const buttons = { theme, help: keys["?"], fault: keys.n, unfold: keys.e, close: (button) => button.closest("dialog").close() };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, select, textarea, [contenteditable]");
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys[event.key];
    if (action && !(document.getElementById("help").open && event.key !== "?")) { event.preventDefault(); action(); }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) buttons[button.dataset.do](button);
  });

  return { all, open, goTo, keys };
})();
