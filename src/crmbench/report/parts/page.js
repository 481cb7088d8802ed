"use strict";
(() => {
  const PAGE = 50, PACK = Number(document.body.dataset.pack), unpacked = new Map();
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const overview = document.getElementById("overview"), episode = document.getElementById("episode");
  const body = document.getElementById("episode-body"), back = document.getElementById("back");
  let last = "";

  function unpack(pack) {
    if (!unpacked.has(pack)) unpacked.set(pack, (async () => {
      const bytes = Uint8Array.from(atob(pack.textContent), (c) => c.charCodeAt(0));
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    })());
    return unpacked.get(pack);
  }

  function leave() {
    episode.hidden = true; overview.hidden = false; body.replaceChildren();
    const row = last && document.querySelector('a[href="' + last + '"]');
    if (row) { row.focus({ preventScroll: true }); row.scrollIntoView({ block: "center" }); }
    last = "";
  }

  // The address says which episode is open, so that it can be shared and the browser goes back.
  async function follow() {
    const asked = location.hash, found = /^#e(\d+)-(\d+)$/.exec(asked);
    const pack = found && document.getElementById("pack" + found[1] + "-" + Math.floor(found[2] / PACK));
    if (!pack) { leave(); return; }
    try {
      // What is packed is markup that the report's templates escaped.
      const pages = await unpack(pack);
      if (location.hash === asked) body.innerHTML = pages[found[2] % PACK] || "";
    } catch (error) { body.textContent = "This browser cannot unpack the conversation: " + error; }
    if (location.hash !== asked) return;
    last = asked; back.hash = "#run" + found[1];
    overview.hidden = true; episode.hidden = false; window.scrollTo(0, 0); back.focus({ preventScroll: true });
  }

  function act(what) {
    if (what === "fault") {
      const fault = body.querySelector(".fault");
      if (fault) { fault.tabIndex = -1; fault.focus({ preventScroll: true }); fault.scrollIntoView({ block: "center" }); }
    }
    if (what === "unfold") {
      const steps = all("details.step", body), closed = steps.some((step) => !step.open);
      steps.forEach((step) => { step.open = closed; });
    }
  }

  async function narrow(form) {
    const list = document.getElementById("list" + form.dataset.list), rest = document.getElementById("rows" + form.dataset.list);
    if (rest) list.tBodies[0].insertAdjacentHTML("beforeend", (await unpack(rest)).join(""));
    const rows = all("tr[data-row]", list);
    const words = rows.map((row) => (row.textContent + " " + row.dataset.words).toLowerCase());
    const more = form.parentElement.querySelector("[data-more]"), none = form.parentElement.querySelector("[data-none]");
    let limit = PAGE;
    const draw = () => {
      const asked = form.elements.words.value.toLowerCase(), outcome = form.elements.outcome.value;
      let found = 0;
      rows.forEach((row, i) => {
        const fits = (!outcome || row.dataset.standing === outcome) && words[i].includes(asked);
        row.hidden = !fits || (found += 1) > limit;
      });
      more.hidden = found <= limit; more.textContent = "Show more (" + (found - limit) + ")"; none.hidden = found > 0;
    };
    form.addEventListener("input", () => { limit = PAGE; draw(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", () => { limit += PAGE; draw(); });
    draw();
  }

  all("form[data-list]").forEach(narrow);
  document.addEventListener("click", (event) => { const button = event.target.closest("[data-do]"); if (button) act(button.dataset.do); });
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
