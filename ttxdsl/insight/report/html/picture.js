// Pictures of layouts: which device holds which slice, for any rank and any mesh.

/** The colour of a shard: hue by its place along the first split dimension, then lightness. */
function shardColor(layout, shard) {
  const split = layout.parts.map((count, dim) => [count, dim]).filter(([count]) => count > 1);
  if (!split.length) return null;
  const [count, dim] = split[0];
  const rest = split.slice(1);
  let minor = 0, of = 1;
  for (const [size, at] of rest) (minor = minor * size + shard[at]), (of *= size);
  return { hue: Math.round((360 * shard[dim]) / Math.max(count, 5) + 205) % 360, light: of > 1 ? minor / (of - 1) : 0.3 };
}

function shardFill(layout, shard) {
  const color = shardColor(layout, shard);
  if (!color) return dark() ? "#3d4556" : "#cfd5e1";
  const base = dark() ? 36 : 84, span = dark() ? 24 : -26;
  return `hsl(${color.hue} ${dark() ? 46 : 64}% ${base + color.light * span}%)`;
}

/**
 * The dimensions that are drawn: those that are split, the last two as rows and columns.
 * Rows stay rows: one split dimension that is not the last has no columns beside it.
 */
function drawnDims(layout) {
  const split = layout.parts.map((size, dim) => ({ size, dim })).filter(({ size }) => size > 1);
  const rows = split.length === 1 && split[0].dim < layout.parts.length - 1;
  return rows ? [...split, { size: 1, dim: -1 }] : split;
}

/** For each shard the devices that hold it: a map from "i,j,…" to { shard, devices }. */
function holders(layout) {
  if (layout.holders) return layout.holders;
  const ids = data.meshes[layout.mesh].devices;
  const found = new Map();
  layout.shards.forEach((shard, at) => {
    const key = shard.join();
    if (!found.has(key)) found.set(key, { shard, devices: [] });
    found.get(key).devices.push(ids[at]);
  });
  return (layout.holders = found);
}

/** The part of a tensor that a shard is, `[0:8, 16:32]`; shards that do not fit are cut. */
function sliceText(layout, shard, shape) {
  const parts = shape.map((size, dim) => {
    if (size < 0) return "?";
    const local = Math.ceil(size / layout.parts[dim]);
    const start = Math.min(size, shard[dim] * local);
    return `${start}:${Math.min(size, start + local)}`;
  });
  return `[${parts.join(", ")}]`;
}

/**
 * A grid of cells in panels: the last two of `dims` are columns and rows, the others panels.
 * `cell(index)` makes what stands at an index of all dims; `label(dim, at)` names a place.
 */
function gridOf(dims, { width, cell, label, captions }) {
  const columns = dims.at(-1) ?? { size: 1 };
  const rows = dims.length > 1 ? dims.at(-2) : { size: 1 };
  const outer = dims.slice(0, -2);
  const panels = outer.reduce((product, dim) => product * dim.size, 1);
  const across = panels > 1 ? Math.min(panels, outer.at(-1).size, Math.max(1, Math.floor(width / (columns.size * 22 + 14)))) : 1;
  const room = (width - 18 - (across - 1) * 12) / across;
  const wide = Math.max(9, Math.min(76, room / columns.size));
  const high = Math.max(9, Math.min(rows.size > 8 ? 20 : 30, wide));
  const head = panels > 1 ? 16 : 0;
  const panelWidth = wide * columns.size, panelHeight = high * rows.size + head;
  // rows are named at their side if the name has room there, else above
  const beside = captions[0].length * 6 < panelHeight;
  const above = [!beside && captions[0] && `↓ ${captions[0]}`, captions[1] && (beside ? captions[1] : `→ ${captions[1]}`)].filter(Boolean);
  const top = 3 + 14 * above.length;
  const svg = s("svg", {
    width: Math.max(18 + across * (panelWidth + 12), 18 + 6.4 * Math.max(0, ...above.map((line) => line.length))),
    height: top + Math.ceil(panels / across) * (panelHeight + 12),
    role: "img",
  });
  const axis = (x, y, text, turn = "") => s("text", { class: "axis", x, y, transform: turn }, text);
  above.forEach((line, at) => svg.append(axis(18, 11 + 14 * at, line)));
  if (beside && captions[0]) svg.append(axis(12, top + panelHeight, captions[0], `rotate(-90 12 ${top + panelHeight})`));
  for (let panel = 0; panel < panels; panel++) {
    const place = [];
    for (let rest = panel, at = outer.length - 1; at >= 0; at--) {
      place.unshift(rest % outer[at].size);
      rest = Math.floor(rest / outer[at].size);
    }
    const x = 18 + (panel % across) * (panelWidth + 12), y = top + Math.floor(panel / across) * (panelHeight + 12);
    if (panels > 1) svg.append(axis(x, y + 11, outer.map((dim, at) => label(dim, place[at])).join(", ")));
    for (let row = 0; row < rows.size; row++)
      for (let column = 0; column < columns.size; column++) {
        const index = [...place, ...(dims.length > 1 ? [row] : []), ...(dims.length ? [column] : [])];
        svg.append(cell(index, x + column * wide, y + head + row * high, wide, high));
      }
  }
  return svg;
}

const MOST_CELLS = 4096;

/** The picture of a value: its shards with their devices, and the mesh with what each holds. */
function pictureOf(value) {
  const layout = layoutOf(value);
  const root = h("div", { class: "picture" });
  if (!layout || !value.shape) return root;
  const mesh = data.meshes[layout.mesh];
  const held = holders(layout);
  const said = h("div", { class: "said" });
  const groups = [];
  const shards = layout.parts.reduce((product, size) => product * size, 1);
  if (shards > MOST_CELLS || mesh.size > mesh.devices.length) {
    root.append(h("p", { class: "muted" }, `${shards} shards on ${mesh.size} devices: too many to draw`));
    return root;
  }
  const light = (key) => {
    for (const { group, key: own } of groups) {
      group.classList.toggle("hit", own === key);
      group.classList.toggle("dim", key !== null && own !== key);
    }
    if (key === null) return said.replaceChildren("hover a cell to see its slice");
    const { shard, devices } = held.get(key);
    said.replaceChildren(sliceText(layout, shard, value.shape), h("br"), `on device${devices.length > 1 ? "s" : ""} ${ranges(devices)}`);
  };
  const cellOf = (key, text, title, x, y, wide, high) => {
    const color = shardColor(layout, held.get(key).shard);
    const rect = s("rect", { class: color ? "cell" : "cell whole", x, y, width: wide, height: high, rx: 3 });
    if (color) rect.style.cssText = `--h:${color.hue};--i:${color.light}`;
    const group = s("g", { "data-key": key, onmouseenter: () => light(key), onmouseleave: () => light(null) }, rect, s("title", {}, title));
    const room = Math.floor((wide - 4) / 6.7);
    if (room >= 1 && high >= 13) {
      const shown = text.length <= room ? text : room >= 3 ? `${text.slice(0, room - 1)}…` : "";
      group.append(s("text", { x: x + wide / 2, y: y + high / 2 + 4, "text-anchor": "middle" }, shown));
    }
    groups.push({ group, key });
    return group;
  };
  const split = drawnDims(layout);
  const named = ({ dim }) => dim < 0 ? "" : `dim ${dim} (${value.shape[dim]}) by ${layout.dims[dim].join(" + ")}`;
  const sliced = ({ dim }, at) => {
    const local = Math.ceil(value.shape[dim] / layout.parts[dim]);
    return `dim ${dim} ${at * local}:${Math.min(value.shape[dim], (at + 1) * local)}`;
  };
  const whole = value.shape.map((_, dim) => dim).filter((dim) => layout.parts[dim] === 1);
  const tensor = gridOf(split, {
    width: 330,
    label: sliced,
    captions: [split.length > 1 ? named(split.at(-2)) : "", split.length ? named(split.at(-1)) : "not split"],
    cell: (index, x, y, wide, high) => {
      const shard = layout.parts.map(() => 0);
      split.forEach(({ dim }, at) => dim >= 0 && (shard[dim] = index[at]));
      const { devices } = held.get(shard.join()) ?? { devices: [] };
      const text = ranges(devices);
      return cellOf(shard.join(), text, `${sliceText(layout, shard, value.shape)} on ${text}`, x, y, wide, high);
    },
  });
  const axes = mesh.axes.filter(([, size]) => size > 1);
  const meshDims = axes.map(([name, size]) => ({ name, size }));
  const strides = new Map();
  let stride = 1;
  for (const [name, size] of [...mesh.axes].reverse()) strides.set(name, stride), (stride *= size);
  const devices = gridOf(meshDims, {
    width: 330,
    label: ({ name }, at) => `${name}=${at}`,
    captions: [meshDims.length > 1 ? meshDims.at(-2).name : "", meshDims.at(-1)?.name ?? "one device"],
    cell: (index, x, y, wide, high) => {
      const at = meshDims.reduce((sum, { name }, dim) => sum + index[dim] * strides.get(name), 0);
      const key = layout.shards[at].join();
      const text = `${mesh.devices[at]}`;
      return cellOf(key, text, `device ${text}: ${sliceText(layout, layout.shards[at], value.shape)}`, x, y, wide, high);
    },
  });
  tensor.setAttribute("aria-label", "shards with the devices that hold them");
  devices.setAttribute("aria-label", "devices with the shard that each holds");
  root.append(h("div", { class: "caption" }, "the tensor: devices of each shard"), tensor);
  if (split.length && whole.length) root.append(h("div", { class: "caption" }, `whole in dim ${whole.join(", ")}`));
  root.append(h("div", { class: "caption" }, "the mesh: same colour, same slice"), devices, said);
  light(null);
  return root;
}

/** The same as a small icon on a canvas; at most 6 × 6 cells. */
function drawIcon(context, value, x, y, size) {
  const layout = layoutOf(value);
  if (!layout || layout.manual.length) return;
  const split = drawnDims(layout);
  const { size: columns, dim: columnDim } = split.at(-1) ?? { size: 1, dim: -1 };
  const { size: rows, dim: rowDim } = split.length > 1 ? split.at(-2) : { size: 1, dim: -1 };
  const across = Math.min(6, columns), down = Math.min(6, rows);
  const wide = size / across, high = size / down;
  for (let row = 0; row < down; row++)
    for (let column = 0; column < across; column++) {
      const shard = layout.parts.map(() => 0);
      if (columnDim >= 0) shard[columnDim] = Math.floor((column * columns) / across);
      if (rowDim >= 0) shard[rowDim] = Math.floor((row * rows) / down);
      context.fillStyle = shardFill(layout, shard);
      context.fillRect(x + column * wide, y + row * high, wide - 0.8, high - 0.8);
    }
}
