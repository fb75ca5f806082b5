"use strict";
// The explorer: controls, and what it shows of the selection.

const TABS = [["strategies", "Strategies"], ["compare", "Compare two"], ["datasets", "Datasets"]];
const LABELLED = 12; // names beside points; more would hide each other
const TYPING = 150; // milliseconds without a key after which a filter is drawn

class Explorer {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.state = stateOf(location.hash, data.views);
    this.controls = element("form", { class: "controls", onsubmit: (event) => event.preventDefault() });
    this.status = element("p", { role: "status", class: "status" });
    this.tabs = element("div", { role: "tablist", "aria-label": "Explore", onkeydown: (event) => this.tabKey(event) },
      ...TABS.map(([name, words]) => element("button", { type: "button", role: "tab", id: `tab-${name}`,
        "aria-controls": "explore-panel", onclick: () => this.change({ tab: name }) }, words)));
    this.panel = element("div", { role: "tabpanel", id: "explore-panel", tabindex: -1 });
    root.replaceChildren(this.controls, this.status, this.tabs, this.panel);
    addEventListener("hashchange", () => {
      if (!location.hash.startsWith(HOME) || location.hash === linkOf(this.state)) return;
      this.state = stateOf(location.hash, data.views);
      this.drawControls();
      this.draw();
    });
    this.drawControls();
    this.draw();
  }

  get view() { return this.data.views[this.state.view]; }

  /** Take a choice over, keep it in the link, and draw anew what depends on it. */
  change(choice, { controls = false, typing = false } = {}) {
    Object.assign(this.state, choice);
    this.keep();
    if (controls) this.drawControls();
    clearTimeout(this.waiting); // while a reader types, the page draws once and not at every key
    if (typing) this.waiting = setTimeout(() => this.draw(), TYPING);
    else this.draw();
  }

  /** Keep the state in the address of the page. */
  keep() {
    try {
      history.replaceState(null, "", linkOf(this.state));
    } catch { /* a frame without an address, as in a notebook, has no links */ }
  }

  tabKey(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const at = TABS.findIndex(([name]) => name === this.state.tab);
    const [name] = TABS.at((at + move) % TABS.length);
    this.change({ tab: name });
    document.getElementById(`tab-${name}`).focus();
  }

  // ---------------------------------------------------------------------------------- controls

  drawControls() {
    const { view, state } = this;
    const views = this.data.views.map((one, at) => [at, one.title]);
    const metric = element("label", {}, "Results ", element("select", { name: "view", onchange: (event) => {
      this.state = { ...structuredClone(FIRST), tab: state.tab, view: Number(event.target.value) };
      this.change({}, { controls: true });
    } }, ...views.map(([value, text]) => element("option", { value, selected: state.view === value }, text))));
    this.controls.replaceChildren(...[
      views.length > 1 ? metric : null,
      element("label", {}, "Datasets named ", element("input", { type: "search", name: "find", value: state.find,
        oninput: (event) => this.change({ find: event.target.value }, { typing: true }) })),
      ...this.properties().map((property) => this.rangeControl(property)),
      this.strategyControl(),
      element("button", { type: "button", onclick: () => {
        this.state = { ...structuredClone(FIRST), view: state.view, tab: state.tab };
        this.change({}, { controls: true });
      } }, "Reset"),
    ].filter(Boolean));
  }

  /** Return the names of numbers that describe datasets and differ between them. */
  properties() {
    const facts = this.view.datasets.map((name) => this.facts(name));
    const names = [...new Set(facts.flatMap((one) => Object.keys(one)))];
    return names.filter((name) => {
      const values = new Set(facts.map((one) => one[name]).filter((x) => typeof x === "number"));
      return values.size > 1;
    });
  }

  facts(dataset) {
    return this.data.insides?.datasets[dataset]?.facts ?? {};
  }

  rangeControl(property) {
    const { ranges } = this.state, [low, high] = ranges[property] ?? ["", ""];
    const field = (at, value, words) => element("input", { type: "number", step: "any", value, placeholder: words, "aria-label": `${property}, ${words}`,
      oninput: (event) => {
        const ends = [...(this.state.ranges[property] ?? ["", ""])];
        ends[at] = event.target.value;
        const rest = { ...this.state.ranges, [property]: ends };
        if (!ends.some(Boolean)) delete rest[property];
        this.change({ ranges: rest }, { typing: true });
      } });
    return element("span", { class: "range" }, `${property} `, field(0, low, "from"), field(1, high, "to"));
  }

  strategyControl() {
    const { view, state } = this, off = new Set(state.off);
    const boxes = view.strategies.map((name, at) => element("label", {}, element("input", { type: "checkbox", value: at, checked: !off.has(at),
      onchange: () => this.change({ off: boxes.map((box, i) => (box.firstChild.checked ? -1 : i)).filter((i) => i >= 0) }) }), ` ${name}`));
    const find = element("input", { type: "search", "aria-label": "Strategies named", placeholder: "find", oninput: () => {
      boxes.forEach((box) => { box.hidden = !box.textContent.toLowerCase().includes(find.value.toLowerCase()); });
    } });
    const all = (on) => () => {
      boxes.filter((box) => !box.hidden).forEach((box) => { box.firstChild.checked = on; });
      this.change({ off: boxes.map((box, i) => (box.firstChild.checked ? -1 : i)).filter((i) => i >= 0) });
    };
    return element("details", { class: "choose" }, element("summary", {}, "Strategies"), find,
      element("button", { type: "button", onclick: all(true) }, "all"), element("button", { type: "button", onclick: all(false) }, "none"),
      element("div", { class: "boxes", role: "group", "aria-label": "Strategies" }, ...boxes));
  }

  // --------------------------------------------------------------------------------- selection

  /** Return the datasets that the filters leave, as places. */
  datasets() {
    const { view, state } = this, find = state.find.toLowerCase();
    return range(view.datasets.length).filter((at) => {
      const name = view.datasets[at], facts = this.facts(name);
      return name.toLowerCase().includes(find) && Object.entries(state.ranges).every(([property, [low, high]]) => {
        const value = facts[property];
        return (low === "" || value >= Number(low)) && (high === "" || value <= Number(high));
      });
    });
  }

  /** Return the compared table of the selection; raise an error with the reason why there is none. */
  table() {
    const { view, state } = this, off = new Set(state.off), known = (i, s) => !Number.isNaN(view.losses[i * view.strategies.length + s]);
    const rows = this.datasets().filter((i) => range(view.strategies.length).some((s) => known(i, s)));
    const columns = range(view.strategies.length).filter((s) => !off.has(s) && rows.some((i) => known(i, s)));
    if (!rows.length || !columns.length) throw new Error("Nothing is left: widen the filters.");
    return compared(view, rows, columns);
  }

  draw() {
    endCharts();
    const { state, view } = this;
    for (const [name] of TABS) {
      const tab = document.getElementById(`tab-${name}`), on = name === state.tab;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
    try {
      this.now = this.table();
    } catch (error) {
      this.now = null;
      this.status.textContent = error.message;
      return this.panel.replaceChildren();
    }
    const { n, k } = this.now, parts = [`${n} of ${view.datasets.length} datasets, ${k} of ${view.strategies.length} strategies.`];
    if (n < view.datasets.length || k < view.strategies.length) {
      parts.push("Means, wins and ranks are of this selection; all else is of the whole report.",
        "A selection that was made after seeing the results shows where to look; it proves nothing.");
    }
    this.status.textContent = parts.join(" ");
    this.rows = standing(view, this.now);
    keepingFocus(this.panel, () => this[`draw_${state.tab}`]());
  }

  // -------------------------------------------------------------------------------- strategies

  draw_strategies() {
    const { view, state, rows } = this, pins = new Set(state.pins), whole = "By all strategies and datasets, whatever is selected here";
    const number = (name, key, title, down = true) => ({ name, title, down, value: (row) => row[key] });
    const columns = [
      { name: "strategy", label: true, value: (row) => row.name, cell: (row) => this.pinned(row, pins) },
      number("average rank", "rank", "1 is the best; ties share the mean of their ranks", false),
      number(`mean ${view.metric}`, "mean", "Mean over datasets", view.up),
      number("median", "median", "Median over datasets", view.up),
      number("wins", "wins", "Duels won, over all other strategies and datasets"),
      number("ties", "ties"), number("losses", "losses", "", false),
      { ...number("P(best)", "P(best)", `Probability of the best average rank. ${whole}`),
        cell: (row) => (row["P(best)"] < 0.01 ? "< 0.01" : row["P(best)"] > 0.99 ? "> 0.99" : row["P(best)"].toFixed(2)) },
      number("Elo", "Elo", `400 points are odds of 10 to 1; the mean is 1000. ${whole}`),
      number("seconds", "seconds", "Mean seconds to tune and fit", false),
      number("failed", "failed", `Datasets on which a cell failed. ${whole}`, false),
      { name: "verdict of the report", title: whole, value: (row) => row.verdict },
    ].filter((one) => rows.some((row) => one.label || one.name.startsWith("verdict")
      || (one.name === "failed" ? row.failed : !Number.isNaN(one.value(row)))));
    const sort = state.sort && state.sort[0] < columns.length ? state.sort : [1, "ascending"];
    const shownRows = dataTable({ caption: "Strategies of this selection", rows, columns, sort,
      first: (row) => pins.has(row.id), sorted: (one) => { state.sort = one; this.keep(); } });
    this.panel.replaceChildren(...[shownRows, this.cost(rows)].filter(Boolean));
  }

  pinned(row, pins) {
    const on = pins.has(row.id);
    return element("span", {}, element("button", { type: "button", class: "pin", "aria-pressed": String(on), "aria-label": `Pin ${row.name}`,
      title: "Keep on top and mark in the figures",
      onclick: () => this.change({ pins: on ? this.state.pins.filter((id) => id !== row.id) : [...this.state.pins, row.id] }) }, on ? "★" : "☆"), row.name);
  }

  cost(rows) {
    const byMean = rows.some((row) => !Number.isNaN(row.mean)), up = byMean ? this.view.up : false;
    const key = byMean ? "mean" : "rank", name = byMean ? `mean ${this.view.metric}` : "average rank";
    const gains = rows.map((row) => (up ? row[key] : -row[key]));
    const seconds = rows.map((row) => (row.seconds > 0 ? row.seconds : NaN));
    if (seconds.every(Number.isNaN)) return null;
    const front = new Set(paretoFront(gains, seconds)), pins = new Set(this.state.pins);
    return scatter({
      points: rows.map((row) => ({
        x: seconds[row.at], y: row[key], strong: front.has(row.at), id: row.id,
        name: front.has(row.at) || pins.has(row.id) || rows.length <= LABELLED ? row.name : "",
        text: `${row.name}: ${name} ${shown(row[key])}, ${shown(row.seconds, 3)} seconds${front.has(row.at) ? "; no other beats it in both" : ""}`,
      })),
      x: "training seconds", y: name, logarithmic: true,
      caption: `${name} against mean seconds to tune and fit. Orange: no other strategy beats it in both.`,
      pick: (point) => this.change({ tab: "compare", second: point.id }),
    });
  }

  // ------------------------------------------------------------------------------- compare two

  draw_compare() {
    const { rows, view } = this, table = this.now;
    const order = [...rows].sort((a, b) => a.rank - b.rank);
    if (order.length < 2) return this.panel.replaceChildren("Choose two strategies or more.");
    const chosen = (id, spare) => rows.find((row) => row.id === id) ?? spare;
    const first = chosen(this.state.first, order[0]);
    let second = chosen(this.state.second, order.find((row) => row !== first));
    if (second === first) second = order.find((row) => row !== first);
    const pick = (name, own, words) => element("label", {}, words, element("select", { name, onchange: (event) => this.change({ [name]: Number(event.target.value) }) },
      ...order.map((row) => element("option", { value: row.id, selected: row === own }, row.name))));
    const score = (row, i) => table.scores[i][row.at];
    const pairs = range(table.n).map((i) => ({
      i, name: view.datasets[table.datasets[i]], a: score(first, i), b: score(second, i),
      ahead: Math.sign(table.losses[i][second.at] - table.losses[i][first.at]),
    }));
    for (const pair of pairs) {
      if (Number.isNaN(pair.a + pair.b)) pair.ahead = NaN;
      pair.gap = view.ratios ? pair.a / pair.b : pair.ahead === 0 ? 0 : pair.a - pair.b;
    }
    const count = (sign) => pairs.filter((pair) => Object.is(pair.ahead, sign) || pair.ahead === sign).length;
    const words = ["worse", "equal", "better"], missing = count(NaN) ? ` On ${count(NaN)} a result is missing.` : "";
    this.panel.replaceChildren(
      element("p", { class: "controls" }, pick("first", first, "Compare "), pick("second", second, " with ")),
      element("p", { class: "lead" }, `${first.name} is better on ${count(1)}, equal on ${count(0)} and worse on ${count(-1)} of ${table.n} datasets.${missing}`),
      element("div", { class: "pair" }, scatter({
        points: pairs.map((pair) => ({ x: pair.b, y: pair.a, id: table.datasets[pair.i], strong: pair.ahead < 0,
          text: `${pair.name}: ${first.name} ${shown(pair.a)}, ${second.name} ${shown(pair.b)}` })),
        x: `${view.metric} of ${second.name}`, y: `${view.metric} of ${first.name}`, diagonal: true,
        caption: `A point a dataset; blue where ${first.name} is better, orange where it is worse. Click one to open it.`,
        pick: (point) => this.change({ tab: "datasets", dataset: point.id }),
      }),
      dataTable({
        caption: `${view.metric} by dataset`, rows: pairs, sort: [3, "descending"],
        columns: [
          { name: "dataset", label: true, value: (pair) => pair.name, cell: (pair) => this.opens(table.datasets[pair.i]) },
          { name: first.name, value: (pair) => pair.a }, { name: second.name, value: (pair) => pair.b },
          { name: view.ratios ? "ratio" : "difference", value: (pair) => pair.gap, down: true },
          { name: `${first.name} is`, value: (pair) => words[pair.ahead + 1] ?? "missing" },
        ],
      })));
  }

  opens(id) {
    return element("button", { type: "button", class: "open", onclick: () => this.change({ tab: "datasets", dataset: id }) }, this.view.datasets[id]);
  }

  // ---------------------------------------------------------------------------------- datasets

  draw_datasets() {
    const { view, state } = this, table = this.now;
    if (state.dataset >= 0) return this.drawDataset(state.dataset);
    const properties = this.properties();
    const rows = range(table.n).map((i) => {
      const own = table.losses[i];
      const best = own.indexOf(Math.min(...own)), worst = own.indexOf(Math.max(...own));
      const ties = own.filter((loss) => loss === own[best]).length - 1;
      return { id: table.datasets[i], best: this.rows[best].name + (ties ? ` and ${ties} more` : ""),
        score: table.scores[i][best], spread: own[worst] - own[best], facts: this.facts(view.datasets[table.datasets[i]]) };
    });
    this.panel.replaceChildren(dataTable({
      caption: "Datasets of this selection; open one by its name", rows, sort: [0, "ascending"],
      columns: [
        { name: "dataset", label: true, value: (row) => view.datasets[row.id], cell: (row) => this.opens(row.id) },
        ...properties.map((name) => ({ name, value: (row) => row.facts[name] ?? NaN, down: true })),
        { name: "best", value: (row) => row.best }, { name: `best ${view.metric}`, value: (row) => row.score, down: view.up },
        { name: "best minus worst", title: "How far the best and the worst strategy are apart", value: (row) => row.spread, down: true },
      ],
    }));
  }

  drawDataset(id) {
    const { view, state, data } = this, name = view.datasets[id], known = data.insides?.datasets[name] ?? {};
    const off = new Set(state.off), k = view.strategies.length;
    const chosen = new Map(), failed = new Map();
    for (const [strategy, count, ...texts] of known.chosen ?? []) {
      chosen.set(strategy, [...(chosen.get(strategy) ?? []), [count, data.insides.texts[texts[0]]]]);
    }
    for (const [strategy, count, ...texts] of known.failed ?? []) {
      failed.set(strategy, [...(failed.get(strategy) ?? []), [count, ...texts.map((at) => data.insides.texts[at])]]);
    }
    const rows = range(k).filter((s) => !off.has(s)).map((s) => {
      return { id: s, name: view.strategies[s], score: view.scores[id * k + s],
        ends: range(2).map((end) => view.intervals[(id * k + s) * 2 + end] ?? NaN),
        seconds: range(3).map((phase) => view.seconds[(id * k + s) * 3 + phase]),
        missing: view.reasons[view.holes[id * k + s] - 1] ?? "",
        chosen: (chosen.get(view.strategies[s]) ?? []).map(([count, text]) => (count > 1 ? `${count} x ` : "") + text).join("; ") };
    });
    const phases = ["tuning", "fitting", "predicting"].map((word, at) => ({ name: `${word} seconds`, value: (row) => row.seconds[at] }));
    const columns = [
      { name: "strategy", label: true, value: (row) => row.name, cell: (row) => element("button", { type: "button", class: "open",
        "aria-pressed": String(row.id === state.strategy), onclick: () => this.change({ strategy: row.id }) }, row.name) },
      { name: view.metric, value: (row) => row.score, down: view.up },
      ...["low", "high"].map((one, at) => ({ name: `${one} ${view.scenario}`, value: (row) => row.ends[at], title: `95 % interval: ${view.of}` })), ...phases,
      { name: "missing", value: (row) => row.missing }, { name: "chosen parameters", value: (row) => row.chosen },
    ].filter((one) => rows.some((row) => { const x = one.value(row); return typeof x === "number" ? !Number.isNaN(x) : x; }));
    const facts = Object.entries(known.facts ?? {}).map(([key, value]) => `${key} ${shown(Number(value)) === "-" ? value : shown(value)}`);
    const open = rows.find((row) => row.id === state.strategy) ?? rows.find((row) => failed.has(row.name))
      ?? [...rows].sort((a, b) => byKey(view.up ? -1 : 1)(a.score, b.score))[0];
    this.panel.replaceChildren(...[
      element("p", {}, element("button", { type: "button", onclick: () => this.change({ dataset: -1 }) }, "← all datasets")),
      element("h3", {}, name), facts.length ? element("p", { class: "quiet" }, facts.join(", ")) : null,
      dataTable({ caption: `Strategies on ${name}${data.insides ? "; choose one by its name to see more below" : ""}`, rows, columns, sort: [1, view.up ? "descending" : "ascending"] }),
      open && data.insides ? this.inside(open.name, known, failed.get(open.name) ?? []) : null,
      ...(data.insides?.notes ?? []).map((note) => element("p", { class: "quiet" }, `${note}.`)),
    ].filter(Boolean));
  }

  /** Return failures, confusion matrix and calibration curve of a strategy on a dataset. */
  inside(strategy, known, failures) {
    const parts = [element("h4", {}, strategy)];
    for (const [count, status, reason, trace] of failures) {
      parts.push(element("p", { class: "warning" }, `${count} ${count > 1 ? "cells" : "cell"} ${status}: ${reason}`));
      if (trace) parts.push(element("details", {}, element("summary", {}, "Traceback"), element("pre", { tabindex: 0 }, trace)));
    }
    const c = known.classes?.length ?? 0;
    for (const one of known.predicted ?? []) {
      const at = one.strategies.indexOf(strategy);
      if (at < 0) continue;
      const counts = this.data.array(one.confusion).subarray(at * c * c, (at + 1) * c * c);
      const figures = element("div", { class: "pair" });
      parts.push(figures);
      if (counts.some(Boolean)) figures.append(this.confusion(known.classes, counts));
      const bins = this.data.insides.bins, curve = this.data.array(one.curves).subarray(at * 3 * bins, (at + 1) * 3 * bins);
      if (curve.subarray(0, bins).some(Boolean)) figures.append(this.calibration(curve, bins));
    }
    return element("section", { "aria-label": strategy, class: "inside" }, ...parts);
  }

  confusion(classes, counts) {
    const c = classes.length, most = Math.max(...counts);
    const caption = "Test rows of all folds by true class (rows) and predicted class (columns).";
    return element("figure", {}, element("figcaption", {}, caption), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix" }, element("table", { class: "confusion" },
      element("thead", {}, element("tr", {}, element("th", {}), ...classes.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...classes.map((name, row) => element("tr", {}, element("th", { scope: "row" }, name),
        ...range(c).map((col) => element("td", { class: `number shade-${Math.ceil((4 * counts[row * c + col]) / most)}` }, String(counts[row * c + col])))))))));
  }

  calibration(curve, bins) {
    const used = range(bins).filter((bin) => curve[bin]);
    const xs = [0, ...used.map((bin) => curve[bins + bin]), 1];
    return lines({
      xs, marks: true, ends: [0, 1], x: "probability of the predicted class", y: "share right",
      series: [{ name: "perfect", ys: xs, plain: true }, { name: "observed", ys: [null, ...used.map((bin) => curve[2 * bins + bin]), null] }],
      caption: `Calibration: test rows by the probability of their predicted class, ${used.map((bin) => `${shown(curve[bins + bin], 2)}: ${shown(curve[2 * bins + bin], 2)} of ${curve[bin]}`).join("; ")}.`,
    });
  }
}

// Everything starts when it is first looked at, so that the page opens fast.
let unpacking = null;
const loaded = () => (unpacking ??= unpacked());

function start() {
  const part = document.getElementById("explore");
  let explorer = null;
  const begin = async () => {
    if (!part.open) return;
    const data = await loaded();
    explorer ??= new Explorer(document.getElementById("explorer"), data);
  };
  if (part) {
    part.addEventListener("toggle", begin);
    const follow = async () => {
      if (!location.hash.startsWith(HOME)) return;
      part.open = true;
      await begin();
      part.scrollIntoView();
    };
    addEventListener("hashchange", follow);
    follow();
  }
  for (const place of document.querySelectorAll("[data-late]")) {
    place.closest("details").addEventListener("toggle", async () => {
      if (!place.hasChildNodes()) place.append(lateTable((await loaded()).tables[place.dataset.late]));
    }, { once: true });
  }
}
start();
