// What is drawn by hand, as pixels: centred and scaled as the data are, with strokes as wide.

const FINE = 6; // dots that make a pixel, along each side
const INK = 0.1; // what belongs to a stroke

export class Drawing {
  /** `frame` says how drawings lie in the data's images (see lrnn/live/drawing.py). */
  constructor(picture, frame) {
    this.picture = picture;
    this.frame = frame;
    this.strokes = []; // of points, in pixels
    this.sheet = new OffscreenCanvas(picture.width * FINE, picture.height * FINE);
    this.context = this.sheet.getContext("2d", { willReadFrequently: true });
  }

  begin(point) {
    this.strokes.push([point]);
  }

  add(point) {
    this.strokes.at(-1).push(point);
  }

  /** Pixels in [0, 1]; `fitted`: moved and scaled as the data are. */
  pixels(fitted) {
    if (!this.strokes.length) return new Float64Array(this.picture.width * this.picture.height);
    if (!fitted) return this.#raster((point) => point);
    const { width, height } = this.picture;
    const points = this.strokes.flat();
    const [left, right] = ends(points.map((p) => p[0]));
    const [top, bottom] = ends(points.map((p) => p[1]));
    const room = Math.max(1, this.frame.box * Math.max(width, height) - this.frame.width);
    const scale = room / Math.max(right - left, bottom - top, room / 4); // a dot stays a dot
    const middle = [(left + right) / 2, (top + bottom) / 2];
    const moved = (dx, dy) => (p) => [
      (p[0] - middle[0]) * scale + width / 2 + dx, (p[1] - middle[1]) * scale + height / 2 + dy,
    ];
    const first = this.#raster(moved(0, 0));
    if (this.frame.centre !== "mass") return first;
    const [x, y] = centreOf(first, width);
    return this.#raster(moved(width / 2 - x, height / 2 - y));
  }

  #raster(place) {
    const { width, height } = this.picture;
    const { context } = this;
    context.fillStyle = "black";
    context.fillRect(0, 0, width * FINE, height * FINE);
    context.strokeStyle = context.fillStyle = "white";
    context.lineWidth = this.frame.width * FINE;
    context.lineCap = context.lineJoin = "round";
    for (const stroke of this.strokes) {
      const points = stroke.map((point) => place(point).map((v) => v * FINE));
      context.beginPath();
      context.moveTo(...points[0]);
      for (const point of points) context.lineTo(...point);
      if (points.length === 1) context.lineTo(points[0][0] + 0.01, points[0][1]); // a dot
      context.stroke();
    }
    const dots = context.getImageData(0, 0, width * FINE, height * FINE).data;
    const found = new Float64Array(width * height);
    for (let y = 0; y < height * FINE; y++) {
      for (let x = 0; x < width * FINE; x++) {
        found[Math.floor(y / FINE) * width + Math.floor(x / FINE)] += dots[4 * (y * width * FINE + x)];
      }
    }
    const most = (255 * FINE * FINE) / this.frame.white;
    return found.map((sum) => Math.min(sum / most, 1));
  }
}

function ends(values) {
  return [Math.min(...values), Math.max(...values)];
}

/** The centre of mass of an image. */
export function centreOf(pixels, width) {
  let [sum, x, y] = [0, 0, 0];
  pixels.forEach((value, i) => {
    sum += value;
    x += value * ((i % width) + 0.5);
    y += value * (Math.floor(i / width) + 0.5);
  });
  return sum > 0 ? [x / sum, y / sum] : [0, 0];
}

/** The longer side of what is inked, as a share of the image's. */
export function boxOf(pixels, { width, height }) {
  const xs = [];
  const ys = [];
  const least = INK * Math.max(...pixels);
  pixels.forEach((value, i) => {
    if (value > least) {
      xs.push(i % width);
      ys.push(Math.floor(i / width));
    }
  });
  if (!xs.length) return 0;
  const side = (values) => ends(values)[1] - ends(values)[0] + 1;
  return Math.max(side(xs) / width, side(ys) / height);
}

/** Paint a dot over pixels of any kind, as wide as a brush. */
export function paint(pixels, picture, [x, y], colour, radius) {
  const { width, height, colours, planes } = picture;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      if ((column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2 > radius ** 2) continue;
      const pixel = row * width + column;
      for (let c = 0; c < colours; c++) pixels[planes ? c * width * height + pixel : pixel * colours + c] = colour[c];
    }
  }
}
