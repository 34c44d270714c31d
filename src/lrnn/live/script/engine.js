// The exact simulation, clock by clock: the algorithm of lrnn/spiking/cpu_kernel.py, draw for draw.
//
// By uniformisation one clock for every neuron that may ever fire rings at that neuron's rate, and
// one for every input neuron at the rate of its spikes from outside. A ring that finds a neuron at
// rest does nothing. Which clock rings next, and where a spike goes, is drawn from alias tables
// with one random number of 64 bits each.

import { aliasRow, aliasTable } from "./alias.js";
import { streamOf } from "./random.js";

const NEGLIGIBLE = 2 ** -64;
const SMALL = 2 ** -32;

/** Where the spike of each neuron goes: excitatory targets j, inhibitory ones ~j, or n, outside. */
function routesOf(network) {
  const { sizes, rates, leaves, plus, minus } = network;
  const n = rates.length;
  let most = n;
  for (const kind of [plus, minus ?? []]) for (const matrix of kind) most += matrix.length;
  const first = new Int32Array(n + 1);
  const targets = new Int32Array(most);
  const weights = new Float64Array(most);
  let filled = 0;
  let from = 0;
  const add = (weight, target) => {
    if (weight < NEGLIGIBLE) return;
    weights[filled] = weight;
    targets[filled++] = target;
  };
  for (let layer = 0; layer < sizes.length; layer++) {
    const behind = from + sizes[layer];
    const width = sizes[layer + 1] ?? 0;
    for (let i = 0; i < sizes[layer]; i++) {
      const own = rates[from + i];
      for (const [kind, inhibits] of [[plus, false], [minus, true]]) {
        if (!kind || !width) continue;
        const matrix = kind[layer];
        for (let j = 0; j < width; j++) {
          const weight = matrix[i * width + j];
          if (weight) add((weight * rates[behind + j]) / own, inhibits ? ~(behind + j) : behind + j);
        }
      }
      add(leaves[from + i], n);
      first[from + i + 1] = filled;
    }
    from = behind;
  }
  const table = aliasTable(filled);
  for (let i = 0; i < n; i++) aliasRow(weights, first[i], first[i + 1], table);
  const other = table.alias.map((entry) => targets[entry]);
  return { first, high: table.high, low: table.low, own: targets.slice(0, filled), other };
}

/** One network, and one run of it. */
export class Engine {
  constructor(network) {
    this.network = network;
    this.n = network.rates.length;
    this.routes = routesOf(network);
    this.fired = new Float64Array(this.n); // spikes of each neuron
    this.lately = new Uint32Array(this.n); // those not yet among them
    this.potentials = new Int32Array(this.n);
    this.state = new Int32Array(4);
    this.present(new Float64Array(this.n), new Uint8Array(this.n), 0);
  }

  /** Begin a run at rest: spikes that come from outside, neurons that are switched off, a seed. */
  present(arrivals, off, seed) {
    this.state.set(streamOf(seed));
    this.fired.fill(0);
    this.lately.fill(0);
    this.potentials.fill(0);
    this.events = 0;
    this.ticks = 0;
    this.node = -1; // who fired last (n + 1 + i: from outside to neuron i), and where to
    this.target = -1;
    this.clocks = this.#clocksOf(arrivals, off);
  }

  #clocksOf(arrivals, off) {
    const { n, network: { rates } } = this;
    const reached = this.#reach(arrivals, off);
    const nodes = [];
    for (let i = 0; i < n; i++) if (reached[i] && rates[i] > 0 && !off[i]) nodes.push(i);
    for (let i = 0; i < n; i++) if (arrivals[i] > 0) nodes.push(n + 1 + i);
    const weights = Float64Array.from(nodes, (node) => (node < n ? rates[node] : arrivals[node - n - 1]));
    const table = aliasTable(nodes.length);
    aliasRow(weights, 0, nodes.length, table);
    const own = Int32Array.from(nodes);
    return {
      rate: weights.reduce((sum, rate) => sum + rate, 0),
      high: table.high,
      low: table.low,
      own,
      other: table.alias.map((entry) => own[entry]),
    };
  }

  /** Neurons that a spike from outside can ever lead to. */
  #reach(arrivals, off) {
    const { n, routes: { first, own } } = this;
    const reached = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      if (arrivals[i] > 0) reached[i] = 1;
      if (!reached[i] || off[i]) continue; // layers are in order: targets come later
      for (let entry = first[i]; entry < first[i + 1]; entry++) {
        const target = own[entry];
        if (target >= 0 && target < n) reached[target] = 1;
      }
    }
    return reached;
  }

  /** Simulated time so far. */
  get time() {
    return this.clocks.rate > 0 ? this.ticks / this.clocks.rate : 0;
  }

  /** Whether anything ever happens. */
  get alive() {
    return this.clocks.own.length > 0;
  }

  /** Go on for so many ticks, or until so many events more. */
  advance(ticks, events = Infinity) {
    if (!this.alive) return;
    const { n, potentials, lately, state } = this;
    const { high: clockHigh, low: clockLow, own: clockOwn, other: clockOther } = this.clocks;
    const { first, high, low, own, other } = this.routes;
    const clocks = clockOwn.length;
    let [l0, h0, l1, h1] = state;
    let done = 0;
    let made = 0;
    let node = this.node;
    let target = this.target;
    let lastNode = node;
    let lastTarget = target;
    while (made < ticks && done < events) {
      made++;
      // xoroshiro128++ in halves of 32 bits: what is drawn, then the next state
      let tl = (l0 + l1) | 0;
      let th = (h0 + h1 + ((tl >>> 0) < (l0 >>> 0) ? 1 : 0)) | 0;
      let rl = (tl << 17) | (th >>> 15);
      let rh = (th << 17) | (tl >>> 15);
      let dl = (rl + l0) | 0;
      let dh = (rh + h0 + ((dl >>> 0) < (rl >>> 0) ? 1 : 0)) | 0;
      l1 ^= l0;
      h1 ^= h0;
      let a = (l0 >>> 15) | (h0 << 17);
      let b = (h0 >>> 15) | (l0 << 17);
      l0 = a ^ l1 ^ (l1 << 21);
      h0 = b ^ h1 ^ ((h1 << 21) | (l1 >>> 11));
      a = (l1 << 28) | (h1 >>> 4);
      b = (h1 << 28) | (l1 >>> 4);
      l1 = a;
      h1 = b;
      // whose clock: the high half of 96 bits is the entry, the low one decides for its alias
      let below = (dl >>> 0) * clocks;
      let above = (dh >>> 0) * clocks + ((below * SMALL) | 0);
      let entry = ((above * SMALL) | 0);
      let place = above >>> 0;
      let limit = clockHigh[entry];
      node = place > limit || (place === limit && below >>> 0 >= clockLow[entry])
        ? clockOther[entry] : clockOwn[entry];

      tl = (l0 + l1) | 0;
      th = (h0 + h1 + ((tl >>> 0) < (l0 >>> 0) ? 1 : 0)) | 0;
      rl = (tl << 17) | (th >>> 15);
      rh = (th << 17) | (tl >>> 15);
      dl = (rl + l0) | 0;
      dh = (rh + h0 + ((dl >>> 0) < (rl >>> 0) ? 1 : 0)) | 0;
      l1 ^= l0;
      h1 ^= h0;
      a = (l0 >>> 15) | (h0 << 17);
      b = (h0 >>> 15) | (l0 << 17);
      l0 = a ^ l1 ^ (l1 << 21);
      h0 = b ^ h1 ^ ((h1 << 21) | (l1 >>> 11));
      a = (l1 << 28) | (h1 >>> 4);
      b = (h1 << 28) | (l1 >>> 4);
      l1 = a;
      h1 = b;
      if (node > n) {
        target = node - n - 1;
        potentials[target]++;
      } else if (potentials[node] > 0) {
        const begin = first[node];
        const count = first[node + 1] - begin;
        below = (dl >>> 0) * count;
        above = (dh >>> 0) * count + ((below * SMALL) | 0);
        entry = begin + ((above * SMALL) | 0);
        place = above >>> 0;
        limit = high[entry];
        target = place > limit || (place === limit && below >>> 0 >= low[entry])
          ? other[entry] : own[entry];
        potentials[node]--;
        lately[node]++;
        if (target < 0) {
          if (potentials[~target] > 0) potentials[~target]--;
        } else if (target < n) {
          potentials[target]++;
        }
      } else {
        continue;
      }
      done++;
      lastNode = node;
      lastTarget = target;
    }
    state[0] = l0;
    state[1] = h0;
    state[2] = l1;
    state[3] = h1;
    this.ticks += made;
    this.events += done;
    this.node = lastNode;
    this.target = lastTarget;
  }

  /** Spikes that each neuron has fired. */
  settle() {
    const { fired, lately } = this;
    for (let i = 0; i < fired.length; i++) fired[i] += lately[i];
    lately.fill(0);
    return fired;
  }
}
