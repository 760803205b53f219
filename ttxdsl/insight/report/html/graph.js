// The graph on a canvas: only what is in view is drawn, in less detail from afar.

const LEGIBLE = 0.6; // of the scale: below it the text of a box cannot be read
const ROOM = 40; // left and right of a drawing that is seen whole, or above and below

const graph = {
  drawing: null, // what layoutGraph made
  scale: 1, x: 0, y: 0, // the drawing's place: screen = world * scale + (x, y)
  hover: null,
  fitted: false,
};

function setUpGraph(view) {
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Graph: arrows follow the data, Enter folds, + and - zoom, 0 shows all" });
  const legend = h("div", { class: "legend" });
  const there = new Set(nodes.map(kindOf));
  for (const [kind, { label }] of Object.entries(KINDS)) {
    if (!there.has(kind)) continue;
    const dot = h("i", { class: "dot" });
    listen((what) => what === "theme" && dot.style.setProperty("--c", kindColor(kind)));
    dot.style.setProperty("--c", kindColor(kind));
    legend.append(h("span", {}, dot, label));
  }
  const button = (text, title, run) => h("button", { type: "button", title, "aria-label": title, onclick: run }, text);
  const tools = h(
    "div", { class: "tools" },
    button("svg", "Save as SVG, as it is folded now", () => saveSvg()),
    button("fit", "Show all (0)", () => fitAll()),
    button("−", "Smaller (-)", () => zoom(1 / 1.3)),
    button("+", "Larger (+)", () => zoom(1.3)),
  );
  const heats = h("span", { class: "heats", role: "radiogroup", "aria-label": "Colours say" }, "colours: ",
    ...Object.entries(HEATS).map(([by, { label }]) => h("button", { type: "button", role: "radio", "data-heat": by, onclick: () => setHeat(by) }, label)));
  const tell = () => heats.querySelectorAll("button").forEach((one) => one.setAttribute("aria-checked", one.dataset.heat === heat.by));
  tell();
  const holder = h("div", { id: "graph-canvas" }, canvas, tools);
  // beside the graph, not on it
  view.append(holder, h("div", { class: "below" }, legend, heats));
  setUpMinimap(view);
  graph.canvas = canvas;
  graph.context = canvas.getContext("2d");
  new ResizeObserver(() => resize(holder)).observe(holder);

  let drag = null, moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX - graph.x, y: event.clientY - graph.y };
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const x = event.clientX - drag.x, y = event.clientY - drag.y;
      if (Math.abs(x - graph.x) + Math.abs(y - graph.y) > 3) moved = true;
      if (moved) (graph.x = x), (graph.y = y), canvas.classList.add("dragging"), move();
      return;
    }
    const box = boxAt(event.offsetX, event.offsetY);
    if (box?.id !== graph.hover) {
      graph.hover = box?.id ?? null;
      canvas.title = box && box.scope !== 0 ? boxTitle(box) : "";
      canvas.style.cursor = box && !(box.open && box.scope === 0) ? "pointer" : "";
      move();
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    drag = null;
    canvas.classList.remove("dragging");
    if (moved) return;
    const box = boxAt(event.offsetX, event.offsetY);
    if (!box || box.scope === 0) return select(null);
    if (box.scope !== undefined && onFold(box, event)) return setOpen(box.scope, !box.open);
    select(box.node !== undefined ? { node: box.node } : { scope: box.scope }, { from: "graph", reveal: false });
  });
  canvas.addEventListener("dblclick", (event) => {
    const box = boxAt(event.offsetX, event.offsetY);
    if (box && box.scope > 0) setOpen(box.scope, !box.open);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) (graph.x -= event.deltaY), move();
    else zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", graphKey);

  listen((what, detail) => {
    if (what === "fold") relay(detail?.scope);
    if (what === "select") {
      if (graph.drawing && detail.from !== "graph") center();
      draw();
    }
    if (what === "heat") tell();
    if (["theme", "search", "heat"].includes(what)) draw();
  });
}

/** All that a box says, also what is cut in it. */
function boxTitle(box) {
  if (box.scope !== undefined) return [`${scopeLabel(box.scope)}${calledAt(box.scope)}`, opsText(box.scope), collectivesText(box.scope)].filter(Boolean).join("\n");
  const node = nodes[box.node];
  return [node.kind === "op" ? node.op : node.name, ...node.outputs.map((value) => `${value.name} ${typeText(value)} ${layoutOf(value)?.text ?? ""}`.trim()), shortPlace(sourceOf(node))].filter(Boolean).join("\n");
}

function resize(holder) {
  const { clientWidth: width, clientHeight: height } = holder;
  if (!width || !height) return;
  const ratio = window.devicePixelRatio || 1;
  Object.assign(graph.canvas, { width: width * ratio, height: height * ratio });
  Object.assign(graph.canvas.style, { width: `${width}px`, height: `${height}px` });
  Object.assign(graph, { width, height, ratio });
  if (!graph.drawing) graph.drawing = openFirst();
  if (!graph.fitted) (graph.fitted = true), fitAll(true);
  else draw();
}

/** After folding: lay out again, with the box that was touched where it was on the screen. */
function relay(scope) {
  if (!graph.drawing) return;
  const id = scope === undefined ? null : `s${scope}`;
  const before = id && graph.drawing.boxes.get(id);
  graph.drawing = layoutGraph();
  const after = id && graph.drawing.boxes.get(id);
  if (before && after) {
    graph.x += (before.x + before.width / 2 - after.x - after.width / 2) * graph.scale;
    graph.y += (before.y - after.y) * graph.scale;
  } else if (!state.selected) fitAll();
  draw();
}

/** The scale at which a drawing is seen whole in what is so wide and high. */
function scaleOf(drawing, { width, height }) {
  return Math.min(width / (drawing.width + ROOM), height / (drawing.height + ROOM));
}

function fitAll(start = false) {
  const { width, height } = graph.drawing;
  const fit = Math.min(scaleOf(graph.drawing, graph), 1.1);
  graph.scale = start ? Math.max(fit, LEGIBLE) : fit;
  graph.x = (graph.width - width * graph.scale) / 2;
  graph.y = Math.max((graph.height - height * graph.scale) / 2, ROOM / 4);
  move();
}

function zoom(factor, x = graph.width / 2, y = graph.height / 2) {
  const scale = Math.min(3, Math.max(0.01, graph.scale * factor));
  graph.x = x - ((x - graph.x) * scale) / graph.scale;
  graph.y = y - ((y - graph.y) * scale) / graph.scale;
  graph.scale = scale;
  move();
}

/** The box that stands for the selection: the node or scope, or what it is folded in. */
function selectedBox() {
  const chosen = state.selected;
  if (!chosen || !graph.drawing) return null;
  const boxes = graph.drawing.boxes;
  if (chosen.node !== undefined) return boxes.get(visibleOf(chosen.node));
  return boxes.get(`s${chosen.scope}`);
}

function center() {
  const box = selectedBox();
  if (!box || !graph.width) return;
  graph.scale = Math.max(graph.scale, 0.7);
  const height = Math.min(box.height, graph.height / graph.scale - 80);
  graph.x = graph.width / 2 - (box.x + box.width / 2) * graph.scale;
  graph.y = graph.height / 2 - (box.y + height / 2) * graph.scale;
}

function boxAt(screenX, screenY) {
  const x = (screenX - graph.x) / graph.scale, y = (screenY - graph.y) / graph.scale;
  const inside = (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
  let box = graph.drawing?.boxes.get("s0") ?? null;
  for (let next = box; next; ) {
    box = next;
    next = (box.items ?? []).find(inside);
  }
  return box;
}

/** Whether a click is on the arrow that folds and unfolds. */
function onFold(box, event) {
  const x = (event.offsetX - graph.x) / graph.scale - box.x, y = (event.offsetY - graph.y) / graph.scale - box.y;
  return x < 26 && y < GAP.head;
}

function graphKey(event) {
  const step = { ArrowUp: 1, ArrowDown: 1, ArrowLeft: 1, ArrowRight: 1 };
  if (event.key === "+" || event.key === "=") zoom(1.3);
  else if (event.key === "-") zoom(1 / 1.3);
  else if (event.key === "0") fitAll();
  else if (event.key === "Enter" || event.key === " ") {
    const chosen = state.selected;
    if (chosen?.scope > 0) setOpen(chosen.scope, !isOpen(chosen.scope));
    else if (chosen?.node !== undefined && nodes[chosen.node].scope > 0) {
      select({ scope: nodes[chosen.node].scope });
    }
  } else if (event.key === "Escape") select(null);
  else if (step[event.key]) follow(event.key);
  else return;
  event.preventDefault();
}

/** Arrow keys: up to an input, down to a user, left and right in program order. */
function follow(key) {
  const chosen = state.selected;
  if (!chosen) return selectNode(0);
  if (chosen.scope !== undefined) return selectNode(totals[chosen.scope].first);
  const at = chosen.node;
  const next = {
    ArrowUp: nodes[at].inputs[0]?.[0],
    ArrowDown: users[at][0],
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
  }[key];
  if (next !== undefined && next >= 0 && next < nodes.length) selectNode(next);
}

// --- drawing -----------------------------------------------------------------------------------

function colors() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    bg: of("--bg"), panel: of("--panel"), raised: of("--raised"), line: of("--line"), strong: of("--line-strong"),
    text: of("--text"), muted: of("--muted"), faint: of("--faint"), accent: of("--accent"), soft: of("--accent-soft"),
    sans: of("--sans"), mono: of("--mono"),
  };
}

/** Paint all boxes and arrows of a part of the drawing; return how many there are. */
function paintBoxes(c, view, color) {
  const { drawing } = graph;
  const inView = (box) => box.x < view.right && box.x + box.width > view.left && box.y < view.bottom && box.y + box.height > view.top;
  const chosen = selectedBox();
  const matches = state.matches && new Set(state.matches.map(visibleOf));
  const scopesDrawn = [], leaves = [];
  const visit = (box) => {
    if (!inView(box)) return;
    if (box.open) {
      if (box.scope !== 0) scopesDrawn.push(box);
      for (const item of box.items) visit(item);
    } else leaves.push(box);
  };
  visit(drawing.boxes.get("s0"));
  for (const box of scopesDrawn) paintOpen(c, box, color, box === chosen, matches);
  const arrows = paintArrows(c, view, color, chosen);
  for (const box of leaves) paintLeaf(c, box, color, box === chosen, matches);
  return scopesDrawn.length + leaves.length + arrows;
}

function rounded(c, box, radius) {
  c.beginPath();
  c.roundRect(box.x, box.y, box.width, box.height, radius);
}

function paintOpen(c, box, color, chosen) {
  rounded(c, box, 10);
  c.fillStyle = dark() ? "rgb(255 255 255 / .028)" : "rgb(30 50 110 / .03)";
  c.fill();
  c.strokeStyle = chosen ? color.accent : color.strong;
  c.lineWidth = chosen ? 2.5 : 1;
  c.stroke();
  if (box.width * graph.scale < 16) return;
  const from = Math.max(1, 0.5 / graph.scale);
  c.fillStyle = color.muted;
  c.font = `600 ${12 * from}px ${color.sans}`;
  c.textBaseline = "middle";
  c.textAlign = "left";
  c.fillText(fitLabel(c, "▾  ", box.scope, box.width - 20), box.x + 10, box.y + 16 * from);
}

function paintLeaf(c, box, color, chosen, matches, hovered = false) {
  const isNode = box.node !== undefined;
  const faded = matches && !matches.has(box.id);
  c.globalAlpha = faded ? 0.35 : 1;
  const kind = isNode ? kindOf(nodes[box.node]) : null;
  if (box.width * graph.scale < 8 && !chosen && !matches?.has(box.id)) {
    // of a few dots nobody sees corners and borders, and there may be thousands
    c.fillStyle = heatOf(box) ?? (isNode ? kindColor(kind) : color.strong);
    const least = 1 / graph.scale;
    c.fillRect(box.x, box.y, Math.max(least, box.width), Math.max(least, box.height));
    c.globalAlpha = 1;
    return;
  }
  rounded(c, box, 7);
  c.fillStyle = heatOf(box) ?? (isNode ? color.panel : dark() ? "#20283a" : "#eef2ff");
  c.fill();
  c.lineWidth = chosen ? 2.5 : matches?.has(box.id) ? 2 : hovered ? 1.5 : 1;
  c.strokeStyle = chosen || matches?.has(box.id) || hovered ? color.accent : isNode ? color.strong : kindColor("contraction", 0.45);
  c.stroke();
  if (isNode) {
    c.fillStyle = kindColor(kind, kind === "collective" ? 0.9 : 0.75);
    c.beginPath();
    c.roundRect(box.x, box.y, graph.scale < 0.3 ? box.width : 5, box.height, [7, graph.scale < 0.3 ? 7 : 0, graph.scale < 0.3 ? 7 : 0, 7]);
    c.fill();
  }
  if (graph.scale >= 0.3) isNode ? paintNode(c, box, color, kind) : paintFolded(c, box, color);
  c.globalAlpha = 1;
}

function paintNode(c, box, color, kind) {
  const node = nodes[box.node], value = node.outputs[0];
  const icon = value?.layout !== null && value !== undefined;
  const room = box.width - 20 - (icon ? 36 : 0);
  c.textBaseline = "alphabetic";
  c.textAlign = "left";
  c.fillStyle = kind === "collective" && heat.by === "off" ? kindColor(kind) : color.text;
  c.font = `600 12.5px ${color.sans}`;
  const name = fitText(c, node.name + turnsText(turnsOf.get(box.node)), room);
  c.fillText(name, box.x + 13, box.y + 17);
  const used = c.measureText(name).width;
  c.font = `11px ${color.mono}`;
  if (value?.name && node.kind === "op" && room - used > 30) {
    c.fillStyle = color.faint;
    c.fillText(fitText(c, value.name, room - used - 8), box.x + 13 + used + 7, box.y + 17);
  }
  c.fillStyle = color.muted;
  const axes = layoutOf(value)?.text ?? "";
  const split = axes.startsWith("[") ? ` ${axes}` : "";
  c.fillText(fitText(c, typeText(value) + split, room), box.x + 13, box.y + 33);
  if (icon) drawIcon(c, value, box.x + box.width - 34, box.y + 8, 26);
  const sent = sentBy(box.node);
  if (sent || collectivesOf.has(box.node)) {
    c.font = `600 10px ${color.sans}`;
    const text = bytesText(sent), width = c.measureText(text).width + 10;
    c.fillStyle = kindColor("collective");
    c.beginPath();
    c.roundRect(box.x + box.width - width - 8, box.y - 7, width, 15, 8);
    c.fill();
    c.fillStyle = dark() ? "#16080d" : "#fff";
    c.fillText(text, box.x + box.width - width - 3, box.y + 4);
  }
}

function paintFolded(c, box, color) {
  c.textBaseline = "alphabetic";
  c.textAlign = "left";
  c.fillStyle = color.text;
  c.font = `600 12.5px ${color.sans}`;
  c.fillText(fitLabel(c, "▸  ", box.scope, box.width - 22), box.x + 11, box.y + 22);
  c.font = `11.5px ${color.sans}`;
  c.fillStyle = color.muted;
  const text = opsText(box.scope);
  c.fillText(text, box.x + 28, box.y + 41);
  const at = box.x + 28 + c.measureText(text).width + 10;
  c.fillStyle = kindColor("collective");
  c.fillText(fitText(c, collectivesText(box.scope), box.x + box.width - at - 8), at, box.y + 41);
}

/** How many ops a scope has, or arguments. */
function opsText(scope) {
  const { kind } = scopes[scope];
  return countText(totals[scope].ops, ["arguments", "results"].includes(kind) ? kind : "ops");
}

/** How many collectives it has and what they send, empty if it has none. */
function collectivesText(scope) {
  const count = totals[scope].collectives;
  return count ? `${countText(count, "collectives")}, ${sentText(scope)}` : "";
}

function paintArrows(c, view, color, chosen) {
  const boxes = graph.drawing.boxes;
  const near = [], paths = {};
  let count = 0;
  c.lineWidth = Math.min(1.4, 1 / graph.scale);
  c.strokeStyle = color.strong;
  const boundary = (box) => box.scope > 0 && ["arguments", "results"].includes(scopes[box.scope].kind);
  const argument = (box) => boundary(box) || (box.node !== undefined && boundary({ scope: nodes[box.node].scope }));
  for (const [from, to] of graph.drawing.arrows) {
    const a = boxes.get(from), b = boxes.get(to);
    if (!a || !b) continue;
    const touches = chosen && (a === chosen || b === chosen || inside(a, chosen) !== inside(b, chosen));
    if (touches && (a === chosen || b === chosen || chosen.open)) {
      near.push([a, b]);
      continue;
    }
    const top = Math.min(a.y, b.y), bottom = Math.max(a.y + a.height, b.y + b.height);
    if (bottom < view.top || top > view.bottom || Math.max(a.x + a.width, b.x + b.width) < view.left || Math.min(a.x, b.x) > view.right) continue;
    const length = Math.abs(b.y - a.y - a.height);
    const alpha = argument(a) ? 0.16 : length > 900 ? 0.22 : length > 300 ? 0.5 : 0.95;
    arrow(paths[alpha] ??= new Path2D(), a, b, length < 2500 || graph.scale > 0.1);
    count += 1;
  }
  // all of one kind at once: a stroke each would take longer than a frame
  for (const [alpha, path] of Object.entries(paths)) {
    c.globalAlpha = alpha;
    c.stroke(path);
  }
  c.globalAlpha = 1;
  // of an open scope there may be very many
  c.globalAlpha = chosen?.open ? 0.55 : 1;
  c.lineWidth = Math.min(2.2, (chosen?.open ? 1 : 2) / graph.scale);
  for (const [a, b] of near) {
    c.strokeStyle = a === chosen || (chosen.open && inside(a, chosen)) ? color.accent : kindColor("movement");
    const path = new Path2D();
    arrow(path, a, b, true);
    c.stroke(path);
  }
  c.globalAlpha = 1;
  return count + near.length;
}

function inside(box, outer) {
  return box.x >= outer.x && box.y >= outer.y && box.x + box.width <= outer.x + outer.width && box.y + box.height <= outer.y + outer.height;
}

/** Add an arrow to a path. */
function arrow(c, a, b, head) {
  const right = b.x - a.x - a.width, left = a.x - b.x - b.width;
  const below = b.y - a.y - a.height, above = a.y - b.y - b.height;
  // from the side of the one that the other is on: of what is above or below it, from there
  const [x, y, gap] = below >= 0 ? [0, 1, below] : above >= 0 ? [0, -1, above] : right >= left ? [1, 0, right] : [-1, 0, left];
  const x1 = a.x + (a.width * (1 + x)) / 2, y1 = a.y + (a.height * (1 + y)) / 2;
  const x2 = b.x + (b.width * (1 - x)) / 2, y2 = b.y + (b.height * (1 - y)) / 2;
  const bend = Math.min(60, Math.max(14, gap / 2));
  c.moveTo(x1, y1);
  c.bezierCurveTo(x1 + x * bend, y1 + y * bend, x2 - x * bend, y2 - y * bend, x2, y2);
  if (head && graph.scale > 0.3) {
    c.moveTo(x2 - 6 * x - 4 * y, y2 - 6 * y - 4 * x);
    c.lineTo(x2, y2);
    c.lineTo(x2 - 6 * x + 4 * y, y2 - 6 * y + 4 * x);
  }
}

const fitted = new Map();

/** As much of a text as there is room for; measured once, which takes longer than painting. */
function fitText(c, text, width) {
  if (width <= 0) return "";
  const key = `${c.font}|${Math.round(width)}|${text}`;
  let known = fitted.get(key);
  if (known === undefined) {
    if (fitted.size > 50_000) fitted.clear();
    fitted.set(key, (known = cutText(c, text, Math.round(width))));
  }
  return known;
}

/** The label of a scope behind its mark, in short where the whole one has no room. */
function fitLabel(c, mark, scope, width) {
  const whole = mark + scopeLabel(scope);
  return fitText(c, c.measureText(whole).width <= width ? whole : mark + scopeLabel(scope, true), width);
}

function cutText(c, text, width) {
  if (c.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (c.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
}
