"use strict";
(() => {
  const root = document.documentElement;
  document.querySelectorAll("[data-do='theme']").forEach((button) => button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
  }));
  const controls = [...document.querySelectorAll("[data-filter]")];
  function apply() {
    const value = (name) => (controls.find((c) => c.dataset.filter === name) || { value: "" }).value;
    const words = value("words").toLowerCase().split(/\s+/), role = value("role"), set = value("set");
    document.querySelectorAll("[data-board]").forEach((board) => {
      let shown = 0;
      board.querySelectorAll("[data-entry]").forEach((row) => {
        const fits = (!role || row.dataset.role === role) && words.every((word) => row.textContent.toLowerCase().includes(word));
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      board.hidden = Boolean(set && board.dataset.board !== set) || !shown;
    });
  }
  controls.forEach((control) => control.addEventListener("input", apply));
})();
