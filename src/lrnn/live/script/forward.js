// What the page is given, as numbers; and the steady state, which is a forward pass.

/** Numbers of a packed array: base64 of float32 ("f4") or float64 ("f8"), little-endian. */
export function unpacked({ type, data }) {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return type === "f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
}

/** A model of the page with its arrays unpacked, and where its layers begin. */
export function networkOf(packed) {
  const sizes = packed.sizes;
  const starts = [0];
  for (const size of sizes) starts.push(starts.at(-1) + size);
  return {
    sizes,
    starts,
    rates: unpacked(packed.rates),
    leaves: unpacked(packed.leaves),
    plus: packed.plus.map(unpacked),
    minus: packed.minus && packed.minus.map(unpacked),
  };
}

/** Activations of all neurons in the steady state: q = min(q A⁺ / (1 + q A⁻), 1), layer by layer.
 *
 * `given` are those of the layer `from`, the input or, by hand, the code; layers before it are at
 * rest, and so are neurons that are switched off.
 */
export function steadyState(network, given, off, from = 0) {
  const { sizes, starts, plus, minus } = network;
  const q = new Float64Array(starts.at(-1));
  for (let i = 0; i < sizes[from]; i++) {
    q[starts[from] + i] = off[starts[from] + i] ? 0 : Math.min(given[i], 1);
  }
  for (let layer = from; layer + 1 < sizes.length; layer++) {
    const width = sizes[layer + 1];
    const [here, next] = [starts[layer], starts[layer + 1]];
    const above = new Float64Array(width);
    const below = new Float64Array(width).fill(1);
    for (let i = 0; i < sizes[layer]; i++) {
      const own = q[here + i];
      if (!own) continue;
      const row = i * width;
      for (let j = 0; j < width; j++) above[j] += own * plus[layer][row + j];
      if (minus) for (let j = 0; j < width; j++) below[j] += own * minus[layer][row + j];
    }
    for (let j = 0; j < width; j++) q[next + j] = off[next + j] ? 0 : Math.min(above[j] / below[j], 1);
  }
  return q;
}

/** Spikes from outside that present activations to a layer. */
export function arrivalsFor(network, given, from = 0) {
  const { sizes, starts, rates } = network;
  const found = new Float64Array(rates.length);
  for (let i = 0; i < sizes[from]; i++) {
    const neuron = starts[from] + i;
    found[neuron] = Math.min(given[i], 1) * rates[neuron];
  }
  return found;
}

/** Estimates of all activations: firings per possible firing, at most 1. */
export function estimates(network, fired, time) {
  const { rates } = network;
  return Float64Array.from(fired, (count, i) => (time > 0 ? Math.min(count / (rates[i] * time), 1) : 0));
}

/** The widest interval (95 %): firings in steady state are a Poisson process, of variance q/(rT). */
export function widestInterval(network, q, time) {
  let widest = 0;
  for (let i = 0; i < q.length; i++) {
    if (q[i] > 0 && q[i] < 1) widest = Math.max(widest, q[i] / (network.rates[i] * time));
  }
  return time > 0 ? Math.min(1, 1.96 * Math.sqrt(widest)) : 1;
}

/** The difference (RMS) that is to be expected of some neurons; of one that has not fired, all of q. */
export function expectedDifference(network, q, time, first, last) {
  let sum = 0;
  for (let i = first; i < last; i++) {
    if (q[i] < 1) sum += Math.min(q[i] ** 2, time > 0 ? q[i] / (network.rates[i] * time) : 1);
  }
  return Math.sqrt(sum / (last - first));
}

/** Root of the mean square of a − b, from one neuron to another. */
export function difference(a, b, first, last) {
  let sum = 0;
  for (let i = first; i < last; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum / (last - first));
}

/** Attributes beside what each lacks of 1. */
export function complementCoded(x) {
  const pairs = new Float64Array(2 * x.length);
  x.forEach((value, i) => {
    pairs[i] = value;
    pairs[x.length + i] = 1 - value;
  });
  return pairs;
}
