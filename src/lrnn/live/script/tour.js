// Six steps for someone who has never heard of a random neural network.

import { element } from "./layers.js";

/** What is told, of images or tables, of autoencoders or classifiers. */
function stepsOf({ shape, ink, models }) {
  const classes = Boolean(models[0].classes);
  const strong = !shape ? "a high number" : ink ? "a pixel full of ink" : "a bright pixel";
  return [
    {
      title: "A neuron is a counter",
      text: "Each neuron holds a whole number, its potential. A spike that arrives adds one. As long as the number is above zero the neuron fires, at random moments, and each time it loses one. Here spikes are so slow that you can follow single ones.",
      target: ".layer",
      act: (live) => live.setPace(1),
    },
    {
      title: "The input arrives as spikes",
      text: `The stronger an input, the more spikes it sends: ${strong} sends many, and an empty one none. At first the network knows nothing of them: all counters are at zero.`,
      target: "#input-panel",
      act: (live) => { live.restart(); live.setPace(2); },
    },
    {
      title: "Code neurons stand for parts",
      text: `The neurons in the middle are few. Each has learnt one part of the data${shape ? ", drawn on it," : ""} and spikes of inputs that belong to that part are sent there. The bar shows how active it was so far, the line how active it should be.`,
      target: ".layer.code",
      act: (live) => live.setPace(3),
    },
    {
      title: classes ? "Spikes become a decision" : "Parts become the whole",
      text: classes
        ? "When a code neuron fires, its spike may go on to a class, or calm one down. The share of each class in the output spikes is its probability."
        : "When a code neuron fires, its spike goes to one of the outputs of its part. Nothing else ever happens, only single spikes, and yet the input comes back as the output.",
      target: ".stage .layer:last-of-type",
      act: (live) => live.setPace(5),
    },
    {
      title: "Averages are the numbers",
      text: `How often each neuron is excited can also be computed, without any spike: see ${shape ? "the small pictures" : "the second bars"}. The more events, the smaller the difference, in the long run like one over their square root. That is the dashed line.`,
      target: "#numbers figure",
      act: (live) => live.setPace(7),
    },
    {
      title: "Your turn",
      text: `${shape ? "Draw into the input" : "Move the sliders of the input"}. Choose a code neuron, turn it by hand, or switch it off and see what is lost. Add noise. Slow down until you see every event.`,
      target: "#input-panel",
      act: () => {},
    },
  ];
}

export class Tour {
  constructor(live, dialog) {
    this.live = live;
    this.dialog = dialog;
    this.steps = stepsOf(live.content);
    this.step = -1;
    this.heading = element("h2", { id: "tour-title" });
    this.text = element("p");
    this.count = element("span", { class: "note" });
    this.back = element("button", { type: "button", onclick: () => this.show(this.step - 1) }, "Back");
    this.next = element("button", { type: "button", onclick: () => this.show(this.step + 1) }, "Next");
    const skip = element("button", { type: "button", class: "skip", onclick: () => this.close() }, "Skip the tour");
    dialog.append(this.heading, this.text, element("div", { class: "buttons" }, this.back, this.next, this.count, skip));
  }

  show(step) {
    if (step >= this.steps.length) return this.close();
    if (!this.dialog.open) this.pace = this.live.pace;
    this.step = Math.max(0, step);
    const { title, text, target, act } = this.steps[this.step];
    this.#light(target);
    this.heading.textContent = title;
    this.text.textContent = text;
    this.count.textContent = `${this.step + 1} of ${this.steps.length}`;
    this.back.disabled = this.step === 0;
    this.next.textContent = this.step === this.steps.length - 1 ? "Done" : "Next";
    if (!this.dialog.open) this.dialog.show();
    this.next.focus({ preventScroll: true });
    act(this.live);
  }

  /** End it; the pace is what it was before. */
  close() {
    this.#light(null);
    this.step = -1;
    if (!this.dialog.open) return;
    this.dialog.close();
    this.live.setPace(this.pace);
    document.getElementById("begin-tour").focus({ preventScroll: true });
  }

  #light(selector) {
    document.querySelector(".spotlight")?.classList.remove("spotlight");
    const found = selector && document.querySelector(selector);
    found?.classList.add("spotlight");
    document.body.classList.toggle("touring", Boolean(selector)); // room below, so that all can be scrolled to
    found?.scrollIntoView({ block: "start" });
  }
}
