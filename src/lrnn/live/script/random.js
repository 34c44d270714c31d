// Random numbers as lrnn's kernels draw them, so that the same seed gives the same spikes.
//
// Streams begin as numpy.random.SeedSequence(seed, spawn_key=(0,)) has it, and go on by
// xoroshiro128++ (see Engine.advance, where it stands in line for speed).

const POOL = 4;

/** The first state of a stream: four numbers of 32 bits, the low half of each word first. */
export function streamOf(seed) {
  const entropy = [seed >>> 0];
  if (seed >= 2 ** 32) entropy.push(Math.floor(seed / 2 ** 32));
  while (entropy.length < POOL) entropy.push(0);
  entropy.push(0); // the spawn key: the first row
  let constant = 0x43b0d7e5;
  const hashed = (value) => {
    value = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mixed = (x, y) => {
    const found = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (found ^ (found >>> 16)) >>> 0;
  };
  const pool = entropy.slice(0, POOL).map(hashed);
  for (let from = 0; from < POOL; from++) {
    for (let to = 0; to < POOL; to++) {
      if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
    }
  }
  for (const more of entropy.slice(POOL)) {
    for (let to = 0; to < POOL; to++) pool[to] = mixed(pool[to], hashed(more));
  }
  constant = 0x8b51f9dd;
  return pool.map((value) => {
    value = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x58f38ded) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    return (value ^ (value >>> 16)) | 0;
  });
}

/** Random numbers in [0, 1) for all that is no spike: noise, pixels that are lost. */
export function* uniform(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  for (;;) { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    yield ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}
