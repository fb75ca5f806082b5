"use strict";
// The statistics of the explorer: the definitions of mlaut.analysis, written for typed arrays.
// tests/report/explorer compares every number with Python's. Arrays of (n datasets, k strategies)
// or (n, k, c cells) are flat, the last axis first to change.

const ELO_RIDGE = 1e-6 / Math.log(10) ** 2; // as in mlaut/analysis/methods/ratings/elo.py

const SKIPPED = 2; // in "not run" of a view: above a size limit; 1: not run, 0: a failure

// ------------------------------------------------------------------- selections and missing cells

/** Return the cells of some datasets, strategies and folds of a view. */
function selected(view, datasets, strategies, folds) {
  const [k, all] = [view.strategies.length, view.repeats * view.folds];
  const [n, m, c] = [datasets.length, strategies.length, folds.length];
  const scores = new Float64Array(n * m * c), losses = new Float64Array(n * m * c);
  const expected = new Uint8Array(n * c), waiting = new Uint8Array(n * m * c);
  for (let i = 0, at = 0; i < n; i++) {
    for (let f = 0; f < c; f++) expected[i * c + f] = view.expected[datasets[i] * all + folds[f]];
    for (let s = 0; s < m; s++) {
      for (let f = 0; f < c; f++, at++) {
        const from = (datasets[i] * k + strategies[s]) * all + folds[f];
        scores[at] = view.scores[from];
        losses[at] = view.offset + view.slope * scores[at];
        waiting[at] = view.holes[from] > 0 ? view["not run"][view.holes[from] - 1] : 0;
      }
    }
  }
  return { datasets: [...datasets], strategies: [...strategies], c, scores, losses, expected, waiting };
}

/** Return the cells of the datasets and strategies (positions within a selection) that stay. */
function kept(cells, rows, columns) {
  const [k, c] = [cells.strategies.length, cells.c];
  const take = (from, make) => {
    const found = new make(rows.length * columns.length * c);
    let at = 0;
    for (const i of rows) {
      for (const s of columns) {
        for (let f = 0; f < c; f++) found[at++] = from[(i * k + s) * c + f];
      }
    }
    return found;
  };
  const expected = new Uint8Array(rows.length * c);
  rows.forEach((i, row) => expected.set(cells.expected.subarray(i * c, i * c + c), row * c));
  return {
    datasets: rows.map((i) => cells.datasets[i]),
    strategies: columns.map((s) => cells.strategies[s]),
    c,
    scores: take(cells.scores, Float64Array),
    losses: take(cells.losses, Float64Array),
    waiting: take(cells.waiting, Uint8Array),
    expected,
  };
}

/** Return whether ``test(i, s, f, at)`` holds for some cell, by dataset and by strategy. */
function anywhere(cells, test) {
  const [n, k, c] = [cells.datasets.length, cells.strategies.length, cells.c];
  const found = { datasets: new Uint8Array(n), strategies: new Uint8Array(k), any: false };
  for (let i = 0, at = 0; i < n; i++) {
    for (let s = 0; s < k; s++) {
      for (let f = 0; f < c; f++, at++) {
        if (test(i, s, f, at)) found.datasets[i] = found.strategies[s] = found.any = 1;
      }
    }
  }
  return found;
}

const isHole = (cells) => (i, s, f, at) => cells.expected[i * cells.c + f] && Number.isNaN(cells.losses[at]);
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Return cells without gaps, as `treat_missing` does, with notes on what was left out or filled. */
function treated(cells, how, fallback) {
  const notes = [];
  let imputed = null, ranksOnly = false;
  const every = () => [range(cells.datasets.length), range(cells.strategies.length)];
  const drop = (what, gone, why) => {
    const count = gone.reduce((sum, one) => sum + (one ? 1 : 0), 0);
    if (!count) return;
    if (count === gone.length) throw new Error(`No ${what} would be left: ${why}.`);
    const stay = range(gone.length).filter((place) => !gone[place]);
    const [rows, columns] = every();
    notes.push(`${count} of ${gone.length} ${what} left out: ${why}`);
    cells = what === "datasets" ? kept(cells, stay, columns) : kept(cells, rows, stay);
  };
  const dropEmpty = () => {
    const has = anywhere(cells, (i, s, f, at) => !Number.isNaN(cells.scores[at])).strategies;
    drop("strategies", Array.from(has, (one) => !one), "no result anywhere");
  };
  if (fallback >= 0 && !cells.strategies.includes(fallback)) {
    throw new Error(`${how} stands in for missing cells and is not selected: treat them in another way.`);
  }
  if (!anywhere(cells, isHole(cells)).any) return { cells, notes, imputed, ranksOnly };
  if (how === "drop datasets") {
    drop("datasets", Array.from(anywhere(cells, isHole(cells)).datasets), "a cell is missing");
  } else if (how === "drop strategies") {
    drop("strategies", Array.from(anywhere(cells, isHole(cells)).strategies), "a cell is missing");
  } else if (how === "failures last") {
    dropEmpty();
    const limited = (i, s, f, at) => cells.waiting[at] === SKIPPED;
    const often = range(cells.strategies.length).map((s) => 2 * anywhere(cells, (i, other, f, at) =>
      other === s && limited(i, s, f, at)).datasets.reduce((a, b) => a + b, 0) > cells.datasets.length);
    drop("strategies", often, "above their size limit on most datasets");
    drop("datasets", Array.from(anywhere(cells, limited).datasets), "above the size limit of a strategy");
    const waits = anywhere(cells, (i, s, f, at) => cells.waiting[at]).datasets;
    drop("datasets", Array.from(waits), "not run by all");
    drop("datasets", withoutAny(cells), "no strategy has a score on all folds");
    dropEmpty();
  }
  if (anywhere(cells, isHole(cells)).any) {
    const filled = filledCells(cells, how, fallback);
    ranksOnly = how === "failures last" || how === "worst rank";
    notes.push(`${filled.count} missing cells ${ranksOnly ? "count as last" : `get ${filled.words}`}`);
    ({ cells, imputed } = filled);
  }
  return { cells, notes, imputed, ranksOnly };
}

/** Return for each dataset whether a cell of it has a score of no strategy. */
function withoutAny(cells) {
  const [k, c] = [cells.strategies.length, cells.c];
  return cells.datasets.map((_, i) => range(c).some((f) => cells.expected[i * c + f]
    && range(k).every((s) => Number.isNaN(cells.scores[(i * k + s) * c + f]))));
}

/** Return cells whose gaps have the worst loss, one just above it, or that of the fallback. */
function filledCells(cells, how, fallback) {
  const [n, k, c] = [cells.datasets.length, cells.strategies.length, cells.c];
  const losses = cells.losses.slice(), scores = cells.scores.slice();
  const imputed = new Uint8Array(n * k);
  const stand = cells.strategies.indexOf(fallback);
  const above = how === "failures last" || how === "worst rank";
  let count = 0;
  for (let i = 0; i < n; i++) {
    let worst = -Infinity, size = 0;
    for (let at = i * k * c; at < (i + 1) * k * c; at++) {
      if (Number.isNaN(cells.losses[at])) continue;
      worst = Math.max(worst, cells.losses[at]);
      size = Math.max(size, Math.abs(cells.losses[at]));
    }
    for (let f = 0; f < c; f++) {
      let here = -Infinity;
      for (let s = 0; s < k; s++) {
        const loss = cells.losses[(i * k + s) * c + f];
        if (loss > here) here = loss;
      }
      let value = (here > -Infinity ? here : worst) + (above ? 1e-6 * (size > 0 ? size : 1) : 0);
      if (stand >= 0) value = cells.losses[(i * k + stand) * c + f];
      for (let s = 0; s < k; s++) {
        const at = (i * k + s) * c + f;
        if (!cells.expected[i * c + f] || !Number.isNaN(cells.losses[at])) continue;
        if (!Number.isFinite(value)) throw new Error("A missing cell has no value to stand in for it.");
        losses[at] = value;
        scores[at] = NaN; // a loss that stands in has no score of its own
        imputed[i * k + s] = 1;
        count++;
      }
    }
  }
  const words = stand >= 0 ? "the loss of the strategy that stands in" : "the largest loss seen there";
  return { cells: { ...cells, losses, scores }, imputed, count, words };
}

/** Return mean scores and losses, equal but for rounding noise, and ranks of treated cells. */
function compared(view, found) {
  const { cells } = found;
  const [n, k, c] = [cells.datasets.length, cells.strategies.length, cells.c];
  const losses = new Float64Array(n * k), scores = new Float64Array(n * k);
  for (let i = 0; i < n; i++) {
    for (let s = 0; s < k; s++) {
      let sum = 0, count = 0;
      for (let f = 0; f < c; f++) {
        if (!cells.expected[i * c + f]) continue;
        sum += cells.losses[(i * k + s) * c + f];
        count++;
      }
      losses[i * k + s] = sum / count;
      scores[i * k + s] = (sum / count - view.offset) / view.slope;
    }
  }
  const ranks = new Float64Array(n * k), equal = new Float64Array(n * k);
  for (let i = 0; i < n; i++) {
    const [from, to] = [i * k, i * k + k], row = losses.subarray(from, to);
    const noise = row.map((loss, s) => view.noise * Math.max(Math.abs(loss), Math.abs(scores[from + s])));
    rank(row, noise, ranks.subarray(from, to), equal.subarray(from, to));
  }
  return { ...found, n, k, losses, scores, ranks, equal };
}

/**
 * Rank values: 1 for the smallest; ties share the mean of their ranks. Values that differ by noise
 * become equal: from the smallest on, each joins the group before it. `equal` gets the size of the
 * group of each value.
 */
function rank(values, noise, ranks, equal) {
  const order = range(values.length).sort((a, b) => values[a] - values[b] || a - b);
  for (let from = 0, to; from < order.length; from = to) {
    const first = values[order[from]], allowed = noise[order[from]];
    for (to = from + 1; to < order.length; to++) {
      if (!(values[order[to]] - first <= Math.min(noise[order[to]], allowed))) break;
    }
    for (let at = from; at < to; at++) {
      values[order[at]] = first;
      ranks[order[at]] = (from + to + 1) / 2;
      equal[order[at]] = to - from;
    }
  }
}

// ------------------------------------------------------------------------------ one number a strategy

const column = (values, table, s) => range(table.n).map((i) => values[i * table.k + s]);
const mean = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Return whether the mean over datasets of each strategy has a meaning. */
function meaningful(view, table) {
  if (view.incomparable && table.n > 1) return range(table.k).map(() => false);
  const filled = table.ranksOnly ? table.imputed : null;
  return range(table.k).map((s) => !filled || !column(filled, table, s).some(Boolean));
}

/** Return wins, ties and losses of each strategy, over all other strategies and datasets. */
function duelCounts(table) {
  const { n, k, ranks, equal } = table;
  const counts = range(k).map(() => [0, 0, 0]);
  for (let at = 0; at < n * k; at++) {
    const own = counts[at % k], others = (equal[at] - 1) / 2;
    own[0] += k - ranks[at] - others;
    own[1] += equal[at] - 1;
    own[2] += ranks[at] - 1 - others;
  }
  return counts;
}

/** Return Elo ratings with a mean of 1000: `elo_ratings` without its intervals. */
function eloRatings(table) {
  const { n, k } = table;
  const won = duelCounts(table).map(([wins, ties]) => wins + ties / 2);
  const x = new Float64Array(k), slope = new Float64Array(k), bend = new Float64Array(k * k);
  for (let step = 0; step < 100; step++) {
    bend.fill(0);
    for (let s = 0; s < k; s++) {
      slope[s] = won[s] - ELO_RIDGE * x[s];
      bend[s * k + s] = ELO_RIDGE;
    }
    for (let s = 0; s < k; s++) {
      for (let o = 0; o < k; o++) {
        if (o === s) continue;
        const p = 1 / (1 + Math.exp(x[o] - x[s]));
        slope[s] -= n * p;
        bend[s * k + s] += n * p * (1 - p);
        bend[s * k + o] = -n * p * (1 - p);
      }
    }
    const change = solved(bend, slope, k), middle = mean([...change]);
    let size = 0;
    for (let s = 0; s < k; s++) size = Math.max(size, Math.abs(change[s] -= middle));
    for (let s = 0; s < k; s++) x[s] += change[s] / Math.max(size, 1);
    if (size < 1e-9) break;
  }
  return Array.from(x, (one) => 1000 + (400 / Math.log(10)) * one);
}

/** Solve a system with a symmetric positive definite matrix, which is overwritten (Cholesky). */
function solved(matrix, right, k) {
  for (let j = 0; j < k; j++) {
    for (let i = j; i < k; i++) {
      let sum = matrix[i * k + j];
      for (let m = 0; m < j; m++) sum -= matrix[i * k + m] * matrix[j * k + m];
      matrix[i * k + j] = i === j ? Math.sqrt(sum) : sum / matrix[j * k + j];
    }
  }
  const x = right.slice();
  for (let i = 0; i < k; i++) {
    for (let m = 0; m < i; m++) x[i] -= matrix[i * k + m] * x[m];
    x[i] /= matrix[i * k + i];
  }
  for (let i = k - 1; i >= 0; i--) {
    for (let m = i + 1; m < k; m++) x[i] -= matrix[m * k + i] * x[m];
    x[i] /= matrix[i * k + i];
  }
  return x;
}

/** Return mean seconds to tune and fit of each strategy, over datasets; NaN where none is known. */
function trainingSeconds(view, table) {
  const all = view.strategies.length;
  return table.cells.strategies.map((s) => {
    const known = table.cells.datasets
      .map((i) => view.seconds[(i * all + s) * 3] + view.seconds[(i * all + s) * 3 + 1])
      .filter((x) => !Number.isNaN(x));
    return known.length ? mean(known) : NaN;
  });
}

/** Return the places that no other beats in both gain and seconds, the quickest first. */
function paretoFront(gains, seconds) {
  const known = range(gains.length).filter((at) => !Number.isNaN(gains[at] + seconds[at]));
  known.sort((a, b) => seconds[a] - seconds[b] || gains[b] - gains[a]);
  let best = -Infinity;
  return known.filter((at) => gains[at] > best && ((best = gains[at]), true));
}

/** Return factors of the best loss, and the share of datasets within each, of some strategies. */
function performanceProfile(table, strategies) {
  const { n, k, losses } = table;
  if (losses.some((loss) => loss < 0)) return null;
  const factors = strategies.map(() => []);
  for (let i = 0; i < n; i++) {
    const row = losses.subarray(i * k, i * k + k), best = Math.min(...row);
    strategies.forEach((s, at) => {
      factors[at].push(row[s] === best ? 1 : best > 0 ? row[s] / best : Infinity);
    });
  }
  const steps = [...new Set(factors.flat().filter(Number.isFinite))].sort((a, b) => a - b);
  const shares = factors.map((own) => {
    own.sort((a, b) => a - b);
    let at = 0;
    return steps.map((step) => {
      while (at < n && own[at] <= step) at++;
      return at / n;
    });
  });
  return { steps, shares };
}

// ------------------------------------------------------------------------- probability to be the best

function mixed(bits) {
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Return the 32 random bits of a stream, draw and place, with the seed 0: `hashed` in draws.py. */
function hashed(stream, draw) {
  const ofDraw = mixed(mixed((mixed(0) + stream + 1) >>> 0) ^ draw);
  return (place) => mixed(mixed((ofDraw + place + 1) >>> 0));
}

/** Return groups of strategies with equal ranks everywhere, in the order of numpy.unique. */
function equalGroups(table) {
  const { n, k, ranks } = table;
  const before = (a, b) => {
    for (let i = 0; i < n; i++) {
      const gap = ranks[i * k + a] - ranks[i * k + b];
      if (gap) return gap;
    }
    return 0;
  };
  const groups = [];
  for (const s of range(k).sort((a, b) => before(a, b) || a - b)) {
    if (groups.length && !before(groups.at(-1)[0], s)) groups.at(-1).push(s);
    else groups.push([s]);
  }
  return groups;
}

// The constants of mlaut/analysis/sources/chances.py.
const CHAINS = 256, BURN = 8, SWEEPS = 8, GROUPS = 10, NEAR_BEST = 4, SHRUNK = 8, KNOWN = 0.7, STREAM = 32;
const ALPHAS = [0.03, 0.1, 0.3, 1, 3];
const SPREADS = range(7).map((i) => 2 ** (i - 2));
const SCALES = range(31).map((i) => Math.exp(-1.5 + i * (3 / 30)));

/** Return a random number between 0 and 1 of 32 random bits. */
const uniform = (bits) => (bits + 0.5) / 2 ** 32;

/** Return the place that a random number draws, with probabilities in proportion to exp(logs). */
function drawnPlace(logs, random) {
  const most = Math.max(...logs);
  let total = 0;
  const sums = logs.map((log) => (total += Math.exp(log - most)));
  return sums.filter((sum) => sum < random * total).length;
}

/** Return the variance of the noise of each column, learned from those that are near: `_variances`. */
function noiseVariances(columns, near) {
  const n = columns[0].length, k = Math.max(near.filter(Boolean).length, 2);
  const rest = columns.map((own) => Float64Array.from(own));
  const several = near.filter(Boolean).length > 1;
  let within = 0;
  for (let i = 0; i < n; i++) {
    const centre = mean(columns.filter((_, at) => near[at] || !several).map((own) => own[i]));
    rest.forEach((own, at) => { own[i] -= centre; if (near[at]) within += own[i] ** 2; });
  }
  const squares = rest.map((own) => {
    const middle = mean(own);
    return own.reduce((sum, x) => sum + (x - middle) ** 2, 0) / Math.max(n - 1, 1);
  });
  let pooled = (mean(squares.filter((_, at) => near[at])) * k) / (k - 1);
  pooled = Math.max(pooled, within / n / (k - 1) / (n + 1), 2 ** -1022);
  return squares.map((x) => {
    const own = near.filter(Boolean).length > 2 ? (x - pooled / k) / (1 - 2 / k) : pooled;
    return ((n - 1) * Math.max(own, 0) + SHRUNK * pooled) / (n - 1 + SHRUNK);
  });
}

/** Return Student's quantile divided by the normal one: `wider`. */
function wider(df, normal) {
  const moved = (normal * (8 * df + 3)) / (8 * df + 1);
  return Math.sqrt(df * Math.expm1(moved ** 2 / df)) / normal;
}

/**
 * Yield the share of chains that are done, and return P(best average rank) of each strategy: the
 * draws of groups of equal strategies of mlaut/analysis/sources/chances.py, with their random numbers.
 */
function* probabilityOfBest(table) {
  const { n, k } = table;
  const all = equalGroups(table).map((group) => ({ group, ranks: column(table.ranks, table, group[0]) }));
  for (let i = 0; i < n; i++) { // copies take no rank
    const own = Float64Array.from(all, (one) => one.ranks[i]), among = own.slice();
    rank(own, own.map(() => 0), among, own.slice());
    all.forEach((one, at) => { one.ranks[i] = among[at]; });
  }
  all.forEach((one) => { one.mean = mean(one.ranks); });
  all.sort((a, b) => a.mean - b.mean);
  const columns = all.map((one) => one.ranks);
  let near = all.map(() => true), errors;
  for (let round = 0; round < 3; round++) {
    errors = noiseVariances(columns, near).map((x) => Math.sqrt(x / n));
    const far = NEAR_BEST * wider(n - 1, NEAR_BEST);
    near = all.map((one, at) => one.mean - all[0].mean <= Math.sqrt(errors[at] ** 2 + errors[0] ** 2) * far);
  }
  const few = all.filter((_, at) => near[at]), error = errors.filter((_, at) => near[at]), m = few.length;
  const unit = Math.sqrt(mean(error.map((x) => x ** 2)));
  const values = few.map((one) => (one.mean - few[0].mean) / unit), variances = error.map((x) => (x / unit) ** 2);
  const df = Math.max((n - 1) * (m - 1) * KNOWN, 1);
  const rising = ALPHAS.map((alpha) => few.reduce((sum, _, i) => sum + Math.log(alpha + i), 0));
  const wins = new Float64Array(m);
  for (let chain = 0; chain < CHAINS; chain++) {
    const group = new Int32Array(m).fill(-1);
    const sizes = new Float64Array(GROUPS), weight = new Float64Array(GROUPS), total = new Float64Array(GROUPS);
    const add = (g, sign, i) => { sizes[g] += sign; weight[g] += sign / variances[i]; total[g] += (sign / variances[i]) * values[i]; };
    let alpha = 1, spread = 2, scale = 1, middle = mean(values);
    for (let sweep = 0; sweep < BURN + SWEEPS; sweep++) {
      const random = hashed(STREAM + 1 + 2 * sweep, chain);
      const base = 1 / spread ** 2;
      for (let i = 0; i < m; i++) {
        if (group[i] >= 0) add(group[i], -1, i);
        let free = sizes.findIndex((size) => size < 0.5);
        const logs = new Float64Array(GROUPS);
        for (let g = 0; g < GROUPS; g++) {
          const prior = sizes[g] > 0.5 ? sizes[g] : g === free ? alpha : 0;
          const precision = base + scale * weight[g];
          const gap = values[i] - (base * middle + scale * total[g]) / precision;
          const variance = 1 / precision + variances[i] / scale;
          logs[g] = prior ? Math.log(prior) - 0.5 * (gap ** 2 / variance + Math.log(variance)) : -Infinity;
        }
        group[i] = drawnPlace([...logs], uniform(random(i)));
        add(group[i], 1, i);
      }
      const bits = hashed(STREAM + 2 + 2 * sweep, chain);
      const normal = (place) => Math.sqrt(-2 * Math.log(uniform(bits(place)))) * Math.cos(2 * Math.PI * uniform(bits(GROUPS + 1 + place)));
      const occupied = range(GROUPS).filter((g) => sizes[g] > 0.5), count = occupied.length;
      const means = new Float64Array(GROUPS);
      for (const g of occupied) {
        const precision = base + scale * weight[g];
        means[g] = (base * middle + scale * total[g]) / precision + normal(g) / Math.sqrt(precision);
      }
      middle = mean(occupied.map((g) => means[g])) + (spread / Math.sqrt(count)) * normal(GROUPS);
      const away = occupied.reduce((sum, g) => sum + (means[g] - middle) ** 2, 0);
      spread = SPREADS[drawnPlace(SPREADS.map((x) => -count * Math.log(x) - away / (2 * x ** 2)), uniform(random(m)))];
      const misfit = df + values.reduce((sum, x, i) => sum + (x - means[group[i]]) ** 2 / variances[i], 0);
      scale = SCALES[drawnPlace(SCALES.map((x) => ((df + m) / 2) * Math.log(x) - (misfit * x) / 2), uniform(random(m + 1)))];
      alpha = ALPHAS[drawnPlace(ALPHAS.map((x, at) => count * Math.log(x) - rising[at]), uniform(random(m + 2)))];
      if (sweep < BURN) continue;
      const least = Math.min(...occupied.map((g) => means[g]));
      const best = range(m).filter((i) => means[group[i]] === least);
      for (const i of best) wins[i] += 1 / best.length;
    }
    yield (chain + 1) / CHAINS;
  }
  const found = new Float64Array(k);
  few.forEach((one, at) => one.group.forEach((s) => { found[s] = wins[at] / (CHAINS * SWEEPS * one.group.length); }));
  return found;
}

/** Return the number of datasets below which nothing is decided: `fewest_datasets`. */
function fewestDatasets(view, k) {
  const pairs = view.jointly ? 1 : view.control ? k - 1 : (k * (k - 1)) / 2;
  return Math.max(view.least, Math.ceil(1 + Math.log2(Math.max(pairs, 1) / view.alpha) - 1e-9));
}
