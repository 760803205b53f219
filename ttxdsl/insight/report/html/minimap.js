// A small picture of the whole graph, with what of it is in view; a click goes there.

const MINIMAP = { width: 150, height: 190 };

function setUpMinimap(view) {
  const canvas = h("canvas", { class: "graph-map", "aria-hidden": "true" });
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: MINIMAP.width * ratio, height: MINIMAP.height * ratio });
  Object.assign(canvas.style, { width: `${MINIMAP.width}px`, height: `${MINIMAP.height}px` });
  view.append(canvas);
  graph.minimap = { canvas, ratio };
  const go = (event) => {
    const { scale, x, y } = minimapPlace();
    graph.x = graph.width / 2 - ((event.offsetX - x) / scale) * graph.scale;
    graph.y = graph.height / 2 - ((event.offsetY - y) / scale) * graph.scale;
    move();
  };
  canvas.addEventListener("pointerdown", (event) => (canvas.setPointerCapture(event.pointerId), go(event)));
  canvas.addEventListener("pointermove", (event) => event.buttons && go(event));
}

function minimapPlace() {
  const { width, height } = graph.drawing;
  const scale = Math.min((MINIMAP.width - 8) / width, (MINIMAP.height - 8) / height);
  return { scale, x: (MINIMAP.width - width * scale) / 2, y: (MINIMAP.height - height * scale) / 2 };
}

/** Drawn only where there is more than can be seen. */
function paintMinimap(color) {
  const { canvas, ratio } = graph.minimap;
  const { width, height } = graph.drawing;
  const whole = width * graph.scale <= graph.width && height * graph.scale <= graph.height;
  canvas.classList.toggle("off", whole);
  if (whole) return;
  const c = canvas.getContext("2d"), { scale, x, y } = minimapPlace();
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, MINIMAP.width, MINIMAP.height);
  c.drawImage(minimapPicture(color), 0, 0, MINIMAP.width, MINIMAP.height);
  c.strokeStyle = color.accent;
  c.lineWidth = 1.5;
  const left = x - (graph.x / graph.scale) * scale, top = y - (graph.y / graph.scale) * scale;
  c.strokeRect(left, top, (graph.width / graph.scale) * scale, (graph.height / graph.scale) * scale);
}

/** All boxes, painted once for a drawing and its colours: moving over it paints none of them. */
function minimapPicture(color) {
  const map = graph.minimap, { ratio } = map;
  const key = [heat.by, color.bg, color.strong].join();
  if (map.of === graph.drawing && map.key === key) return map.picture;
  const picture = map.picture ?? document.createElement("canvas");
  Object.assign(picture, { width: MINIMAP.width * ratio, height: MINIMAP.height * ratio });
  Object.assign(map, { of: graph.drawing, key, picture });
  const c = picture.getContext("2d"), { scale, x, y } = minimapPlace();
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const paintBox = (box) => {
    if (box.open && box.scope >= 0) {
      c.strokeStyle = color.line;
      if (box.scope > 0) c.strokeRect(x + box.x * scale, y + box.y * scale, box.width * scale, box.height * scale);
      box.items.forEach(paintBox);
      return;
    }
    c.fillStyle = heatOf(box) ?? (box.node !== undefined ? kindColor(kindOf(nodes[box.node])) : color.strong);
    c.fillRect(x + box.x * scale, y + box.y * scale, Math.max(1, box.width * scale), Math.max(1, box.height * scale));
  };
  paintBox(graph.drawing.boxes.get("s0"));
  return picture;
}
