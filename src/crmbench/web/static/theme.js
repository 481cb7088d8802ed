"use strict";
// Before the page is drawn, so that it does not flash in the other colours.
(() => {
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* storage is off */ }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
