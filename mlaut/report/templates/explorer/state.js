"use strict";
// What the reader chose, and the link that keeps it.

const HOME = "#explore";
const FIRST = {
  view: 0, tab: "strategies", find: "", ranges: {}, off: [], pins: [],
  sort: null, first: -1, second: -1, dataset: -1, strategy: -1,
};

/** Return places as text: "0-3,7". */
function spans(places) {
  const sorted = [...places].sort((a, b) => a - b), found = [];
  for (const place of sorted) {
    if (found.length && found.at(-1)[1] === place - 1) found.at(-1)[1] = place;
    else found.push([place, place]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}

/** Return the places of such a text that are below a limit. */
function fromSpans(text, limit) {
  return text.split(",").filter(Boolean).flatMap((span) => {
    const [from, to] = span.split("-").map(Number);
    return range(limit).filter((place) => place >= from && place <= (to ?? from));
  });
}

/** Return the link of a state: only what differs from the first state is in it. */
function linkOf(state) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (name === "ranges") {
      for (const [property, [low, high]] of Object.entries(value)) text.append("range", `${property}:${low}:${high}`);
    } else if (name === "off" || name === "pins") {
      if (value.length) text.set(name, spans(value));
    } else if (name === "sort") {
      if (value) text.set(name, value.join(","));
    } else if (value !== FIRST[name]) text.set(name, value);
  }
  return `${HOME}${[...text].length ? "?" : ""}${text}`;
}

/** Return the state of a link; what does not suit the data is left out. */
function stateOf(link, views) {
  const state = structuredClone(FIRST);
  if (!link.startsWith(HOME)) return state;
  const text = new URLSearchParams(link.slice(HOME.length + 1));
  const whole = (name, limit) => {
    const value = Number(text.get(name) ?? -1);
    return Number.isInteger(value) && value >= 0 && value < limit ? value : FIRST[name];
  };
  state.view = whole("view", views.length);
  const view = views[state.view], k = view.strategies.length;
  for (const name of ["first", "second", "strategy"]) state[name] = whole(name, k);
  state.dataset = whole("dataset", view.datasets.length);
  state.off = fromSpans(text.get("off") ?? "", k);
  state.pins = fromSpans(text.get("pins") ?? "", k);
  state.find = text.get("find") ?? "";
  if (TABS.some(([name]) => name === text.get("tab"))) state.tab = text.get("tab");
  const [name, direction] = (text.get("sort") ?? "").split(",");
  if (/^\d+$/.test(name) && /^(a|de)scending$/.test(direction ?? "")) state.sort = [Number(name), direction];
  for (const one of text.getAll("range")) {
    const [, property, low, high] = one.match(/^(.*):(.*):(.*)$/) ?? [];
    if (property) state.ranges[property] = [low, high];
  }
  return state;
}
