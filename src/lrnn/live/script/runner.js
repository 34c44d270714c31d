// Several engines at a pace, in a worker thread, or in that of the page where there is none.

import { Engine } from "./engine.js";

const SLICE = 12; // milliseconds of work at a time
const CHUNK = 20_000; // ticks between two looks at the clock
const SHOWN = 30; // spikes of a slice that are told of
const QUIET = 50; // chunks without an event: then it is not waited for any longer
const BEHIND = 200; // milliseconds of events that are made up for, if it was slow

export class Runner {
  /** `tell` is given the news after each slice. */
  constructor(tell) {
    this.tell = tell;
    this.engines = [];
    this.pace = Infinity; // events per second, of each engine
    this.playing = false;
    this.run = 0; // which input this is
    this.#rest();
  }

  handle(message) {
    if (message.do === "load") {
      this.engines = message.networks.map((network) => new Engine(network));
    } else if (message.do === "present") {
      this.run = message.run;
      this.engines.forEach((engine, i) => engine.present(message.arrivals[i], message.off[i], message.seed));
      this.#rest();
      this.#report();
    } else if (message.do === "pace") {
      this.pace = message.pace;
      this.playing = message.playing;
      this.#rest();
    } else if (message.do === "once") {
      this.#report(this.engines.map((engine) => this.#single(engine, [])));
    } else if (message.do === "until") { // just so many events in all, for those who compare
      for (const engine of this.engines) {
        while (engine.alive && engine.events < message.events) {
          engine.advance(CHUNK, message.events - engine.events);
        }
      }
      this.#report();
    }
  }

  /** Work for a while; whether there is more to do at once. */
  slice() {
    if (!this.playing || !this.engines.some((engine) => engine.alive)) return false;
    const start = performance.now();
    const since = Math.min(start - this.last, BEHIND);
    this.last = start;
    this.credit += (this.pace * since) / 1000;
    const due = this.pace === Infinity ? Infinity : Math.floor(this.credit);
    if (due < 1) return true;
    this.credit -= this.pace === Infinity ? 0 : due;
    const before = this.engines.map((engine) => engine.events);
    const spikes = this.engines.map((engine, i) => {
      const goal = before[i] + due;
      const seen = [];
      for (let s = 0; s < SHOWN && engine.events < goal; s++) this.#single(engine, seen);
      const end = start + (SLICE * (i + 1)) / this.engines.length;
      while (engine.alive && engine.events < goal && performance.now() < end) {
        engine.advance(CHUNK, goal - engine.events);
      }
      return seen;
    });
    const made = this.engines.reduce((sum, engine, i) => sum + engine.events - before[i], 0);
    this.#report(spikes, made, performance.now() - start);
    return true;
  }

  #rest() {
    this.last = performance.now();
    this.credit = 0;
  }

  /** One event, added to those that are told of: who fired, and where to. */
  #single(engine, seen) {
    const before = engine.events;
    for (let tries = 0; engine.alive && engine.events === before && tries < QUIET; tries++) {
      engine.advance(CHUNK, 1);
    }
    if (engine.events > before) seen.push(engine.node, engine.target);
    return seen;
  }

  #report(spikes = [], made = 0, spent = 0) {
    this.tell({
      run: this.run,
      made,
      spent,
      engines: this.engines.map((engine, i) => ({
        events: engine.events,
        ticks: engine.ticks,
        time: engine.time,
        alive: engine.alive,
        fired: engine.settle().slice(),
        potentials: engine.potentials.slice(),
        spikes: spikes[i] ?? [],
      })),
    });
  }
}

/** Go on slice by slice, and listen in between; the same in a worker and in the page. */
export function keepRunning(runner, idle = 8) {
  const channel = new MessageChannel();
  let waiting = false;
  const go = () => {
    waiting = false;
    const more = runner.slice();
    if (!more) return;
    waiting = true;
    if (runner.pace === Infinity) channel.port2.postMessage(0);
    else setTimeout(go, idle);
  };
  channel.port1.onmessage = go;
  return (message) => {
    runner.handle(message);
    if (!waiting && runner.playing) {
      waiting = true;
      setTimeout(go, 0);
    }
  };
}

/** In a worker: do what the page asks for. */
export function serve(scope) {
  const receive = keepRunning(new Runner((news) => scope.postMessage(news)));
  scope.onmessage = (event) => receive(event.data);
}
