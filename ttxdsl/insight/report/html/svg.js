// The graph as an SVG file: what is painted on the canvas, written down as elements.

/** Has of a canvas's context what the graph is painted with. */
class SvgContext {
  constructor(measure) {
    this.measure = measure;
    this.parts = [];
    this.path = "";
    this.globalAlpha = 1;
    this.lineWidth = 1;
  }
  setTransform() {}
  beginPath() {
    this.path = "";
  }
  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }
  lineTo(x, y) {
    this.path += `L${round(x)} ${round(y)}`;
  }
  bezierCurveTo(...points) {
    this.path += `C${points.map(round).join(" ")}`;
  }
  roundRect(x, y, width, height, radius) {
    const [a, b, c, d] = Array.isArray(radius) ? radius : [radius, radius, radius, radius];
    const corner = (size, dx, dy) => (size ? `q${dx[0] * size} ${dx[1] * size} ${dy[0] * size} ${dy[1] * size}` : "");
    this.path +=
      `M${round(x + a)} ${round(y)}h${round(width - a - b)}${corner(b, [1, 0], [1, 1])}v${round(height - b - c)}` +
      `${corner(c, [0, 1], [-1, 1])}h${round(c + d - width)}${corner(d, [-1, 0], [-1, -1])}v${round(a + d - height)}${corner(a, [0, -1], [1, -1])}z`;
  }
  element(tag, props, ...text) {
    if (this.globalAlpha < 1) props.opacity = this.globalAlpha;
    this.parts.push(s(tag, props, ...text));
  }
  fill() {
    this.element("path", { d: this.path, fill: this.fillStyle });
  }
  stroke() {
    this.element("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": round(this.lineWidth) });
  }
  fillRect(x, y, width, height) {
    this.element("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle });
  }
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  fillText(text, x, y) {
    const middle = this.textBaseline === "middle" ? { "dominant-baseline": "middle" } : {};
    this.element("text", { x: round(x), y: round(y), fill: this.fillStyle, style: `font:${this.font};white-space:pre`, ...middle }, text);
  }
}

const round = (number) => Math.round(number * 100) / 100;

/** The whole graph as it is folded now. */
function graphSvg() {
  const { width, height } = graph.drawing;
  const context = new SvgContext(document.createElement("canvas").getContext("2d"));
  const before = graph.scale;
  graph.scale = 1;
  try {
    paintBoxes(context, { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity }, colors());
  } finally {
    graph.scale = before;
  }
  const back = s("rect", { x: -20, y: -20, width: round(width + 40), height: round(height + 40), fill: colors().bg });
  const box = `-20 -20 ${round(width + 40)} ${round(height + 40)}`;
  const svg = s("svg", { xmlns: SVG, viewBox: box, width: round(width + 40), height: round(height + 40) }, back, ...context.parts);
  return new XMLSerializer().serializeToString(svg);
}

function saveSvg() {
  const url = URL.createObjectURL(new Blob([graphSvg()], { type: "image/svg+xml" }));
  h("a", { href: url, download: `${shortPlace(data.title)}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
