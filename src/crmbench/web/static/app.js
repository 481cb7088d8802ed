"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  function follow(selector) { const link = one(selector); if (link) link.click(); }

  Object.assign(places.keys, {
    "[": () => follow("[data-before]"),
    "]": () => follow("[data-after]"),
    u: () => follow("[data-up]"),
    r: () => { const box = one("[data-reply]"); if (box) box.focus(); },
  });

  document.addEventListener("input", (event) => {
    const narrow = event.target.dataset && event.target.dataset.narrow;
    if (!narrow) return;
    const words = event.target.value.toLowerCase().split(/\s+/);
    all(narrow).forEach((item) => { item.parentElement.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word)); });
  });

  // A link to a place inside something folded unfolds it.
  function unfoldTarget() {
    if (location.hash === "#fault") { places.goTo(one(".fault")); return; }
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) places.open(target);
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
