// Six steps for someone who has never heard of a random neural network.

import { element } from "./layers.js";

const STEPS = [
  {
    title: "A neuron is a counter",
    text: "Each neuron holds a whole number, its potential. A spike that arrives adds one. As long as the number is above zero the neuron fires, at random moments, and each time it loses one. Here spikes are so slow that you can follow single ones.",
    target: ".layer",
    act: (live) => live.setPace(1),
  },
  {
    title: "The input arrives as spikes",
    text: "A bright pixel, or a high number, sends many spikes per second, a dark one few. At first the network knows nothing of them: all counters are at zero.",
    target: "#input-panel",
    act: (live) => { live.restart(); live.setPace(2); },
  },
  {
    title: "Code neurons stand for parts",
    text: "The neurons in the middle are few. Each has learnt one part of the data, drawn on it, and spikes of pixels that belong to that part are sent there. The bar shows how often it was excited, the line where that should be.",
    target: ".layer.code",
    act: (live) => live.setPace(3),
  },
  {
    title: "Parts become the whole",
    text: "When a code neuron fires, its spike goes to one of the outputs of its part. Nothing else ever happens, only single spikes, and yet the input comes back on the right.",
    target: ".stage .layer:last-of-type",
    act: (live) => live.setPace(5),
  },
  {
    title: "Averages are the numbers",
    text: "The share of time in which each neuron is excited can be computed without any spike: these are the small pictures or the second bars. The more events, the smaller the difference, like one over their square root. That is the dashed line.",
    target: "#numbers",
    act: (live) => live.setPace(7),
  },
  {
    title: "Your turn",
    text: "Draw into the input, or move its sliders. Choose a code neuron, turn it by hand, or switch it off and see what is lost. Add noise. Slow down until you see every event.",
    target: "#input-panel",
    act: () => {},
  },
];

export class Tour {
  constructor(live, dialog) {
    this.live = live;
    this.dialog = dialog;
    this.step = -1;
    this.heading = element("h2", { id: "tour-title" });
    this.text = element("p");
    this.count = element("span", { class: "note" });
    this.back = element("button", { type: "button", onclick: () => this.show(this.step - 1) }, "Back");
    this.next = element("button", { type: "button", onclick: () => this.show(this.step + 1) }, "Next");
    const skip = element("button", { type: "button", class: "skip", onclick: () => this.close() }, "Skip the tour");
    dialog.append(this.heading, this.text, element("div", { class: "buttons" }, this.back, this.next, this.count, skip));
    dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
  }

  static get length() {
    return STEPS.length;
  }

  show(step) {
    if (step >= STEPS.length) return this.close();
    this.step = Math.max(0, step);
    const { title, text, target, act } = STEPS[this.step];
    this.#light(target);
    this.heading.textContent = title;
    this.text.textContent = text;
    this.count.textContent = `${this.step + 1} of ${STEPS.length}`;
    this.back.disabled = this.step === 0;
    this.next.textContent = this.step === STEPS.length - 1 ? "Done" : "Next";
    if (!this.dialog.open) this.dialog.show();
    this.next.focus();
    act(this.live);
  }

  close() {
    this.#light(null);
    this.step = -1;
    if (this.dialog.open) this.dialog.close();
  }

  #light(selector) {
    document.querySelector(".spotlight")?.classList.remove("spotlight");
    const found = selector && document.querySelector(selector);
    found?.classList.add("spotlight");
    found?.scrollIntoView({ block: "nearest" });
  }
}
