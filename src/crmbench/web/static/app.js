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
    r: () => { const box = one("[data-reply]"); if (box) box.focus(); },
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

  document.addEventListener("input", (event) => {
    const narrow = event.target.dataset && event.target.dataset.narrow;
    if (!narrow) return;
    const words = event.target.value.toLowerCase().split(/\s+/);
    all(narrow).forEach((item) => { item.parentElement.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word)); });
  });

  // A link to a place inside something folded unfolds it.
  function unfoldTarget() {
    if (location.hash === "#fault") { goTo(one(".fault")); return; }
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) open(target);
  }
  window.addEventListener("hashchange", unfoldTarget);
  document.addEventListener("DOMContentLoaded", unfoldTarget);

  // What may come next in a query.
  const box = () => one("[data-complete]"), list = () => one("#offers");
  let offered = [], chosen = 0, asked = 0;
  function hideOffers() { const shown = list(); if (shown) { shown.hidden = true; shown.replaceChildren(); } offered = []; }
  function drawOffers() {
    const shown = list();
    shown.replaceChildren(...offered.map((offer, index) => {
      const item = document.createElement("li"), kind = document.createElement("span");
      item.role = "option"; item.id = "offer-" + index; item.setAttribute("aria-selected", String(index === chosen));
      item.textContent = offer.text; kind.className = "soft"; kind.textContent = offer.kind; item.append(kind);
      item.addEventListener("mousedown", (event) => { event.preventDefault(); chosen = index; takeOffer(); });
      return item;
    }));
    shown.hidden = !offered.length;
    if (offered.length) shown.children[chosen].scrollIntoView({ block: "nearest" });
  }
  function takeOffer() {
    const area = box(), offer = offered[chosen], end = area.selectionStart;
    area.setRangeText(offer.text, offer.start, end, "end");
    hideOffers(); area.focus();
    if (offer.text.endsWith(".")) askOffers();
  }
  async function askOffers() {
    const area = box(), turn = ++asked;
    const query = new URLSearchParams({ text: area.value, at: String(area.selectionStart) });
    const answer = await fetch(area.dataset.complete + "?" + query);
    if (turn !== asked || !answer.ok) return;
    offered = (await answer.json()).slice(0, 12); chosen = 0; drawOffers();
  }
  document.addEventListener("input", (event) => { if (event.target === box()) askOffers(); });
  document.addEventListener("focusout", (event) => { if (event.target === box()) hideOffers(); });
  document.addEventListener("keydown", (event) => {
    if (event.target !== box()) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.target.form.requestSubmit(); return; }
    if (event.key === "Escape") { hideOffers(); return; }
    if (!offered.length) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length; drawOffers(); event.preventDefault();
    } else if (event.key === "Tab") { takeOffer(); event.preventDefault(); }
  });

  // Forms without their button where the page answers at once.
  document.addEventListener("DOMContentLoaded", () => document.documentElement.classList.add("js"));
})();
