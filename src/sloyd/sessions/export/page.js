"use strict";
// Which branch is shown, folding, and search. The page reads well without any of it.
(() => {
  const articles = [...document.querySelectorAll("article")];
  const byId = new Map(articles.map((article) => [article.id, article]));
  const links = [...document.querySelectorAll("#tree a")];
  const followers = new Map();
  for (const article of articles) {
    const before = article.dataset.before ?? "";
    if (!followers.has(before)) followers.set(before, []);
    followers.get(before).push(article);
  }

  // A branch is an entry, all before it, and behind it the newest of each fork.
  function showBranchOf(article) {
    const branch = new Set();
    for (let at = article; at; at = byId.get(at.dataset.before)) branch.add(at);
    for (let at = article; at; at = (followers.get(at.id) ?? []).at(-1)) branch.add(at);
    for (const other of articles) other.hidden = !branch.has(other);
    for (const link of links) {
      const on = branch.has(byId.get(link.hash.slice(1)));
      link.parentElement.classList.toggle("on", on);
      link.parentElement.classList.toggle("off", !on);
    }
  }

  function goTo(id) {
    const article = byId.get(id);
    if (!article) return;
    if (article.hidden) showBranchOf(article);
    article.scrollIntoView();
  }
  addEventListener("hashchange", () => goTo(location.hash.slice(1)));
  if (location.hash) goTo(location.hash.slice(1));

  const unfold = document.getElementById("unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    for (const fold of document.querySelectorAll("main details")) fold.open = open;
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });

  const input = document.getElementById("search");
  const output = document.getElementById("found");
  let ranges = [];
  let current = -1;

  function find() {
    ranges = [];
    current = -1;
    const wanted = input.value.trim().toLowerCase();
    if (wanted.length > 1) {
      for (const article of articles) {
        const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const text = node.data.toLowerCase();
          if (text.length !== node.data.length) continue;
          for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + wanted.length);
            ranges.push(range);
          }
        }
      }
    }
    if (globalThis.Highlight) CSS.highlights.set("found", new Highlight(...ranges));
    output.textContent = wanted.length > 1 ? `${ranges.length} found, Enter for the next` : "";
  }

  function next(step) {
    if (!ranges.length) return;
    current = (current + step + ranges.length) % ranges.length;
    const range = ranges[current];
    const place = range.startContainer.parentElement;
    const article = place.closest("article");
    if (article.hidden) showBranchOf(article);
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (globalThis.Highlight) CSS.highlights.set("current", new Highlight(range));
    place.scrollIntoView({ block: "center" });
    output.textContent = `${current + 1} of ${ranges.length}`;
  }

  let waiting = 0;
  input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 150); });
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (waiting) { clearTimeout(waiting); waiting = 0; if (current < 0) find(); }
    next(event.shiftKey ? -1 : 1);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === input || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
  });
})();
