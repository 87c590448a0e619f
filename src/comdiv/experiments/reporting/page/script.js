"use strict";
(() => {
  const text = (cell) => (cell.dataset.value ?? cell.textContent).trim();

  // Missing values stay at the end, whichever way a column is sorted.
  function compare(a, b, direction) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
    return order * direction;
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const headers = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    headers.forEach((header, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const direction = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        headers.forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        const rows = [...body.rows];
        rows.sort((one, two) => compare(text(one.cells[index]), text(two.cells[index]), direction));
        body.append(...rows);
      });
    });
  }

  for (const filter of document.querySelectorAll(".filter")) {
    const input = filter.querySelector("input");
    const output = filter.querySelector("output");
    const body = document.getElementById(input.getAttribute("aria-controls")).tBodies[0];
    filter.hidden = false;
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of body.rows) {
        const content = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => content.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      output.value = `${shown} of ${body.rows.length} rows`;
    };
    input.addEventListener("input", apply);
    apply();
  }

  // A link into a table that is folded away, or a row that is filtered out, brings it to light.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.hidden = false;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", reveal);
  reveal();

  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => { box.open = true; }));

  const root = document.documentElement;
  const button = document.querySelector(".theme");
  const themes = ["auto", "light", "dark"];
  const remember = (theme) => { try { localStorage.setItem("comdiv-theme", theme); } catch { /* private windows */ } };
  const remembered = () => { try { return localStorage.getItem("comdiv-theme"); } catch { return null; } };
  const show = (theme) => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    button.textContent = `Colours: ${theme}`;
  };
  let theme = themes.includes(remembered()) ? remembered() : "auto";
  button.hidden = false;
  show(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    remember(theme);
    show(theme);
  });

  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("main section[id]").forEach((section) => watcher.observe(section));
})();
