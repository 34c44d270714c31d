// The page: what is presented, who is switched off, what is shown of the spikes.

import { Drawing, paint } from "./drawing.js";
import {
  arrivalsFor, complementCoded, difference, estimates, expectedDifference, networkOf, steadyState, unpacked,
  widestInterval,
} from "./forward.js";
import { Bars, Picture, Tiles, Traffic, element, pixelate, squareOf } from "./layers.js";
import { drawCurves } from "./plot.js";
import { uniform } from "./random.js";
import { Runner, keepRunning } from "./runner.js";
import { Tour } from "./tour.js";

const PACES = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, Infinity]; // events per second
const PATIENCE = 1e8; // events for a unit of time, from which averages take too long to wait for
const CALM = 250; // milliseconds between changes of what is written
const BRUSH = 0.05; // of the picture's width, where it is painted over

const find = (id) => document.getElementById(id);

export class Live {
  constructor(content, source) {
    this.content = content;
    this.networks = content.models.map(networkOf);
    this.rows = unpacked(content.rows);
    this.width = content.attributes.length;
    this.clean = new Float64Array(this.width); // what is to be given back
    this.x = this.clean; // what is presented: with noise, without what is missing
    this.off = this.networks.map(({ rates }) => new Uint8Array(rates.length)); // by hand
    this.hands = this.networks.map(() => null); // codes turned by hand
    this.seed = content.seed;
    this.noise = this.missing = this.lost = 0;
    this.run = 0;
    this.row = -1; // the last one that was shown
    this.own = true; // whether the input is by hand, and no row
    this.chosen = null;
    this.view = "average";
    this.playing = true;
    this.pace = 5;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.meter = { since: performance.now(), events: 0, frames: 0, perSecond: 0, fps: 0 };
    this.news = null;
    this.curves = this.networks.map(() => []);
    this.#hire(source);
    this.#build();
    this.#listen();
    if (content.row_names.length) this.showRow(0);
    else this.present(new Float64Array(this.width).fill(content.shape ? 0 : 0.5));
    this.setPace(this.pace);
    requestAnimationFrame((now) => this.#frame(now));
  }

  // Who does the work

  #hire(source) {
    const receive = (news) => this.#receive(news);
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      worker.onmessage = (event) => receive(event.data);
      worker.onerror = () => this.#alone(receive);
      this.post = (message) => worker.postMessage(message);
      this.threaded = true;
      this.post({ do: "load", networks: this.networks });
    } catch {
      this.#alone(receive);
    }
  }

  /** Where no worker may be had the page does it itself. */
  #alone(receive) {
    this.threaded = false;
    this.post = keepRunning(new Runner(receive), 20);
    this.post({ do: "load", networks: this.networks });
    if (this.run) this.present(this.clean);
    this.setPace(this.pace);
  }

  #receive(news) {
    this.meter.events += news.made;
    if (news.run !== this.run) return;
    const spikes = news.engines.map(({ spikes: told }, m) => [...(this.news?.engines[m].spikes ?? []), ...told]);
    this.news = news;
    this.news.engines.forEach((engine, m) => { engine.spikes = spikes[m].slice(-120); });
    this.fresh = true;
  }

  // What is presented

  /** Present attributes in [0, 1], and begin again at rest. */
  present(clean = this.clean) {
    this.clean = clean;
    this.x = this.#damaged(clean);
    this.run++;
    this.news = null;
    this.fresh = false; // whether there is news that was not drawn yet
    this.curves = this.networks.map(() => []);
    this.silenced = this.networks.map((network, m) => this.#silenced(network, m));
    const parts = this.networks.map((network, m) => {
      const { code, complemented } = this.content.models[m];
      return this.hands[m] ? [this.hands[m], code] : [complemented ? complementCoded(this.x) : this.x, 0];
    });
    this.exact = this.networks.map((network, m) => steadyState(network, parts[m][0], this.silenced[m], parts[m][1]));
    this.post({
      do: "present",
      run: this.run,
      arrivals: this.networks.map((network, m) => arrivalsFor(network, ...parts[m])),
      off: this.silenced,
      seed: this.seed,
    });
    this.pad?.show();
    this.#write();
  }

  #damaged(clean) {
    if (!this.noise && !this.missing) return clean;
    const random = uniform(1);
    return clean.map((value) => {
      const [push, gone] = [random.next().value, random.next().value];
      const noisy = Math.min(1, Math.max(0, value + this.noise * (2 * push - 1)));
      return gone < this.missing ? 0 : noisy;
    });
  }

  /** Those that are switched off, by hand or with the share of inner neurons that is lost. */
  #silenced({ starts, sizes }, m) {
    const random = uniform(2);
    return this.off[m].map((off, i) => {
      const inner = i >= starts[1] && i < starts[sizes.length - 1];
      return off || (inner && random.next().value < this.lost) ? 1 : 0;
    });
  }

  showRow(row) {
    const count = this.content.row_names.length;
    if (!count) return;
    this.row = (row + count) % count;
    this.own = false;
    find("row").value = String(this.row);
    this.pad?.forget();
    this.hands.fill(null);
    this.present(Float64Array.from(this.rows.subarray(this.row * this.width, (this.row + 1) * this.width)));
    this.say(this.content.row_names[this.row]);
  }

  /** Present an input that is no row of the data. */
  presentOwn(clean, told) {
    this.own = true;
    find("row").value = "own";
    this.hands.fill(null);
    this.present(clean);
    this.say(told);
  }

  clear() {
    this.pad?.forget();
    this.presentOwn(new Float64Array(this.width), "The input is empty.");
  }

  restart(seed = this.seed) {
    this.seed = seed;
    this.present();
    this.say(`Started again, seed ${seed}.`);
  }

  // Pace

  setPace(pace) {
    this.pace = Math.min(PACES.length - 1, Math.max(0, pace));
    find("pace").value = String(this.pace);
    const per = PACES[this.pace];
    find("pace-told").textContent = per === Infinity ? "as fast as it can" : `${counted(per, "event")} per second`;
    this.post({ do: "pace", pace: per, playing: this.playing });
  }

  play(playing = !this.playing) {
    this.playing = playing;
    const button = find("play");
    button.textContent = playing ? "Pause" : "Play";
    this.setPace(this.pace);
    this.say(playing ? "Running." : `Paused. ${this.summary()}`);
  }

  once() {
    if (this.playing) this.play(false);
    this.post({ do: "once" });
  }

  // Neurons

  /** Choose a code neuron of a model; with `switched` it is switched off, or on again. */
  choose(m, h, switched = false) {
    this.chosen = { m, h };
    if (switched) this.switchOff(m, h);
    this.#write();
    find("neuron").scrollIntoView({ block: "nearest" });
  }

  neuron(m, h) {
    return this.networks[m].starts[this.content.models[m].code] + h;
  }

  switchOff(m, h, off = !this.off[m][this.neuron(m, h)]) {
    this.off[m][this.neuron(m, h)] = off ? 1 : 0;
    this.present();
    this.say(`Code neuron ${h + 1} is switched ${off ? "off" : "on"}.`);
  }

  switchAllOn() {
    for (const off of this.off) off.fill(0);
    this.present();
    this.say("All neurons are switched on.");
  }

  /** Turn a code neuron by hand; `alone` sets all others to 0. */
  turn(m, h, value, alone = false) {
    const { starts, sizes } = this.networks[m];
    const code = this.content.models[m].code;
    const current = this.hands[m] ?? this.exact[m].slice(starts[code], starts[code] + sizes[code]);
    this.hands[m] = alone ? new Float64Array(sizes[code]) : Float64Array.from(current);
    this.hands[m][h] = value;
    this.present();
  }

  letGo(m) {
    this.hands[m] = null;
    this.present();
  }

  // What is known of a model now

  /** Activations by spikes: the average so far, or by the potentials now. */
  shown(m, view = this.view) {
    const engine = this.news?.engines[m];
    const network = this.networks[m];
    if (!engine) return new Float64Array(network.rates.length);
    if (view === "now") {
      return Float64Array.from(engine.potentials, (k, i) => (this.silenced[m][i] ? 0 : k / (1 + k)));
    }
    return estimates(network, engine.fired, engine.time);
  }

  /** What all is about, of one model. */
  facts(m) {
    const network = this.networks[m];
    const engine = this.news?.engines[m];
    const { starts, sizes, rates } = network;
    const exact = this.exact[m];
    const found = this.shown(m, "average");
    const [first, last] = [starts[sizes.length - 1], starts[sizes.length]];
    let spikes = 0;
    for (let i = 0; i < first; i++) spikes += exact[i] * rates[i];
    const time = engine?.time ?? 0;
    let outputs = 0;
    for (let i = first; i < last; i++) outputs += exact[i] * rates[i];
    let outside = 0;
    for (let i = 0; i < sizes[0]; i++) outside += exact[i] * rates[i];
    return {
      events: engine?.events ?? 0,
      time,
      spikes,
      perOutput: (spikes + outside + outputs) / outputs, // events for each output spike
      error: this.#error(m, exact),
      errorBySpikes: this.#error(m, found),
      difference: difference(found, exact, first, last),
      expected: expectedDifference(network, exact, time, first, last),
      widest: widestInterval(network, exact, time),
      verdict: this.#verdict(m, exact),
      verdictBySpikes: this.#verdict(m, found),
    };
  }

  /** Output spikes so far. */
  fired(m) {
    const engine = this.news?.engines[m];
    return engine ? this.#output(m, engine.fired).reduce((sum, count) => sum + count, 0) : 0;
  }

  #output(m, values) {
    const { starts, sizes } = this.networks[m];
    return values.slice(starts[sizes.length - 1]);
  }

  #error(m, values) {
    const model = this.content.models[m];
    if (model.classes) return null;
    const back = this.#output(m, values);
    let sum = 0;
    this.clean.forEach((x, i) => {
      const value = model.complemented ? (back[i] + 1 - back[this.width + i]) / 2 : back[i];
      sum += (value - x) ** 2;
    });
    return sum / this.width;
  }

  #verdict(m, values) {
    const { classes } = this.content.models[m];
    if (!classes) return null;
    const out = this.#output(m, values);
    const best = out.indexOf(Math.max(...out));
    return out[best] > 0 ? classes[best] : "–";
  }

  summary() {
    return this.networks
      .map((_, m) => {
        const { events, error, errorBySpikes, verdictBySpikes, difference: off } = this.facts(m);
        const told = error === null ? `it says ${verdictBySpikes}` : `error by spikes ${short(errorBySpikes)}, by numbers ${short(error)}`;
        return `${this.content.models[m].name}: ${number(events)} events, ${told}, difference ${short(off)}.`;
      })
      .join(" ");
  }

  say(text) {
    find("status").textContent = text;
  }

  // How it is built

  #build() {
    const { content } = this;
    const chooser = find("row");
    content.row_names.forEach((name, i) => chooser.append(element("option", { value: i }, name)));
    chooser.append(element("option", { value: "own", disabled: true }, "by hand"));
    find("rows").hidden = !content.row_names.length;
    find("gain").hidden = content.gain === 1;
    find("gain").textContent = `The images are dim: they are shown ${short(content.gain)} times as bright as they are.`;
    this.pad = content.shape ? new Pad(this) : new Sliders(this);
    this.stages = content.models.map((model, m) => new Stage(this, model, m));
    find("stages").append(...this.stages.map(({ article }) => article));
    const head = ["network", "spikes per unit time", ...(content.models.some(({ classes }) => !classes) ? ["error by numbers", "error by spikes"] : []),
      ...(content.models.some(({ classes }) => classes) ? ["class by numbers", "class by spikes"] : []), "events", "simulated time", "difference (RMS)", "widest interval"];
    find("facts-head").append(...head.map((name) => element("th", { scope: "col" }, name)));
    this.tour = new Tour(this, find("tour"));
  }

  #listen() {
    const on = (id, event, act) => find(id).addEventListener(event, act);
    on("play", "click", () => this.play());
    on("once", "click", () => this.once());
    on("again", "click", () => this.restart());
    on("reseed", "click", () => this.restart(this.seed + 1));
    on("pace", "input", (event) => this.setPace(Number(event.target.value)));
    on("view", "change", (event) => { this.view = event.target.value; this.fresh = true; });
    on("row", "change", (event) => this.showRow(Number(event.target.value)));
    on("fit", "change", () => this.pad.refit?.());
    on("all-on", "click", () => this.switchAllOn());
    on("previous", "click", () => this.showRow(this.own && this.row >= 0 ? this.row : this.row - 1));
    on("next", "click", () => this.showRow(this.row + 1));
    on("clear", "click", () => this.clear());
    on("begin-tour", "click", () => this.tour.show(0));
    for (const name of ["noise", "missing", "lost"]) {
      on(name, "input", (event) => {
        this[name] = Number(event.target.value) / 100;
        find(`${name}-told`).textContent = `${event.target.value} %`;
        this.present();
      });
    }
    on("hand", "input", (event) => this.chosen && this.turn(this.chosen.m, this.chosen.h, Number(event.target.value)));
    on("alone", "click", () => this.chosen && this.turn(this.chosen.m, this.chosen.h, 1, true));
    on("let-go", "click", () => this.chosen && this.letGo(this.chosen.m));
    on("off", "change", (event) => this.chosen && this.switchOff(this.chosen.m, this.chosen.h, event.target.checked));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.key === "Escape") return this.tour.close();
    const typing = event.target.closest('select, input:not([type="range"])');
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    if (event.key === " " && event.target.closest("button, summary, #pad")) return;
    const keys = {
      " ": () => this.play(), ".": () => this.once(), r: () => this.restart(), s: () => this.restart(this.seed + 1),
      n: () => find("next").click(), p: () => find("previous").click(), c: () => this.clear(),
      "]": () => this.setPace(this.pace + 1), "[": () => this.setPace(this.pace - 1), t: () => this.tour.show(0),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  // What is seen

  #frame(now) {
    requestAnimationFrame((later) => this.#frame(later));
    this.meter.frames++;
    if (this.calm && now - (this.drawn ?? 0) < CALM) return;
    this.drawn = now;
    if (this.fresh) {
      this.fresh = false;
      this.stages.forEach((stage, m) => {
        stage.draw(this.shown(m));
        if (!this.calm) stage.send(this.news.engines[m].spikes, now);
        this.news.engines[m].spikes = [];
      });
    }
    if (!this.calm) this.stages.forEach((stage) => stage.traffic.draw(now, this.colours));
    if (now - (this.written ?? 0) > CALM) {
      this.written = now;
      this.#write();
    }
  }

  #write() {
    const now = performance.now();
    const { meter } = this;
    if (now - meter.since > 4 * CALM) {
      meter.perSecond = (1000 * meter.events) / (now - meter.since);
      meter.fps = (1000 * meter.frames) / (now - meter.since);
      Object.assign(meter, { since: now, events: 0, frames: 0 });
    }
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = { excitation: colour("--bar"), inhibition: colour("--inhibition") };
    const together = this.networks.length > 1 ? ", of all networks together" : "";
    find("speed").textContent = this.playing ? `${counted(meter.perSecond, "event")} per second${together}` : "paused";
    find("seed-told").textContent = String(this.seed);
    const facts = this.networks.map((_, m) => this.facts(m));
    this.#tabulate(facts);
    facts.forEach(({ events, difference: seen, expected }, m) => {
      const curve = this.curves[m];
      if (events > 0 && (!curve.length || events > 1.08 * curve.at(-1)[0])) curve.push([events, seen, expected]);
    });
    const lines = ["--accent", "--third", "--inhibition", "--soft"].map(colour);
    drawCurves(find("curves"), this.curves, this.content.models.map(({ name }) => name), lines, colour("--ink"));
    this.stages.forEach((stage, m) => stage.write(facts[m]));
    this.#inspect();
  }

  #tabulate(facts) {
    const { models } = this.content;
    const both = [models.some(({ classes }) => !classes), models.some(({ classes }) => classes)];
    const rows = facts.map((fact, m) => {
      const cells = [number(fact.spikes), ...(both[0] ? [short(fact.error), short(fact.errorBySpikes)] : []),
        ...(both[1] ? [fact.verdict ?? "–", fact.verdictBySpikes ?? "–"] : []), number(fact.events), short(fact.time), short(fact.difference), `± ${short(fact.widest)}`];
      return element("tr", {}, element("th", { scope: "row" }, models[m].name), ...cells.map((cell) => element("td", {}, cell)));
    });
    find("facts").replaceChildren(...rows);
  }

  #inspect() {
    const panel = find("neuron");
    panel.hidden = !this.chosen;
    if (!this.chosen) return;
    const { m, h } = this.chosen;
    const i = this.neuron(m, h);
    const engine = this.news?.engines[m];
    const several = this.networks.length > 1 ? ` of ${this.content.models[m].name}` : "";
    find("neuron-title").textContent = `Code neuron ${h + 1}${several}`;
    find("neuron-told").textContent = this.silenced[m][i]
      ? "It is switched off: it never fires."
      : `Excited ${short(this.exact[m][i])} of the time by numbers, and by spikes, counting how often it fired, ${short(this.shown(m, "average")[i])}; potential now ${engine?.potentials[i] ?? 0}; fires ${short(this.networks[m].rates[i])} times per unit time while it is excited.`;
    const turned = this.hands[m] !== null;
    find("let-go").disabled = !turned;
    find("hand").disabled = find("alone").disabled = Boolean(this.silenced[m][i]);
    find("all-on").disabled = !this.off.some((off) => off.includes(1));
    if (document.activeElement !== find("hand")) find("hand").value = String(this.exact[m][i]);
    find("hand-told").textContent = `${short(this.exact[m][i])}${turned ? ", by hand: the input is not looked at" : ""}`;
    find("off").checked = Boolean(this.off[m][i]);
  }
}

/** One model: its layers in a row, and spikes on their way between them. */
class Stage {
  constructor(live, model, m) {
    this.live = live;
    this.model = model;
    this.m = m;
    const network = live.networks[m];
    const last = model.sizes.length - 1;
    this.layers = model.sizes.map((size, layer) => this.#layer(network, size, layer, last));
    this.row = element("div", { class: "layers-of-stage" }, ...this.layers.map(({ figure }) => figure));
    this.note = element("p", { class: "warning", hidden: true });
    this.article = element("article", { class: "stage", "aria-label": model.name },
      element("h3", {}, model.name), this.note, this.row);
    this.traffic = new Traffic(this.row, this.layers, network);
  }

  #layer(network, size, layer, last) {
    const { live, model, m } = this;
    const { shape, ink, gain, attributes } = live.content;
    const title = `${layer === 0 ? "input" : layer === last ? "output" : layer === model.code ? "code" : "hidden"} · ${number(size)} neuron${size > 1 ? "s" : ""}`;
    const outer = layer === 0 || (layer === last && !model.classes);
    if (layer === last && model.classes) {
      return new Bars(title, model.classes, (share) => (Number.isNaN(share) ? "–" : `${(100 * share).toFixed(0)} %`));
    }
    if (outer && shape) {
      const doubled = model.complemented && !(shape.colours > 1 && shape.planes);
      if (!model.complemented || doubled) return new Picture(title, { ...shape, height: (doubled ? 2 : 1) * shape.height }, ink, gain);
    }
    if (outer && !shape && size <= 4 * Bars.MOST) {
      const units = (q, i) => {
        const attribute = attributes[i % attributes.length];
        return i < attributes.length ? short(attribute.low + q * (attribute.high - attribute.low)) : short(q);
      };
      return new Bars(title, model.inputs, units);
    }
    if (layer === model.code && layer > 0 && layer < last) {
      const parts = this.#parts(network);
      return new Tiles(title, size, parts, parts && shape, ink, last > 2, (h, shift) => live.choose(m, h, shift));
    }
    return new Picture(title, squareOf(size), true);
  }

  /** What each code neuron stands for, as a picture: what comes out if it alone is excited. */
  #parts(network) {
    const { model, live: { content: { shape } } } = this;
    if (!shape || shape.colours * shape.width * shape.height !== model.sizes[0]) return null;
    const { sizes, starts, plus } = network;
    const nobody = new Uint8Array(starts.at(-1));
    if (model.classes) { // what excites it
      if (model.code !== 1) return null;
      return (h) => scaled(Float64Array.from({ length: sizes[0] }, (_, i) => plus[0][i * sizes[1] + h]));
    }
    return (h) => {
      const alone = new Float64Array(sizes[model.code]);
      alone[h] = 1;
      return scaled(steadyState(network, alone, nobody, model.code).slice(starts[sizes.length - 1]));
    };
  }

  draw(values) {
    const { live, m } = this;
    const { starts, sizes } = live.networks[m];
    const exact = this.seen === live.run ? null : live.exact[m]; // is drawn once
    this.seen = live.run;
    const potentials = live.view === "now" ? live.news.engines[m].potentials : null;
    this.layers.forEach((layer, l) => {
      if (l < sizes.length - 1 || !this.model.classes) return layer.draw(values, exact, starts[l], potentials);
      const last = (q) => shares(q.subarray(starts[l]));
      return layer.draw(last(values), last(live.exact[m]), 0, potentials?.subarray(starts[l]));
    });
  }

  send(spikes, now) {
    if (!this.traffic.box) this.traffic.measure();
    this.traffic.send(spikes, now);
  }

  write(facts) {
    const { live, m } = this;
    this.traffic.measure();
    const code = this.layers[this.model.code];
    if (code instanceof Tiles) {
      const exact = live.exact[m];
      code.label((h) => `code neuron ${h + 1}, excited ${short(exact[live.neuron(m, h)])} of the time`,
        live.chosen?.m === m ? live.chosen.h : -1, (h) => live.silenced[m][live.neuron(m, h)]);
    }
    const told = this.#remark(facts);
    this.note.hidden = !told;
    this.note.textContent = told;
  }

  /** What one should know of a run like this, if anything. */
  #remark({ spikes, perOutput }) {
    const engine = this.live.news?.engines[this.m];
    if (!engine) return "";
    if (!engine.alive) return "Nothing comes in, so nothing ever happens.";
    if (this.model.classes && !this.live.fired(this.m)) {
      return perOutput === Infinity
        ? "No output can fire for this input: there is no class to tell."
        : `No output has fired yet. That happens about once in ${number(perOutput)} events.`;
    }
    return spikes > PATIENCE
      ? `This network makes ${number(spikes)} spikes per unit of time for this input. At some million events a second its averages take very long to come near the numbers.`
      : "";
  }
}

/** A picture to draw on. */
class Pad {
  constructor(live) {
    this.live = live;
    const { shape, frame } = live.content;
    this.shape = shape;
    this.canvas = find("pad");
    this.canvas.hidden = false;
    Object.assign(this.canvas, { width: shape.width, height: shape.height });
    this.drawing = frame && new Drawing(shape, frame);
    find("fit-label").hidden = !frame;
    this.cursor = [Math.floor(shape.width / 2), Math.floor(shape.height / 2)];
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => this.#up());
    for (const change of ["focus", "blur"]) this.canvas.addEventListener(change, () => this.show());
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  forget() {
    if (this.drawing) this.drawing.strokes = [];
  }

  show() {
    const { ink, gain } = this.live.content;
    pixelate(this.canvas, this.live.x, this.shape, ink, 0, gain);
    if (!this.canvas.matches(":focus-visible")) return;
    const context = this.canvas.getContext("2d"); // where the keyboard paints
    context.fillStyle = "rgba(217, 138, 61, 0.6)";
    context.fillRect(...this.cursor, 1, 1);
  }

  #place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * this.shape.width, ((event.clientY - box.top) / box.height) * this.shape.height];
  }

  #down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.busy = true;
    this.#mark(this.#place(event), true);
    event.preventDefault();
  }

  #move(event) {
    if (this.busy) this.#mark(this.#place(event), false);
  }

  #up() {
    if (!this.busy) return;
    this.busy = false;
    if (this.drawing) this.live.presentOwn(this.drawing.pixels(find("fit").checked), "Drawn.");
  }

  /** What was drawn, again, centred and scaled or as it is. */
  refit() {
    if (this.drawing?.strokes.length) this.live.presentOwn(this.drawing.pixels(find("fit").checked), "Drawn.");
  }

  #mark(point, first) {
    if (this.drawing) {
      if (first) this.drawing.begin(point);
      else this.drawing.add(point);
      this.live.presentOwn(this.drawing.pixels(false), "Drawing.");
    } else {
      this.#paint(point, Math.max(0.6, BRUSH * this.shape.width));
    }
  }

  #paint(point, radius) {
    const pixels = Float64Array.from(this.live.clean);
    const white = 1 / this.live.content.gain;
    paint(pixels, this.shape, point, [white, white, white], radius);
    this.live.presentOwn(pixels, "Painted.");
  }

  /** Arrows move, Enter or the space bar paints a pixel. */
  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const [width, height] = [this.shape.width, this.shape.height];
    if (steps[event.key]) {
      this.cursor = this.cursor.map((v, i) => Math.min([width, height][i] - 1, Math.max(0, v + steps[event.key][i])));
      this.show();
    } else if (event.key === "Enter" || event.key === " ") {
      this.#paint(this.cursor.map((v) => v + 0.5), 0.6);
    } else {
      return;
    }
    event.preventDefault();
    this.live.say(`column ${this.cursor[0] + 1}, row ${this.cursor[1] + 1}`);
  }
}

/** A slider for each attribute, in its own units; of very many, for those that are highest in the rows. */
class Sliders {
  static MOST = 200;

  constructor(live) {
    this.live = live;
    const { attributes } = live.content;
    this.inputs = this.#shown(attributes.length).map((i) => {
      const { name, low, high } = attributes[i];
      const input = element("input", { type: "range", min: 0, max: 1, step: "any", disabled: low === high, "aria-label": name,
        oninput: (event) => this.#moved(i, Number(event.target.value)) });
      const told = element("output");
      find("sliders").append(element("label", { class: "attribute" }, element("span", { class: "name", title: name }, name), input, told));
      return { i, input, told, low, high };
    });
    const left = attributes.length - this.inputs.length;
    if (left) find("sliders").append(element("p", { class: "note" }, `${number(left)} more attributes have no slider; they are as in the row.`));
    find("sliders").hidden = false;
    find("clear").textContent = "All to the lowest";
    find("missing-name").textContent = "cells set to the lowest";
  }

  #shown(count) {
    const all = Array.from({ length: count }, (_, i) => i);
    if (count <= Sliders.MOST) return all;
    const sums = new Float64Array(count);
    this.live.rows.forEach((value, at) => { sums[at % count] += value; });
    return all.sort((a, b) => sums[b] - sums[a]).slice(0, Sliders.MOST).sort((a, b) => a - b);
  }

  forget() {}

  show() {
    this.inputs.forEach(({ i, input, told, low, high }) => {
      const value = this.live.clean[i];
      if (document.activeElement !== input) input.value = String(value);
      const raw = low + value * (high - low);
      told.textContent = short(raw);
      input.setAttribute("aria-valuetext", short(raw));
    });
  }

  #moved(i, value) {
    const clean = Float64Array.from(this.live.clean);
    clean[i] = value;
    this.live.presentOwn(clean, "");
  }
}

function scaled(values) {
  const most = Math.max(...values) || 1;
  return values.map((value) => value / most);
}

/** Of each in their sum; of nothing there are none. */
function shares(values) {
  const sum = values.reduce((all, value) => all + value, 0);
  return Float64Array.from(values, (value) => (sum > 0 ? value / sum : NaN));
}

/** A number to read at a glance. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-9) return "nearly 0";
  if (size >= 1e6 || size < 1e-4) return value.toExponential(1);
  return size >= 1000 ? String(Math.round(value)) : String(+value.toPrecision(size >= 100 ? 4 : 3));
}

/** So many of something. */
export function counted(count, what) {
  return `${number(count)} ${what}${Math.round(count) === 1 ? "" : "s"}`;
}

/** A count, with commas. */
export function number(count) {
  return count < 1e12 ? Math.round(count).toLocaleString("en") : count.toExponential(1);
}
