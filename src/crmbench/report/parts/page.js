"use strict";
(() => {
  const PAGE = 50, PACK = Number(document.body.dataset.pack), unpacked = new Map();
  const { all } = places;
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
    const asked = location.hash, found = /^#(e(\d+)-(\d+))(-fault)?$/.exec(asked);
    const pack = found && document.getElementById("pack" + found[2] + "-" + Math.floor(found[3] / PACK));
    if (!pack) { leave(); return; }
    try {
      // What is packed is markup that the report's templates escaped.
      const pages = await unpack(pack);
      if (location.hash === asked) body.innerHTML = pages[found[3] % PACK] || "";
    } catch (error) { body.textContent = "This browser cannot unpack the conversation: " + error; }
    if (location.hash !== asked) return;
    last = "#" + found[1]; back.hash = "#run" + found[2];
    overview.hidden = true; episode.hidden = false; window.scrollTo(0, 0); back.focus({ preventScroll: true });
    if (found[4]) places.goTo(all(".fault", body)[0]);
  }

  // The conversation before or after the one that is open, among those that the list shows.
  function beside(by) {
    const links = [...document.querySelectorAll("tr[data-row]:not([hidden]) td.id a")].map((link) => link.getAttribute("href"));
    const next = links[links.indexOf(last) + by];
    if (last && next) location.hash = next;
  }

  Object.assign(places.keys, {
    "[": () => beside(-1),
    "]": () => beside(1),
    u: () => { if (!episode.hidden) back.click(); },
  });

  async function narrow(form) {
    const list = document.getElementById("list" + form.dataset.list), rest = document.getElementById("rows" + form.dataset.list);
    if (rest) list.tBodies[0].insertAdjacentHTML("beforeend", (await unpack(rest)).join(""));
    const rows = [...list.querySelectorAll("tr[data-row]")];
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
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
