for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = (one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      if (a.dataset.value === undefined || b.dataset.value === undefined) {
        return sign * a.textContent.localeCompare(b.textContent, "en", { numeric: true });
      }
      const [x, y] = [Number(a.dataset.value), Number(b.dataset.value)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }));
}

// A link into a folded part opens it.
const unfold = () => {
  const part = document.getElementById(location.hash.slice(1))?.closest("details");
  if (part) part.open = true;
};
addEventListener("hashchange", unfold);
unfold();

// Paper cannot be unfolded: folded parts are printed but for details, and folded again afterwards.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:is(.part, .key):not([open], .detail, #explore)")];
  unfolded.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => unfolded.forEach((part) => { part.open = false; }));
