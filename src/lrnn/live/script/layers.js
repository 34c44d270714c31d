// Layers to look at: pictures, parts, bars; and spikes on their way between them.

/** An element with attributes and children; text is never taken for markup. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Numbers in [0, 1] onto a canvas, pixel for pixel; `ink`: 1 is black; `gain`: so many times as bright. */
export function pixelate(canvas, values, picture, ink, first = 0, gain = 1) {
  const { width, height, colours, planes } = picture;
  const context = canvas.getContext("2d");
  const image = (canvas.image ??= context.createImageData(width, height));
  const count = width * height;
  for (let p = 0; p < count; p++) {
    for (let c = 0; c < 3; c++) {
      const at = colours === 1 ? p : planes ? c * count + p : p * 3 + c;
      const value = Math.min(1, gain * (values[first + at] ?? 0));
      image.data[4 * p + c] = 255 * (ink && colours === 1 ? 1 - value : value);
    }
    image.data[4 * p + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function blank(picture, label) {
  return element("canvas", { width: picture.width, height: picture.height, role: "img", "aria-label": label });
}

/** As square as can be: of a layer whose neurons have no places of their own. */
export function squareOf(count) {
  const width = Math.max(1, Math.ceil(Math.sqrt(count)));
  return { width, height: Math.ceil(count / width), colours: 1, planes: false };
}

/** A layer as two pictures: spikes, and below it the numbers. */
export class Picture {
  constructor(title, picture, ink, gain = 1) {
    this.picture = picture;
    this.ink = ink;
    this.gain = gain;
    this.canvas = blank(picture, `${title}: by spikes`);
    this.exact = blank(picture, `${title}: by numbers`);
    this.figure = element("figure", { class: "layer" }, element("figcaption", {}, title),
      this.canvas, element("div", { class: "exact" }, this.exact, element("span", {}, "numbers")));
  }

  draw(values, exact, first) {
    pixelate(this.canvas, values, this.picture, this.ink, first, this.gain);
    if (exact) pixelate(this.exact, exact, this.picture, this.ink, first, this.gain);
  }

  /** Where the layer is now; then `place` tells where a neuron is, in the window. */
  measure() {
    this.box = this.canvas.getBoundingClientRect();
  }

  place(i) {
    const { width, height, colours, planes } = this.picture;
    const pixel = colours === 1 ? i : planes ? i % (width * height) : Math.floor(i / colours);
    const { box } = this;
    return [
      box.left + (((pixel % width) + 0.5) * box.width) / width,
      box.top + ((Math.floor(pixel / width) + 0.5) * box.height) / height,
    ];
  }
}

/** Code neurons, each a button with its part, and how often it is excited as a bar. */
export class Tiles {
  static MOST = 256;

  constructor(title, count, parts, picture, ink, narrow, choose) {
    this.tiles = [];
    const size = count <= 20 && !narrow ? "large" : count <= 49 && !narrow ? "medium" : "small";
    const list = (this.list = element("div", { class: `tiles-of-code ${size}`, role: "group", "aria-label": title }));
    for (let h = 0; h < Math.min(count, Tiles.MOST); h++) {
      const bar = element("span", { class: "level" });
      const mark = element("span", { class: "mark" });
      const icon = picture ? element("canvas", { width: picture.width, height: picture.height, "aria-hidden": "true" }) : element("span", { class: "number" }, `${h + 1}`);
      if (picture) pixelate(icon, parts(h), picture, ink);
      const tile = element("button", { type: "button", class: "tile", onclick: (event) => choose(h, event.shiftKey) },
        icon, element("span", { class: "gauge" }, bar, mark));
      tile.bar = bar;
      tile.mark = mark;
      this.tiles.push(tile);
      list.append(tile);
    }
    const left = count - this.tiles.length;
    this.figure = element("figure", { class: "layer code" }, element("figcaption", {}, title), list,
      left > 0 ? element("p", { class: "note" }, `and ${left} more`) : "");
  }

  draw(values, exact, first) {
    this.tiles.forEach((tile, h) => {
      tile.bar.style.transform = `scaleY(${values[first + h]})`;
      if (exact) tile.mark.style.bottom = `${100 * exact[first + h]}%`;
    });
  }

  /** What those hear who cannot see, and who is chosen or off. */
  label(told, chosen, off) {
    this.tiles.forEach((tile, h) => {
      tile.setAttribute("aria-label", told(h));
      tile.setAttribute("aria-pressed", String(h === chosen));
      tile.classList.toggle("off", Boolean(off(h)));
    });
  }

  measure() {
    this.places = placesIn(this.list, this.tiles, 0.5);
  }

  place(h) {
    return this.places(h);
  }
}

/** Attributes or classes by name, each with two bars: spikes, and numbers. */
export class Bars {
  static MOST = 60;

  constructor(title, names, value) {
    this.value = value; // of an activation, in words
    this.rows = names.slice(0, Bars.MOST).map((name) => {
      const spikes = element("span");
      const exact = element("span");
      const told = element("span", { class: "value" });
      const row = element("li", {}, element("span", { class: "name", title: name }, name),
        element("span", { class: "both" }, element("span", { class: "bar" }, spikes), element("span", { class: "bar back" }, exact)), told);
      return { row, spikes, exact, told };
    });
    const left = names.length - this.rows.length;
    this.list = element("ul", { class: "bars" }, ...this.rows.map(({ row }) => row));
    this.figure = element("figure", { class: "layer named" }, element("figcaption", {}, title), this.list,
      left > 0 ? element("p", { class: "note" }, `and ${left} more`) : "");
  }

  /** `potentials`, where these are shown, are told in the place of values. */
  draw(values, exact, first, potentials = null) {
    this.rows.forEach((row, i) => {
      row.spikes.style.width = `${100 * values[first + i]}%`;
      if (exact) row.exact.style.width = `${100 * exact[first + i]}%`;
      const told = potentials ? String(potentials[first + i]) : this.value(values[first + i], i);
      if (told !== row.last) row.told.textContent = row.last = told;
    });
  }

  measure() {
    this.places = placesIn(this.list, this.rows.map(({ row }) => row), 0.45);
  }

  place(i) {
    return this.places(i);
  }
}

/** Where the children of a list are, so far as it does not have to be scrolled to see them. */
function placesIn(list, children, across) {
  const box = list.getBoundingClientRect();
  const places = children.map((child) => [
    box.left + child.offsetLeft + across * child.offsetWidth,
    Math.min(box.bottom, Math.max(box.top, box.top + child.offsetTop - list.scrollTop + child.offsetHeight / 2)),
  ]);
  return (i) => places[Math.min(i, places.length - 1)];
}

const TRAVEL = 420; // milliseconds from one neuron to the next
const MOST_UNDERWAY = 240;

/** Spikes on their way, over everything else of a stage. */
export class Traffic {
  constructor(stage, layers, network) {
    this.canvas = element("canvas", { class: "traffic", "aria-hidden": "true" });
    this.stage = stage;
    this.layers = layers;
    this.network = network;
    this.underway = [];
    stage.append(this.canvas);
  }

  /** `spikes` are pairs of who fires and where to, as an engine tells them. */
  send(spikes, now) {
    const { starts } = this.network;
    const n = starts.at(-1);
    for (let s = 0; s < spikes.length && this.underway.length < MOST_UNDERWAY; s += 2) {
      const [node, to] = [spikes[s], spikes[s + 1]];
      const inhibits = to < 0;
      const target = inhibits ? ~to : to;
      const from = node > n ? null : this.#at(node);
      const end = target < n ? this.#at(target) : null;
      if (!from && !end) continue;
      // from outside it comes in from the left, and what leaves goes off to the right
      const begin = from ?? [end[0] - 26, end[1] - 10];
      const goal = end ?? [begin[0] + 26, begin[1] + 10];
      const delay = (s / spikes.length) * 60;
      this.underway.push({ begin, goal, inhibits, start: now + delay });
    }
  }

  #at(neuron) {
    const { starts } = this.network;
    let layer = 0;
    while (neuron >= starts[layer + 1]) layer++;
    const [x, y] = this.layers[layer].place(neuron - starts[layer]);
    const box = this.box;
    return [x - box.left, y - box.top];
  }

  /** Once before spikes are sent: where everything is now. */
  measure() {
    this.box = this.stage.getBoundingClientRect();
    for (const layer of this.layers) layer.measure();
  }

  draw(now, colours) {
    const { box } = this;
    const dense = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * dense), Math.round(box.height * dense)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    this.underway = this.underway.filter(({ start }) => now - start < TRAVEL);
    for (const { begin, goal, inhibits, start } of this.underway) {
      const share = (now - start) / TRAVEL;
      if (share < 0) continue;
      const x = begin[0] + share * (goal[0] - begin[0]);
      const y = begin[1] + share * (goal[1] - begin[1]) - 14 * Math.sin(Math.PI * share);
      context.fillStyle = inhibits ? colours.inhibition : colours.excitation;
      context.globalAlpha = 0.9;
      context.beginPath();
      context.arc(x, y, 2.6, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  }
}
