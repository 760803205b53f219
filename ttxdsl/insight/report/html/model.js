// The data of the report, what is looked up in it, and what is selected and folded.

const data = unpacked(JSON.parse(document.getElementById("data").textContent));
const nodes = data.graph.nodes;
const scopes = data.graph.scopes;

/** Make an element: h("button", { class: "x", onclick: f }, "text", child, …). */
function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
function s(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function bytesText(count) {
  if (count === null || count === undefined) return "?";
  if (count < 1024) return `${count} B`;
  let size = count;
  for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
    size /= 1024;
    if (size < 1024 || unit === "TiB") return `${size < 10 ? size.toFixed(2) : oneDecimal(size)} ${unit}`;
  }
}

/** One decimal, a tie to the even digit, as Python writes it: 31.25 is 31.2. */
function oneDecimal(number) {
  const tenths = number * 10;
  const isTie = tenths % 1 === 0.5;
  return ((isTie ? 2 * Math.round(tenths / 2) : Math.round(tenths)) / 10).toFixed(1);
}

function timeText(seconds) {
  if (seconds < 1e-3) return `${(seconds * 1e6).toFixed(1)} µs`;
  return seconds < 1 ? `${(seconds * 1e3).toFixed(1)} ms` : `${seconds.toFixed(2)} s`;
}

/** A mesh in words: `data=4 × model=2`. */
function meshText(mesh) {
  return mesh.axes.map(([name, size]) => `${name}=${size}`).join(" × ") || "one device";
}

/** Sentences on the parts of axes that a text names, as `data:(1)2`. */
function partsOfAxes(text) {
  return Object.entries(data.parts_of_axes).filter(([part]) => text.includes(part)).map(([, sentence]) => sentence);
}

/** Device numbers with runs written short: 0-3,8. */
function ranges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end++;
    parts.push(at === end ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return parts.join(",");
}

// --- kinds of op -----------------------------------------------------------------------

const KINDS = {
  contraction: { label: "contraction", hue: 224, sat: 75 },
  elementwise: { label: "elementwise", hue: 262, sat: 32 },
  reduction: { label: "reduction", hue: 178, sat: 60 },
  movement: { label: "data movement", hue: 36, sat: 85 },
  collective: { label: "collective", hue: 342, sat: 78 },
  constant: { label: "constant", hue: 220, sat: 8 },
  control: { label: "control flow", hue: 120, sat: 40 },
  boundary: { label: "argument, result", hue: 150, sat: 45 },
};
const KIND_OF = new Map();
for (const [kind, names] of Object.entries({
  contraction: "dot dot_general convolution ragged_dot matmul linear conv2d triangular_solve cholesky fft",
  reduction: "reduce reduce_window select_and_scatter sum max min mean prod argmax cumsum top_k sort reduce_and reduce_or",
  movement:
    // each device keeps a part of what it has: nothing is sent
    "all_slice mesh_partition reshape transpose broadcast_in_dim slice dynamic_slice dynamic_update_slice gather scatter concatenate pad reverse broadcast permute concat repeat embedding bitcast_convert slice_static",
  constant: "constant iota full arange partition_id replica_id empty get_device rng rng_bit_generator",
  control: "while case if manual_computation named_computation call composite optimization_barrier tuple get_tuple_element custom_call mesh_shard",
  collective:
    "all_gather all_reduce all_to_all reduce_scatter collective_permute collective_broadcast reshard point_to_point sharded_to_unreduced replicated_to_unreduced",
}))
  for (const name of names.split(" ")) KIND_OF.set(name, kind);

function kindOf(node) {
  if (node.kind !== "op") return "boundary";
  // what a composite is called says more than that it is one
  return KIND_OF.get(node.name) ?? KIND_OF.get(node.op.split(".").pop()) ?? "elementwise";
}

const dark = () => document.documentElement.dataset.theme === "dark";
function kindColor(kind, alpha = 1) {
  const { hue, sat } = KINDS[kind];
  return `hsl(${hue} ${sat}% ${dark() ? 66 : 46}% / ${alpha})`;
}

// --- lookups -----------------------------------------------------------------------------

const children = scopes.map(() => ({ scopes: [], nodes: [] }));
scopes.forEach((scope, at) => scope.parent >= 0 && children[scope.parent].scopes.push(at));
nodes.forEach((node, at) => children[node.scope].nodes.push(at));

const users = nodes.map(() => []);
nodes.forEach((node, at) => {
  for (const [source] of node.inputs) if (users[source].at(-1) !== at) users[source].push(at);
});

const collectivesOf = new Map();
data.collectives.forEach((one, at) => {
  if (one.node >= 0) collectivesOf.set(one.node, [...(collectivesOf.get(one.node) ?? []), at]);
});

/** The first collective of each op that has some. */
const collectiveAt = new Map([...collectivesOf].map(([node, [first]]) => [nodes[node], data.collectives[first]]));

/** The bytes that an op's collectives send. */
const sentBy = (node) => (collectivesOf.get(node) ?? []).reduce((sum, at) => sum + data.collectives[at].bytes, 0);

/** First and middle node and totals of each scope, all that it contains included. */
const totals = scopes.map(() => ({ first: Infinity, middle: 0, ops: 0, collectives: 0, bytes: 0, names: new Map() }));
nodes.forEach((node, at) => {
  const made = collectivesOf.get(at)?.length ?? 0;
  const bytes = sentBy(at);
  for (let scope = node.scope; scope >= 0; scope = scopes[scope].parent) {
    const total = totals[scope];
    total.first = Math.min(total.first, at);
    total.collectives += made;
    total.bytes += bytes;
    total.ops++;
    const name = node.kind === "op" ? node.name : node.kind;
    total.names.set(name, (total.names.get(name) ?? 0) + 1);
  }
});
const met = scopes.map(() => 0);
nodes.forEach((node, at) => {
  for (let scope = node.scope; scope >= 0; scope = scopes[scope].parent) if (met[scope]++ === totals[scope].ops >> 1) totals[scope].middle = at;
});

/** What so many are called: `op` of one, else `ops`. */
const plural = (count, name) => (count === 1 ? name.slice(0, -1) : name);
/** A number of them: `1 op`, `2,011 ops`. */
const countText = (count, name) => `${count.toLocaleString("en")} ${plural(count, name)}`;

/** Where in the program a node or a scope is; a few of its ops may have moved ahead. */
const placeOf = ({ node, scope }) => (node !== undefined ? node : totals[scope].middle);

/** Round numbers from 0 to `most`, at most six: steps of 1, 2 or 5 times a power of ten, or powers of two. */
function roundTicks(most, ofBytes = false) {
  if (!(most > 0)) return [0];
  const least = most / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ofBytes ? 2 ** Math.ceil(Math.log2(Math.max(1, least))) : power * [1, 2, 5, 10].find((one) => one * power >= least * 0.999);
  return Array.from({ length: Math.floor((most * 1.0001) / step) + 1 }, (_, at) => at * step);
}

/** What a scope is called; what nobody named by what is in it. */
function scopeLabel(at, short = false) {
  const scope = scopes[at];
  if (scope.kind !== "segment") return nameOfLayers(at, short) + turnsText(turnsOfScope(at));
  const all = [...totals[at].names].sort((a, b) => b[1] - a[1]);
  const told = all.filter(([name]) => ["contraction", "collective", "reduction"].includes(KIND_OF.get(name)));
  const what = [...told, ...all.filter((one) => !told.includes(one))].slice(0, 2).map(([name, count]) => `${count} ${name}`);
  return `${what.join(", ")}${isStacked(at) ? `, ${alikeOf.get(firstLike[at]).length} times` : ""}`;
}

/** Where a function is called, of a scope that has a line. */
const calledAt = (at) => (scopes[at].line && scopes[at].kind !== "line" ? ` called at ${shortPlace(scopes[at].line)}` : "");

function ancestors(scope) {
  const found = [];
  for (; scope >= 0; scope = scopes[scope].parent) found.push(scope);
  return found;
}

/** Functions and places that an op is written in; of a collective that the compiler added, the line that it serves. */
function framesOf(node) {
  const served = node.frames.length ? undefined : collectiveAt.get(node);
  return served?.position ? [[served.function ?? "", served.position]] : node.frames;
}

function sourceOf(node) {
  return framesOf(node)[0]?.[1] ?? "";
}

/** A text in which files have no folders. */
const shortPlaces = (text) => text.replace(/(?:[^\s\/]*\/)+(?=[^\s\/]+:\d)/g, "");

function shortPlace(place) {
  return place ? place.split("/").pop() : "";
}

function typeText(value) {
  if (!value) return "";
  const inside = /^tensor<(.*)>$/.exec(value.type);
  return inside ? inside[1] : value.type;
}

function layoutOf(value) {
  return value && value.layout !== null ? data.layouts[value.layout] : null;
}

// --- state: what is selected, what is open -------------------------------------------------

const state = {
  selected: null, // { node } or { scope }
  open: new Set([0]),
  split: new Set(), // first scopes of layers that are shown one by one
  narrow: false, // the forward and the backward part in a column each
  matches: null, // null, or the nodes that the search found
  listeners: [],
};

function listen(listener) {
  state.listeners.push(listener);
}
function changed(what, detail) {
  for (const listener of state.listeners) listener(what, detail);
}

/** Select a node, a scope, or nothing; `reveal` opens what it is in. */
function select(selected, { reveal = true, from = "" } = {}) {
  state.selected = selected;
  if (selected && reveal) {
    const inside = selected.node !== undefined ? nodes[selected.node].scope : scopes[selected.scope].parent;
    const size = () => state.open.size + state.split.size, before = size();
    for (const scope of ancestors(inside)) {
      state.open.add(scope);
      if (isStacked(scope)) state.split.add(firstLike[scope]);
    }
    if (selected.scope !== undefined && isBehind(selected.scope)) state.split.add(firstLike[selected.scope]);
    if (size() !== before) changed("fold");
  }
  changed("select", { from });
}

const selectNode = (node, from) => node >= 0 && select({ node }, { from });

function setOpen(scope, open) {
  if (scope === 0) return;
  // layers come apart first
  if (isStacked(scope)) state.split.add(firstLike[scope]);
  else if (open) state.open.add(scope);
  else state.open.delete(scope);
  changed("fold", { scope });
}

function openAll(open) {
  state.open = new Set(open ? scopes.keys() : [0]);
  state.split = new Set(open ? alikeOf.keys() : []);
  changed("fold");
}


// --- search --------------------------------------------------------------------------------

let haystacks = null;
/** Text by field of each node, made at the first search. */
function haystackOf(at) {
  haystacks ??= nodes.map((node, at) => {
    const values = node.outputs.map((value) => value.name).join(" ");
    const types = node.outputs.map((value) => value.type).join(" ");
    // of a collective: the axes that it communicates along, not those that its result is split by
    const along = (collectivesOf.get(at) ?? []).map((one) => data.collectives[one].axes);
    const split = kindOf(node) === "collective" && along.length ? [] : node.outputs.map((value) => layoutOf(value)?.text ?? "");
    const axes = [...along, ...split].join(" ");
    const places = framesOf(node).map((frame) => frame.join(" ")).join(" ");
    const path = node.path.join("/") || scopes[node.scope].name;
    const fields = { op: `${node.op} ${node.name}`, value: values, type: types, axis: axes, src: places, scope: path };
    const all = Object.values(fields).join("\n").toLowerCase();
    return { all, fields, values: new Set(node.outputs.map((value) => value.name.toLowerCase())) };
  });
  return haystacks[at];
}

/** Nodes that have every word; `op:`, `value:`, `type:`, `axis:`, `src:`, `scope:` ask one field. */
function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const found = [];
  nodes.forEach((_, at) => {
    const hay = haystackOf(at);
    const fits = words.every((word) => {
      const [, field, rest] = /^(op|value|type|axis|src|scope):(.+)$/.exec(word) ?? [];
      if (field) return hay.fields[field].toLowerCase().includes(rest);
      // a value's name is meant as a whole: %1 is not %12
      return word.startsWith("%") ? hay.values.has(word) : hay.all.includes(word);
    });
    if (fits) found.push(at);
  });
  return found;
}

// --- lists of any length ---------------------------------------------------------------------

const MOST_PRINTED = 200; // rows of a list on paper

/** A list that makes only the rows that can be seen; rows have one height. */
class VirtualList {
  static all = [];
  constructor(element, rowHeight, makeRow) {
    VirtualList.all.push(this);
    this.element = element;
    this.rowHeight = rowHeight;
    this.makeRow = makeRow;
    this.count = 0;
    this.rows = h("div", { class: "rows" });
    element.append(this.rows);
    this.shown = [-1, -1];
    element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(element);
  }
  set(count) {
    this.count = count;
    this.rows.style.height = `${count * this.rowHeight}px`;
    this.refresh();
  }
  refresh() {
    this.shown = [-1, -1];
    this.draw();
  }
  /** Make the rows in view; for paper the first ones, whatever is in view. */
  draw(whole = false) {
    const { scrollTop, clientHeight } = this.element;
    if (!clientHeight) return;
    const start = whole ? 0 : Math.max(0, Math.floor(scrollTop / this.rowHeight) - 6);
    const end = Math.min(this.count, whole ? MOST_PRINTED : Math.ceil((scrollTop + clientHeight) / this.rowHeight) + 6);
    if (start === this.shown[0] && end === this.shown[1]) return;
    this.shown = [start, end];
    const made = [];
    for (let at = start; at < end; at++) {
      const row = this.makeRow(at);
      row.style.top = `${at * this.rowHeight}px`;
      made.push(row);
    }
    this.rows.replaceChildren(...made);
  }
  /** Bring a row into view, into the middle if it was not. */
  show(at) {
    const top = at * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + this.rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = Math.max(0, top - clientHeight / 2);
    this.refresh();
  }
}
