"use strict";
// Means, wins and ranks of the datasets that a reader chooses. All other numbers are the report's.

const range = (n) => Array.from({ length: n }, (_, i) => i);
const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Return the losses of some datasets and strategies, with ranks: 1 for the smallest, ties share a mean. */
function compared(view, datasets, strategies) {
  const all = view.strategies.length, place = (i, s) => datasets[i] * all + strategies[s];
  const losses = range(datasets.length).map((i) => range(strategies.length).map((s) => view.losses[place(i, s)]));
  const scores = range(datasets.length).map((i) => range(strategies.length).map((s) => view.scores[place(i, s)]));
  const ranks = losses.map((row) => row.map((x) => row.filter((y) => y < x).length + (row.filter((y) => y === x).length + 1) / 2));
  return { datasets, strategies, n: datasets.length, k: strategies.length, losses, scores, ranks };
}

/** Return the numbers of every strategy of a selection. */
function standing(view, table) {
  return range(table.k).map((s) => {
    const id = table.strategies[s], own = table.scores.map((row) => row[s]);
    const valued = !view.incomparable && own.every((x) => !Number.isNaN(x));
    const count = (test) => table.losses.reduce((sum, row) => sum + row.filter((x, o) => o !== s && test(row[s], x)).length, 0);
    return {
      at: s, id, name: view.strategies[id], verdict: view.verdicts[view.strategies[id]] ?? "",
      rank: mean(table.ranks.map((row) => row[s])), mean: valued ? mean(own) : NaN, median: valued ? median(own) : NaN,
      wins: count((a, b) => a < b), ties: count((a, b) => a === b), losses: count((a, b) => a > b),
      ...Object.fromEntries(Object.entries(view.numbers).map(([name, values]) => [name, values[id] ?? NaN])),
    };
  });
}

/** Return the places that no other beats in both gain and seconds, the quickest first. */
function paretoFront(gains, seconds) {
  const known = range(gains.length).filter((at) => !Number.isNaN(gains[at] + seconds[at]));
  known.sort((a, b) => seconds[a] - seconds[b] || gains[b] - gains[a]);
  let best = -Infinity;
  return known.filter((at) => gains[at] > best && ((best = gains[at]), true));
}
