// The difference between spikes and numbers, falling like one over the root of the events.

const MARGIN = { left: 52, right: 10, top: 10, bottom: 34 };

/** Curves of points (events, difference, what theory expects), on axes of powers of ten, by name. */
export function drawCurves(canvas, curves, names, colours, ink) {
  const dense = window.devicePixelRatio || 1;
  const box = canvas.getBoundingClientRect();
  if (!box.width) return;
  canvas.width = Math.round(box.width * dense);
  canvas.height = Math.round(box.height * dense);
  const context = canvas.getContext("2d");
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  const points = curves.flat().filter(drawable);
  const x = axis(points.map((p) => p[0]), 2, MARGIN.left, box.width - MARGIN.right);
  const y = axis(points.flatMap((p) => [p[1], p[2]]), -2, box.height - MARGIN.bottom, MARGIN.top);
  context.font = "11px system-ui, sans-serif";
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = 1;
  for (const power of x.powers) {
    tick(context, power, x.at(10 ** power), box.height - MARGIN.bottom + 14, "center");
    line(context, [[x.at(10 ** power), MARGIN.top], [x.at(10 ** power), box.height - MARGIN.bottom]], 0.15);
  }
  for (const power of y.powers) {
    tick(context, power, MARGIN.left - 8, y.at(10 ** power) + 4, "right");
    line(context, [[MARGIN.left, y.at(10 ** power)], [box.width - MARGIN.right, y.at(10 ** power)]], 0.15);
  }
  context.textAlign = "center";
  context.fillText("events", (MARGIN.left + box.width - MARGIN.right) / 2, box.height - 4);
  curves.forEach((curve, i) => {
    context.strokeStyle = colours[i % colours.length];
    const kept = curve.filter(drawable);
    context.setLineDash([4, 4]);
    context.lineWidth = 1.4;
    line(context, kept.map(([events, , expected]) => [x.at(events), y.at(expected)]), 1);
    context.setLineDash([]);
    context.lineWidth = 2;
    line(context, kept.map(([events, seen]) => [x.at(events), y.at(seen)]), 1);
    context.lineWidth = 1;
    context.fillStyle = colours[i % colours.length];
    context.textAlign = "right";
    context.fillText(names[i].slice(0, 40), box.width - MARGIN.right - 4, MARGIN.top + 14 + 15 * i);
  });
}

function drawable([events, seen, expected]) {
  return events > 0 && seen > 0 && expected > 0;
}

function axis(values, usual, from, to) {
  const logs = values.filter((v) => v > 0).map(Math.log10);
  const low = Math.floor(Math.min(usual, ...logs));
  const high = Math.max(low + 1, Math.ceil(Math.max(...(logs.length ? logs : [usual]))));
  const step = Math.ceil((high - low) / 6);
  const powers = [];
  for (let power = low; power <= high; power += step) powers.push(power);
  return { powers, at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from) };
}

function tick(context, power, x, y, align) {
  context.textAlign = align;
  const plain = power >= -3 && power <= 4;
  context.fillText(plain ? String(+(10 ** power).toPrecision(1)) : `1e${power}`, x, y);
}

function line(context, points, alpha) {
  context.globalAlpha = alpha;
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.globalAlpha = 1;
}
