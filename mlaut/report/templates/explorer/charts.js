"use strict";
// Charts of the explorer, drawn by uPlot on a canvas. Colours are those of the page.

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#8b5a2b", "#7f7f7f"];
const REACH = 5; // times the distance from the median within which three quarters of the points are: the axis ends there
const NEAR = 24; // pixels within which the pointer finds a point

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(label, extra = {}) {
  return {
    label, labelSize: 26, stroke: () => colour("--quiet"), font: "12px system-ui", labelFont: "12px system-ui",
    grid: { stroke: () => colour("--line"), width: 1 }, ticks: { stroke: () => colour("--line") },
    values: (_, splits) => splits.map((x) => (x === null ? "" : shown(x, 3))), ...extra,
  };
}

/** Keep the labels of a logarithmic axis that have room: all on a short one, or 1, 2 and 5. */
function few(plot, splits) {
  const { min, max } = plot.scales.x;
  const first = (x) => Math.round(x / 10 ** Math.floor(Math.log10(x) + 1e-9));
  return splits.map((x) => (max / min < 5 || (max / min < 50 ? [1, 2, 5] : [1]).includes(first(x)) ? x : null));
}

/** Return 1 to 9 times powers of 10; uPlot's own search may not end after a chart with another axis. */
function powers(plot, _, min, max) {
  const first = Math.floor(Math.log10(min)), last = Math.ceil(Math.log10(max));
  const all = range(last - first + 1).flatMap((at) => range(9).map((i) => (i + 1) * 10 ** (first + at)));
  return all.filter((x) => x >= min && x <= max);
}

const across = (label, logarithmic) => (logarithmic ? axis(`${label} (logarithmic axis)`, { filter: few, splits: powers }) : axis(label));

/** Return the values that are near most others: a far one must not squeeze them. */
function most(values) {
  const middle = median(values), distances = values.map((x) => Math.abs(x - middle));
  const reach = REACH * [...distances].sort((a, b) => a - b)[Math.floor(0.75 * (values.length - 1))] || Infinity;
  return values.filter((_, i) => distances[i] <= reach);
}

const charts = new Set(); // those in the page
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((one) => one.redraw()));

/** Draw a chart in a box and keep it as wide as the box; return the chart. */
function chart(box, options, data) {
  const size = () => ({ width: Math.max(260, box.clientWidth), height: Math.round(Math.min(420, Math.max(260, box.clientWidth * 0.62))) });
  const made = new uPlot({ legend: { show: false }, ...size(), ...options }, data, box);
  charts.add(made);
  made.seen = new ResizeObserver(() => { if (box.clientWidth && made.width !== size().width) made.setSize(size()); });
  made.seen.observe(box);
  return made;
}

/** End the charts of the page, with what they listen to. */
function endCharts() {
  charts.forEach((one) => {
    one.seen.disconnect();
    one.destroy();
  });
  charts.clear();
}

/**
 * Return a figure of named points. Pointer and arrow keys go from point to point, whose text is
 * read aloud; Enter or a click picks one.
 *
 * `points` have `x`, `y`, `text`, perhaps `name` (written beside it) and `strong`. Few far points
 * do not set the axes: they stand at the edge, hollow and with their value.
 */
function scatter({ points, x, y, caption, logarithmic = false, diagonal = false, pick }) {
  points = points.filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y) && (!logarithmic || (one.x > 0 && (one.y > 0 || !diagonal))));
  points.sort((a, b) => a.x - b.x);
  let at = -1, made = null;
  const place = (one) => [made.valToPos(one.left, "x"), made.valToPos(one.up, "y")];
  const show = (next) => {
    at = next;
    hint.textContent = at < 0 ? " " : points[at].text;
    made.redraw(false);
  };
  const ends = (values, spare) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const wide = (high - low || Math.abs(high) || 1) * spare;
    return [low - wide, high + wide];
  };
  const every = points.flatMap((one) => [one.x, one.y]);
  const powered = () => ends(most(every.map(Math.log)), 0.05).map(Math.exp);
  const both = !diagonal ? null : logarithmic ? powered() : ends(most(every), 0.05);
  const xs = points.map((one) => one.x);
  const factor = logarithmic ? Math.max((xs.at(-1) / xs[0]) ** 0.08, 1.5) : 1;
  const xRange = both || (logarithmic ? [xs[0] / factor, xs.at(-1) * factor] : ends(most(xs), 0.08));
  const yRange = both || ends(most(points.map((one) => one.y)), 0.12);
  const within = (x, [low, high]) => Math.min(Math.max(x, low), high);
  points = points.map((one) => {
    const left = within(one.x, xRange), up = within(one.y, yRange);
    const far = [left === one.x ? "" : shown(one.x, 2), up === one.y ? "" : shown(one.y, 2)].filter(Boolean).join(", ");
    return { ...one, left, up, far, name: [one.name, far].filter(Boolean).join(" ") };
  });
  const gone = points.filter((one) => one.far).length;
  const words = caption + (gone ? ` Hollow: beyond the axis, at the value beside it (${gone}).` : "");
  const box = element("div", { class: "chart", tabindex: 0, role: "img", "aria-label": `${words} ${points.length} points; arrow keys read them.` });
  const hint = element("p", { class: "hint", role: "status" }, " ");
  const figure = element("figure", {}, box, hint, element("figcaption", {}, words));
  if (!points.length) return figure;
  const after = (plot) => {
    const { ctx } = plot, ratio = devicePixelRatio, taken = [];
    const at2 = (one) => [plot.valToPos(one.left, "x", true), plot.valToPos(one.up, "y", true)];
    ctx.save();
    if (diagonal) {
      ctx.strokeStyle = colour("--quiet");
      ctx.beginPath();
      ctx.moveTo(plot.valToPos(both[0], "x", true), plot.valToPos(both[0], "y", true));
      ctx.lineTo(plot.valToPos(both[1], "x", true), plot.valToPos(both[1], "y", true));
      ctx.stroke();
    }
    points.forEach((one, i) => {
      const [left, top] = at2(one);
      ctx.beginPath();
      ctx.arc(left, top, (i === at ? 7 : 4) * ratio, 0, 2 * Math.PI);
      ctx.fillStyle = ctx.strokeStyle = one.strong ? COLOURS[1] : COLOURS[0];
      ctx.globalAlpha = one.strong || i === at ? 1 : 0.65;
      if (one.far) ctx.stroke();
      else ctx.fill();
    });
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("--ink");
    ctx.font = `${12 * ratio}px system-ui`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    for (const one of points.filter((point) => point.name)) {
      const [left, top] = at2(one), wide = ctx.measureText(one.name).width;
      const right = plot.bbox.left + plot.bbox.width;
      const start = left + 8 * ratio + wide > right ? left - 8 * ratio - wide : left + 8 * ratio;
      const area = [start, top - 8 * ratio, start + wide, top + 8 * ratio];
      if (start < plot.bbox.left || taken.some((t) => t[0] < area[2] && area[0] < t[2] && t[1] < area[3] && area[1] < t[3])) continue;
      taken.push(area);
      ctx.fillText(one.name, start, top + 4 * ratio);
    }
    ctx.restore();
  };
  requestAnimationFrame(() => {
    made = chart(box, {
      scales: { x: { time: false, distr: logarithmic ? 3 : 1, range: xRange }, y: { distr: logarithmic && diagonal ? 3 : 1, range: yRange } },
      axes: [across(x, logarithmic), { ...across(y, logarithmic && diagonal), size: 60 }],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: { show: false },
      hooks: { draw: [after] },
    }, [xs, points.map((one) => one.y)]);
    const over = made.over;
    over.addEventListener("mousemove", (event) => {
      let best = -1, gap = NEAR ** 2;
      points.forEach((one, i) => {
        const [left, top] = place(one), far = (left - event.offsetX) ** 2 + (top - event.offsetY) ** 2;
        if (far < gap) [best, gap] = [i, far];
      });
      if (best !== at) show(best);
    });
    over.addEventListener("click", () => at >= 0 && pick && pick(points[at]));
  });
  box.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (move) show(Math.min(Math.max(at + move, 0), points.length - 1));
    else if (event.key === "Enter" && at >= 0 && pick) pick(points[at]);
    else return;
    event.preventDefault();
  });
  return figure;
}

/** Return a figure of lines over the same x, each with a name in the list below. */
function lines({ xs, series, x, y, caption, logarithmic = false, stepped = false, marks = false, ends }) {
  const box = element("div", { class: "chart", role: "img", "aria-label": caption });
  const names = element("ul", { class: "lines" }, ...series.map((one, at) => {
    const dash = element("span", { class: "dash", "aria-hidden": "true" });
    dash.style.background = one.plain ? colour("--quiet") : COLOURS[at % COLOURS.length];
    return element("li", {}, dash, one.name);
  }));
  requestAnimationFrame(() => chart(box, {
    scales: { x: { time: false, distr: logarithmic ? 3 : 1, range: ends }, y: { range: [0, 1] } },
    axes: [across(x, logarithmic), axis(y, { size: 60 })],
    series: [{}, ...series.map((one, at) => ({
      stroke: () => (one.plain ? colour("--quiet") : COLOURS[at % COLOURS.length]), width: one.plain ? 1 : 2, dash: at < COLOURS.length ? [] : [6, 4],
      spanGaps: true, points: { show: marks && !one.plain, size: 8, fill: COLOURS[at % COLOURS.length] }, ...(stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
    }))],
    cursor: { show: false },
  }, [xs, ...series.map((one) => one.ys)]));
  return element("figure", {}, box, names, element("figcaption", {}, caption));
}
