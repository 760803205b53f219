// Where the boxes of the graph are: every open scope is laid out by itself, in layers.

const NODE = { width: 232, height: 42 };
const FOLDED = { width: 250, height: 50 };
const GAP = { x: 22, y: 34, tight: 20, pad: 16, head: 30 };
const MOST_IN_A_ROW = { alone: 10, beside: 2, narrow: 1 }; // beside another open part of the step

/** The box in which a node is seen: itself, or the outermost folded scope around it. */
function visibleOf(node) {
  let seen = `n${node}`;
  for (let scope = nodes[node].scope; scope > 0; scope = scopes[scope].parent) {
    if (!isOpen(scope)) seen = `s${isStacked(scope) ? firstLike[scope] : scope}`;
  }
  return seen;
}

/**
 * Boxes and edges of the program as it is folded now.
 * A box: { id, node | scope, open, x, y, width, height } with x, y of its upper left corner.
 */
function layoutGraph() {
  const edges = new Map(); // scope in which both ends are -> Map("a>b" -> [a, b])
  const arrows = new Map();
  const seen = nodes.map((_, at) => visibleOf(at));
  nodes.forEach((node, at) => {
    for (const [source] of node.inputs) {
      const from = seen[source], to = seen[at];
      if (from === to) continue;
      arrows.set(`${from}>${to}`, [from, to, Math.min(source, arrows.get(`${from}>${to}`)?.[2] ?? source)]);
    }
  });
  const parentOf = (id) => (id[0] === "n" ? nodes[+id.slice(1)].scope : scopes[+id.slice(1)].parent);
  const chain = (id) => {
    const found = [id];
    for (let scope = parentOf(id); scope > 0; scope = scopes[scope].parent) found.push(`s${scope}`);
    return found; // innermost first; the program itself is left out
  };
  const chains = new Map();
  const chainOf = (id) => chains.get(id) ?? chains.set(id, chain(id)).get(id);
  for (const [from, to] of arrows.values()) {
    const a = chainOf(from), b = chainOf(to);
    let i = a.length - 1, j = b.length - 1;
    while (i > 0 && j > 0 && a[i] === b[j]) i--, j--;
    const [start, end] = [a[i], b[j]];
    if (start === end) continue;
    const inside = parentOf(start);
    if (!edges.has(inside)) edges.set(inside, new Map());
    edges.get(inside).set(`${start}>${end}`, [start, end]);
  }
  const boxes = new Map();
  const root = layScope(0, edges, boxes);
  place(root, 0, 0);
  return { boxes, arrows: [...arrows.values()], width: root.width, height: root.height };
}

/** Lay out what is in a scope, its data flowing down or up; children get places relative to it. */
function layScope(scope, edges, boxes, up = false, most = MOST_IN_A_ROW.alone) {
  const own = { id: `s${scope}`, scope, open: true, items: [], x: 0, y: 0 };
  boxes.set(own.id, own);
  const phases = phasesOf(scope), together = phases?.every(isOpen);
  const inside = state.narrow ? MOST_IN_A_ROW.narrow : MOST_IN_A_ROW.beside;
  for (const child of shownScopes(scope)) {
    if (isOpen(child)) {
      const phase = together ? phases.indexOf(child) : -1;
      own.items.push(layScope(child, edges, boxes, up || phase === 1, phase < 0 ? most : inside));
    } else {
      const box = { id: `s${child}`, scope: child, open: false, ...FOLDED, x: 0, y: 0 };
      boxes.set(box.id, box);
      own.items.push(box);
    }
  }
  for (const node of children[scope].nodes) {
    const box = { id: `n${node}`, node, ...NODE, x: 0, y: 0 };
    boxes.set(box.id, box);
    own.items.push(box);
  }
  const pair = phases && beside(...phases.map((at) => own.items.find((box) => box.scope === at)));
  if (pair) own.items = own.items.filter((box) => !pair.items.includes(box)).concat(pair);
  own.items.sort((a, b) => placeOf(a) - placeOf(b));
  const unit = (id) => (pair?.items.some((box) => box.id === id) ? pair.id : id);
  const arrows = [...(edges.get(scope)?.values() ?? [])].map((ends) => ends.map(unit));
  own.rows = layersOf(own.items, arrows, most);
  if (up) own.rows.reverse();
  setPlaces(own, own.rows, up, pair || most < MOST_IN_A_ROW.alone);
  if (pair) {
    for (const box of pair.items) (box.x += pair.x), (box.y += pair.y);
    own.items = own.items.flatMap((box) => (box === pair ? pair.items : [box]));
  }
  return own;
}

/** The forward and the backward part of a step that are in a scope, if both are. */
function phasesOf(scope) {
  const found = ["forward", "backward"].map((name) => children[scope].scopes.find((at) => scopes[at].kind === "scope" && scopes[at].name.split("/")[0] === name));
  return found.includes(undefined) ? null : found;
}

/** What the scopes that a box stands for are called, in the forward and in the backward part. */
function calledIn({ scope }) {
  const stands = scope === undefined ? [] : isStacked(scope) ? alikeOf.get(firstLike[scope]) : [scope];
  return stands.map((at) => `${scopes[at].name} ${scopes[at].line}`);
}

/**
 * One box of the forward part and the backward part side by side. In the latter data flows up:
 * what a layer does stands beside its gradient, from the same height on.
 */
function beside(forward, backward) {
  if (forward.open && backward.open) {
    let most = [], chains = [];
    for (const left of chainsOf(forward)) for (const right of chainsOf(backward)) {
      const pairs = twinsOf(left.at(-1), right.at(-1));
      if (pairs.length > most.length) (most = pairs), (chains = [left, right]);
    }
    const top = (chain, box) => chain.slice(1).reduce((sum, own) => sum + own.y, box.y);
    for (const [box, twin] of most) {
      const lower = top(chains[0], box) - top(chains[1], twin);
      moveDown(chains[Number(lower > 0)], lower > 0 ? twin : box, Math.abs(lower));
    }
  }
  const height = Math.max(forward.height, backward.height);
  backward.x = forward.width + 2 * GAP.x;
  for (const box of [forward, backward]) box.y = box.open ? 0 : (height - box.height) / 2;
  return { id: "phases", scope: forward.scope, items: [forward, backward], x: 0, y: 0, width: backward.x + backward.width, height };
}

/** An open scope, and what is open in it, each with all around it. */
function chainsOf(own, around = []) {
  const chain = [...around, own];
  return [chain, ...own.items.filter((box) => box.open).flatMap((box) => chainsOf(box, chain))];
}

/** Boxes of two scopes that stand for the same scopes of the author, from above. */
function twinsOf(left, right) {
  const named = new Map(right.items.flatMap((box) => calledIn(box).map((name) => [name, box])));
  const pairs = left.rows.flat().flatMap((box) => {
    const twin = calledIn(box).map((name) => named.get(name)).find(Boolean);
    return twin ? [[box, twin]] : [];
  });
  return inBothOrders(pairs);
}

/** The most pairs of boxes that come in the same order from above on both sides, a pair a row; of as many the heaviest. */
function inBothOrders(pairs) {
  const best = [];
  const more = (a, b) => a.pairs.length - b.pairs.length || a.weight - b.weight;
  const heaviest = (chains) => chains.reduce((most, chain) => (more(chain, most) > 0 ? chain : most), { pairs: [], weight: 0 });
  for (const [box, twin] of pairs) {
    const above = heaviest(best.filter(({ pairs }) => pairs.at(-1)[0].row < box.row && pairs.at(-1)[1].row < twin.row));
    best.push({ pairs: [...above.pairs, [box, twin]], weight: above.weight + weightOf(box.scope) + weightOf(twin.scope) });
  }
  return heaviest(best).pairs;
}

/** Move a box of the last of nested scopes down, with its row and all below it. */
function moveDown(chain, box, by) {
  for (const item of chain.at(-1).rows.slice(box.row).flat()) item.y += by;
  chain.forEach((own, at) => {
    own.height += by;
    if (chain[at + 1]) for (const item of own.rows.slice(chain[at + 1].row + 1).flat()) item.y += by;
  });
}

/** Longest paths from the top; what hangs on nothing in here stands right above its user. */
function layersOf(items, edges, most) {
  const index = new Map(items.map((item, at) => [item.id, at]));
  const before = items.map(() => []), after = items.map(() => []);
  for (const [from, to] of edges) {
    const a = index.get(from), b = index.get(to);
    if (a < b) before[b].push(a), after[a].push(b); // an edge back would make a circle
  }
  const depth = items.map(() => 0), floats = [], needs = [];
  items.forEach((item, at) => (floats[at] = item.node !== undefined && before[at].every((one) => floats[one])));
  items.forEach((item, at) => {
    // rows that what hangs on nothing takes above its user, below a box that is tall
    needs[at] = Math.max(0, ...before[at].filter((one) => floats[one]).map((one) => 1 + needs[one]));
    for (const one of before[at]) {
      const tall = !floats[at] && !floats[one] && items[one].height > 3 * NODE.height;
      depth[at] = Math.max(depth[at], depth[one] + 1 + (tall ? needs[at] : 0));
    }
  });
  for (let at = items.length - 1; at >= 0; at--) {
    if (floats[at] && after[at].length) depth[at] = Math.max(0, Math.min(...after[at].map((one) => depth[one])) - 1);
  }
  const layers = [];
  items.forEach((item, at) => {
    item.before = before[at].map((one) => items[one]);
    item.after = after[at].map((one) => items[one]);
    (layers[depth[at]] ??= []).push(item);
  });
  const rows = [];
  for (const layer of layers.filter(Boolean)) {
    for (let at = 0; at < layer.length; at += most) rows.push(layer.slice(at, at + most));
  }
  return rows;
}

/** Order each row by where the neighbours are, then set coordinates, no wider than the widest row if `tight`. */
function setPlaces(own, rows, up, tight) {
  const middle = (box) => box.x + box.width / 2;
  rows.forEach((row, at) => row.forEach((box) => (box.row = at)));
  /** The mean of the neighbours' middles; those in the next row count most. */
  const mean = (box, near) => {
    let sum = 0, weights = 0;
    for (const other of near) {
      const weight = 1 / (other.row - box.row) ** 2;
      sum += weight * middle(other);
      weights += weight;
    }
    return sum / weights;
  };
  const spread = (row) => {
    const width = row.reduce((sum, box) => sum + box.width + GAP.x, -GAP.x);
    let x = -width / 2;
    for (const box of row) (box.x = x), (x += box.width + GAP.x);
  };
  rows.forEach(spread);
  const most = Math.max(0, ...rows.map((row) => row.at(-1).x + row.at(-1).width)); // rows are around 0
  for (let sweep = 0; sweep < 4; sweep++) {
    const down = sweep % 2 === 0; // with the data
    for (const row of down !== up ? rows : [...rows].reverse()) {
      const wish = new Map(
        row.map((box) => {
          const near = down ? box.before : box.after;
          return [box, near.length ? mean(box, near) : middle(box)];
        }),
      );
      row.sort((a, b) => wish.get(a) - wish.get(b));
      pack(row, wish);
      if (!tight) continue;
      const by = Math.max(0, -most - row[0].x) - Math.max(0, row.at(-1).x + row.at(-1).width - most);
      for (const box of row) box.x += by;
    }
  }
  let left = Infinity, right = -Infinity;
  for (const row of rows) for (const box of row) {
    left = Math.min(left, box.x);
    right = Math.max(right, box.x + box.width);
  }
  if (!rows.length) (left = 0), (right = NODE.width);
  own.width = Math.max(right - left + 2 * GAP.pad, own.scope === 0 ? 0 : FOLDED.width);
  const margin = (own.width - right + left) / 2, gap = tight ? GAP.tight : GAP.y;
  let y = own.scope === 0 ? 0 : GAP.head;
  y += GAP.pad / 2;
  for (const row of rows) {
    const height = Math.max(...row.map((box) => box.height));
    for (const box of row) {
      box.x += margin - left;
      box.y = y + (height - box.height) / 2;
    }
    y += height + gap;
  }
  own.height = y - gap + GAP.pad;
}

/** As near to the wished middles as the widths allow, the order kept. */
function pack(row, wish) {
  // runs of boxes that touch move together to the mean of their wishes
  const runs = [];
  for (const box of row) {
    runs.push({ boxes: [box], width: box.width, sum: wish.get(box) - box.width / 2, count: 1 });
    while (runs.length > 1) {
      const b = runs.at(-1), a = runs.at(-2);
      if (a.sum / a.count + a.width + GAP.x <= b.sum / b.count) break;
      runs.pop();
      const shift = a.width + GAP.x;
      a.sum += b.sum - shift * b.count;
      a.count += b.count;
      a.width += GAP.x + b.width;
      a.boxes.push(...b.boxes);
    }
  }
  for (const run of runs) {
    let x = run.sum / run.count;
    for (const box of run.boxes) (box.x = x), (x += box.width + GAP.x);
  }
}

/** Relative places become places in the drawing. */
function place(box, x, y) {
  box.x += x;
  box.y += y;
  for (const item of box.items ?? []) place(item, box.x, box.y);
}
