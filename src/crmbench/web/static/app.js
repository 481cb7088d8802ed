"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  function toggleTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
  }

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
  function step(places, by) {
    if (!places.length) return;
    const focused = places.findIndex((place) => place === document.activeElement || place.contains(document.activeElement));
    let at = focused;
    if (at < 0) {
      at = places.filter((place) => place.getBoundingClientRect().top < 80).length - 1;
      if (by < 0) at += 1;
    }
    goTo(places[Math.min(places.length - 1, Math.max(0, at + by))]);
  }

  function follow(selector) { const link = one(selector); if (link) link.click(); }

  const keys = {
    j: () => step(all("[data-row]"), 1),
    k: () => step(all("[data-row]"), -1),
    n: () => step(all(".fault"), 1),
    p: () => step(all(".fault"), -1),
    e: () => { const steps = all("details.step"), closed = steps.some((s) => !s.open); steps.forEach((s) => { s.open = closed; }); },
    o: () => { const row = document.activeElement && document.activeElement.closest("[data-row]"); const link = row && row.querySelector("a"); if (link) link.click(); },
    "/": () => { const box = one("[data-search]"); if (box) { box.focus(); box.select(); } },
    "[": () => follow("[data-before]"),
    "]": () => follow("[data-after]"),
    u: () => follow("[data-up]"),
    t: toggleTheme,
    "?": () => { const help = one("#help"); if (help.open) help.close(); else help.showModal(); },
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest && event.target.closest("input, select, textarea, [contenteditable]");
    if (typing) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys[event.key];
    if (action && !(one("#help").open && event.key !== "?")) { event.preventDefault(); action(); }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (!button) return;
    const act = button.dataset.do;
    if (act === "theme") toggleTheme();
    if (act === "help") keys["?"]();
    if (act === "close") button.closest("dialog").close();
    if (act === "fault") step(all(".fault"), 1);
    if (act === "unfold") keys.e();
  });

  // A link to a place inside something folded unfolds it.
  function unfoldTarget() {
    if (location.hash === "#fault") { goTo(one(".fault")); return; }
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) open(target);
  }
  window.addEventListener("hashchange", unfoldTarget);
  document.addEventListener("DOMContentLoaded", unfoldTarget);

  // Forms without their button where the page answers at once.
  document.addEventListener("DOMContentLoaded", () => document.documentElement.classList.add("js"));
})();
