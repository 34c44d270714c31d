// Alias tables (Walker, 1977): draw from any distribution in constant time. To the bit those of
// lrnn/spiking/alias.py.

/** Entries `begin` to `end` of a table in proportion to `weights`; limits are 64 bits in halves. */
export function aliasRow(weights, begin, end, table) {
  const count = end - begin;
  let total = 0;
  let missing = 0; // by Kahan's sum
  for (let i = begin; i < end; i++) {
    const more = weights[i] - missing;
    const before = total;
    total += more;
    missing = total - before - more;
  }
  const { share, stack, high: limitHigh, low: limitLow, alias } = table;
  let low = begin;
  let high = end;
  for (let i = begin; i < end; i++) {
    alias[i] = i;
    limitHigh[i] = 0;
    limitLow[i] = 0;
    share[i] = (weights[i] * count) / total;
    if (share[i] < 1) stack[low++] = i;
    else stack[--high] = i;
  }
  while (low > begin && high < end) {
    const small = stack[--low];
    const large = stack[high];
    const scaled = share[small] * 2 ** 32;
    limitHigh[small] = Math.floor(scaled);
    limitLow[small] = Math.floor((scaled - Math.floor(scaled)) * 2 ** 32);
    alias[small] = large;
    share[large] -= 1 - share[small];
    if (share[large] < 1) {
      high++;
      stack[low++] = large;
    }
  }
}

/** Room for a table of so many entries. */
export function aliasTable(entries) {
  return {
    high: new Uint32Array(entries),
    low: new Uint32Array(entries),
    alias: new Int32Array(entries),
    share: new Float64Array(entries),
    stack: new Int32Array(entries),
  };
}
