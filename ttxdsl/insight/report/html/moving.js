// The graph while it moves: a still picture of it is moved, and painted anew when it stands.

const MOST_PAINTED = 400; // boxes and arrows in a frame; more of them take longer than one lasts
const STILL_MS = 90; // without a move, until the graph is sharp again
const MARGIN = 0.25; // of the view, on each side of it: so far the picture can be moved

const still = {
  canvas: document.createElement("canvas"),
  stale: true, // it shows something else than there is now
  scale: 1, x: 0, y: 0, // as of the graph when it was painted
  drawing: null,
  painted: 0, // boxes and arrows
  paints: 0, // how often it was painted
  timer: 0,
};

let waiting = false;

/** Paint the graph at its new place. */
function move() {
  if (waiting || !graph.drawing) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    paint();
  });
}

/** Paint the graph, which says something else than before. */
function draw() {
  still.stale = true;
  move();
}

function paint() {
  if (!graph.width) return;
  const color = colors();
  clearTimeout(still.timer);
  const stale = still.stale || still.drawing !== graph.drawing;
  if (stale || (!isSharp() && still.painted <= MOST_PAINTED)) paintStill(color);
  else if (!isSharp()) still.timer = setTimeout(draw, STILL_MS);
  showStill(color);
  paintMinimap(color);
}

/** The part of the drawing that a picture of the view and its margins shows. */
function partAt({ scale, x, y }, margin) {
  const { width, height } = graph;
  return {
    left: -(x + width * margin) / scale, top: -(y + height * margin) / scale,
    right: (width * (1 + margin) - x) / scale, bottom: (height * (1 + margin) - y) / scale,
  };
}

/** Whether the picture shows all that is in view, as large as it is to be. */
function isSharp() {
  const view = partAt(graph, 0), has = partAt(still, MARGIN);
  const { width, height } = graph.drawing;
  return still.scale === graph.scale
    && (view.left >= has.left || has.left <= -20) && (view.right <= has.right || has.right >= width + 20)
    && (view.top >= has.top || has.top <= -20) && (view.bottom <= has.bottom || has.bottom >= height + 20);
}

function paintStill(color) {
  const { width, height, ratio, scale, x, y, drawing } = graph, { canvas } = still;
  const size = [width, height].map((one) => Math.round(one * (1 + 2 * MARGIN) * ratio));
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const c = canvas.getContext("2d");
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.fillStyle = color.bg;
  c.fillRect(0, 0, ...size);
  c.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * (x + width * MARGIN), ratio * (y + height * MARGIN));
  const painted = paintBoxes(c, partAt(graph, MARGIN), color);
  Object.assign(still, { stale: false, scale, x, y, drawing, painted, paints: still.paints + 1 });
}

/** Show the picture where the graph is now; beyond it the small one of the whole. */
function showStill(color) {
  const { context: c, width, height, ratio, scale, x, y } = graph;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = color.bg;
  c.fillRect(0, 0, width, height);
  if (!isSharp()) {
    const place = minimapPlace(), grown = scale / place.scale;
    c.drawImage(minimapPicture(color), x - place.x * grown, y - place.y * grown, MINIMAP.width * grown, MINIMAP.height * grown);
  }
  const grown = scale / still.scale, part = 1 + 2 * MARGIN;
  const left = x - (still.x + width * MARGIN) * grown, top = y - (still.y + height * MARGIN) * grown;
  c.drawImage(still.canvas, left, top, width * part * grown, height * part * grown);
  const box = graph.hover && graph.drawing.boxes.get(graph.hover);
  if (box && !box.open) {
    c.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    paintLeaf(c, box, color, box === selectedBox(), state.matches && new Set(state.matches.map(visibleOf)), true);
  }
}
