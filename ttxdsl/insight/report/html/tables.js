// Collectives, memory and remarks: bars, a table that sorts, a curve over the program.

/** A table that can be sorted by any column and has any number of rows. */
class SortedTable {
  constructor({ columns, rows, sort, row, choose, height = 30 }) {
    this.columns = columns;
    this.all = rows;
    this.sort = sort;
    this.descending = true;
    const narrow = columns.filter((one) => one.narrow).map((one) => one.narrow).join(" ");
    this.element = h("div", { class: "table", role: "table", style: `--columns:${columns.map((one) => one.width).join(" ")};--narrow:${narrow}` });
    this.head = h("div", { class: "head", role: "row" });
    const body = h("div", { class: "virtual", tabindex: "0" });
    this.element.append(this.head, body);
    this.list = new VirtualList(body, height, (at) => {
      const made = row(this.rows[at]);
      made.style.height = `${height}px`;
      made.addEventListener("click", () => choose(this.rows[at]));
      made.setAttribute("role", "row");
      columns.forEach((column, cell) => column.narrow || made.children[cell].classList.add("wide"));
      return made;
    });
    // the head is as wide as the rows, which may have a scroll bar beside them
    new ResizeObserver(() => (this.head.style.paddingRight = `${14 + body.offsetWidth - body.clientWidth}px`)).observe(body);
    body.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const at = this.rows.indexOf(this.chosen);
      const next = this.rows[Math.max(0, Math.min(this.rows.length - 1, at + step))];
      if (next) (this.chosen = next), choose(next), this.list.show(this.rows.indexOf(next));
      event.preventDefault();
    });
    this.update();
  }
  by(column) {
    this.descending = this.sort === column ? !this.descending : column.number === true;
    this.sort = column;
    this.update();
  }
  filter(keep) {
    this.keep = keep;
    this.update();
  }
  update() {
    const value = this.sort.value, sign = this.descending ? -1 : 1;
    this.rows = this.all.filter(this.keep ?? (() => true));
    this.rows.sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * sign || a.at - b.at;
    });
    this.head.replaceChildren(
      ...this.columns.map((column) => h("button", {
        type: "button", class: `${column.number ? "num" : ""}${column.narrow ? "" : " wide"}`,
        "aria-sort": column === this.sort ? (this.descending ? "descending" : "ascending") : undefined,
        onclick: () => this.by(column),
      }, column.name, column === this.sort ? (this.descending ? " ▾" : " ▴") : "")));
    this.list.set(this.rows.length);
  }
}

function meterOf(bytes, largest, color) {
  const meter = h("div", { class: "meter" }, h("i", { style: `width:${largest ? (100 * bytes) / largest : 0}%` }), h("span", {}, bytesText(bytes)));
  if (color) meter.style.setProperty("--c", color);
  return meter;
}

const COMM_HUES = { all_reduce: 342, all_gather: 268, all_to_all: 24, reduce_scatter: 206, collective_permute: 150, collective_broadcast: 96 };
const commColor = (kind, alpha = 1) => `hsl(${COMM_HUES[kind] ?? 0} 65% ${dark() ? 62 : 50}% / ${alpha})`;

function setUpCollectives(view) {
  if (!data.collectives.length) return view.append(h("div", { class: "empty" }, "No device talks to another."));
  const rows = data.collectives.map((one, at) => ({ ...one, at }));
  const largest = Math.max(...rows.map((one) => one.bytes));
  const column = (name, width, narrow, value, number) => ({ name, width, narrow, value, number });
  const columns = [
    column("#", "30px", "22px", (one) => one.order, true),
    column("collective, line and why", "minmax(150px, 1.6fr)", "minmax(0, 1fr)", (one) => `${one.kind} ${one.reason}`),
    column("axes", "minmax(60px, .6fr)", "", (one) => one.axes),
    column("bytes per device", "130px", "94px", (one) => one.bytes, true),
    column("time", "64px", "58px", (one) => one.seconds, true),
    column("local tensor", "minmax(80px, 1fr)", "", (one) => one.tensor),
  ];
  const table = new SortedTable({
    columns, rows, sort: columns[3], height: 46,
    choose: (one) => selectNode(one.node),
    row: (one) => h("div", { class: `row two${one.node >= 0 && state.selected?.node === one.node ? " selected" : ""}`, "data-bytes": one.bytes },
      h("span", { class: "num faint" }, one.at),
      h("b", { style: `color:${commColor(one.kind)};font-weight:600` }, `${one.kind} ${one.times}`.trim()),
      h("span", { class: "mono", title: partsOfAxes(one.axes).join("\n") }, one.axes),
      meterOf(one.bytes, largest, commColor(one.kind)), h("span", { class: "num" }, timeText(one.seconds)),
      h("span", { class: "mono", title: one.tensor }, one.tensor),
      h("div", { class: "why", title: [one.scope, one.position, one.reason].filter(Boolean).join("\n") },
        one.place && h("span", { class: "mono place" }, one.place), one.reason)),
  });
  const WAYS = { kind: (one) => `${one.kind} along ${one.axes}`, layer: (one) => one.layer || "no layer", line: (one) => one.place || "no line" };
  let groupOf = WAYS.kind, chosen = null;
  const groups = () => {
    const found = new Map();
    for (const one of rows) {
      const name = groupOf(one);
      const group = found.get(name) ?? { kind: one.kind, name, count: 0, bytes: 0, seconds: 0 };
      (group.count += one.count), (group.bytes += one.bytes), (group.seconds += one.seconds);
      found.set(name, group);
    }
    return [...found.values()].sort((a, b) => b.bytes - a.bytes);
  };
  const chips = h("div", { class: "groups" });
  const makeChips = () => {
    chips.replaceChildren();
    for (const group of groups().slice(0, 24)) {
    const dot = h("i", { class: "dot" });
    dot.style.setProperty("--c", commColor(group.kind));
    const chip = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
      chosen = chosen === group.name ? null : group.name;
      for (const other of chips.children) other.setAttribute("aria-pressed", other === chip && chosen !== null);
      table.filter(chosen && ((one) => groupOf(one) === chosen));
      timeline.draw();
    } }, dot, h("span", {}, h("b", {}, `${group.count} × ${group.name}`), h("br"), h("span", { class: "muted" }, `${bytesText(group.bytes)}, ${timeText(group.seconds)}`)));
    chips.append(chip);
    }
  };
  const ways = h("p", { class: "radios", role: "radiogroup", "aria-label": "Grouped by" }, "grouped by: ",
    ...Object.entries(WAYS).map(([name, way]) => h("button", { type: "button", role: "radio", "data-way": name, "aria-checked": way === groupOf ? "true" : "false", onclick: (event) => {
      (groupOf = way), (chosen = null);
      for (const other of ways.children) other.setAttribute("aria-checked", other === event.currentTarget);
      makeChips(), table.filter(null), timeline.draw();
    } }, name)));
  makeChips();
  const last = Math.max(1, rows.at(-1).order);
  const timeline = new Chart({
    height: 110,
    label: "Collectives in program order",
    count: rows.length,
    at: (x, width) => {
      let best = 0;
      rows.forEach((one, at) => Math.abs(xOf(one, width) - x) < Math.abs(xOf(rows[best], width) - x) && (best = at));
      return best;
    },
    tip: (at) => [`${rows[at].kind} along ${rows[at].axes}: ${bytesText(rows[at].bytes)}`, rows[at].reason],
    x: (at, width) => xOf(rows[at], width),
    choose: (at) => selectNode(rows[at].node),
    paint: (c, width, height) => {
      const wide = Math.max(2, Math.min(10, (width / rows.length) * 0.6));
      for (const one of rows) {
        const tall = Math.max(2, (height - 16) * (largest ? one.bytes / largest : 0));
        const off = chosen && groupOf(one) !== chosen;
        c.fillStyle = commColor(one.kind, off ? 0.15 : state.selected?.node === one.node && one.node >= 0 ? 1 : 0.7);
        c.beginPath();
        c.roundRect(xOf(one, width) - wide / 2, height - 4 - tall, wide, tall, [2, 2, 0, 0]);
        c.fill();
      }
    },
  });
  function xOf(one, width) {
    return 8 + ((width - 16) * one.order) / last;
  }
  const sum = data.summary;
  view.append(h("div", { class: "fill" }, ways, chips, ...notesOnParts(...rows.map((one) => one.axes)),
    h("div", { class: "panel" }, h("h2", {}, "Over the program"), h("p", { class: "sub" }, `first op left, last right; height is bytes. ${bytesText(sum.bytes)} sent by each device in all; times are of each alone, on ${data.machine}`), timeline.element),
    table.element));
  listen((what) => what === "select" || what === "theme" ? (table.list.refresh(), timeline.draw()) : null);
}

/** A canvas as wide as its place, with a tip and a cursor for mouse and keys. */
class Chart {
  constructor(options) {
    Object.assign(this, options);
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": this.label, style: `height:${this.height}px` });
    this.tipElement = h("div", { class: "tip" });
    this.element = h("div", { class: "chart" }, this.canvas, this.tipElement);
    this.cursor = -1;
    this.canvas.addEventListener("pointermove", (event) => this.point(this.at(event.offsetX, this.canvas.clientWidth)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("click", () => this.cursor >= 0 && this.choose(this.cursor));
    this.canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 }[event.key];
      if (step) this.point(Math.max(0, Math.min(this.count - 1, this.cursor + step)));
      else if (event.key === "Enter" && this.cursor >= 0) this.choose(this.cursor);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }
  point(at) {
    this.cursor = at;
    const tip = this.tipElement;
    tip.style.display = at < 0 ? "none" : "block";
    if (at >= 0) {
      tip.replaceChildren(...this.tip(at).flatMap((line, index) => (index ? [h("br"), line] : [line])));
      const x = this.x(at, this.canvas.clientWidth);
      const right = x > this.canvas.clientWidth - tip.offsetWidth - 20;
      tip.style.left = `${right ? x - tip.offsetWidth - 10 : x + 10}px`;
      tip.style.top = "4px";
    }
    this.draw();
  }
  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const c = this.canvas.getContext("2d");
    c.scale(ratio, ratio);
    this.paint(c, width, height);
    if (this.cursor >= 0) {
      c.strokeStyle = colors().muted;
      c.beginPath();
      c.moveTo(this.x(this.cursor, width), 0);
      c.lineTo(this.x(this.cursor, width), height);
      c.stroke();
    }
  }
}

/** Values that differ in the layer alone as one: `p[0 … 3]`, how many, and the bytes of all. */
function alikeRows(values) {
  const groups = new Map();
  for (const one of values) {
    const key = JSON.stringify([one.name.replace(/\d+/g, "#"), one.kind, one.type, one.position]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  return [...groups.values()].map((group) => {
    const numbers = group.map((one) => one.name.match(/\d+/g) ?? []);
    let at = 0;
    const name = group[0].name.replace(/\d+/g, () => {
      const column = numbers.map((one) => Number(one[at])), low = Math.min(...column), high = Math.max(...column);
      at++;
      return low === high ? low : `${low} … ${high}`;
    });
    return { ...group[0], name, count: group.length, bytes: group.reduce((sum, one) => sum + one.bytes, 0) };
  });
}

function setUpMemory(view) {
  const memory = data.memory;
  if (!memory) return view.append(h("div", { class: "empty" }, data.no_memory ?? "Nothing is known of the memory."));
  const points = memory.points, count = points.length;
  const x = (at, width) => 64 + ((width - 74) * at) / Math.max(1, count - 1);
  const chart = new Chart({
    height: 260,
    label: `Memory of a device over the program: at most ${bytesText(memory.peak_bytes)}`,
    count,
    x,
    at: (place, width) => Math.max(0, Math.min(count - 1, Math.round(((place - 64) / (width - 74)) * Math.max(1, count - 1)))),
    tip: (at) => [`${bytesText(points[at][0])} at ${memory.names[at]}`, `op ${at + 1} of ${count}`],
    choose: (at) => selectNode(points[at][1]),
    paint: (c, width, height) => {
      const color = colors(), floor = height - 18, top = 14;
      const y = (bytes) => floor - ((floor - top) * bytes) / memory.peak_bytes;
      c.font = `11px ${color.sans}`;
      c.textAlign = "right";
      for (const bytes of roundTicks(memory.peak_bytes, true)) {
        c.strokeStyle = color.line;
        c.beginPath(), c.moveTo(64, y(bytes)), c.lineTo(width - 10, y(bytes)), c.stroke();
        c.fillStyle = color.muted;
        c.fillText(bytesText(bytes), 58, y(bytes) + 4);
      }
      const step = count > 1 ? (width - 74) / (count - 1) : width;
      c.beginPath();
      c.moveTo(x(0, width), floor);
      points.forEach(([bytes], at) => c.lineTo(x(at, width), y(bytes)));
      c.lineTo(x(count - 1, width), floor);
      c.fillStyle = kindColor("contraction", 0.22);
      c.fill();
      c.beginPath();
      points.forEach(([bytes], at) => (at ? c.lineTo(x(at, width), y(bytes)) : c.moveTo(x(at, width), y(bytes))));
      c.strokeStyle = kindColor("contraction");
      c.lineWidth = Math.max(1, Math.min(2, step));
      c.stroke();
      const held = memory.argument_bytes;
      c.setLineDash([4, 4]);
      c.strokeStyle = kindColor("boundary");
      c.beginPath(), c.moveTo(64, y(held)), c.lineTo(width - 10, y(held)), c.stroke();
      c.setLineDash([]);
      c.fillStyle = kindColor("boundary");
      c.textAlign = "left";
      c.fillText("arguments", 70, y(held) - 4);
      const peakX = x(memory.peak, width);
      c.fillStyle = kindColor("collective");
      c.beginPath(), c.arc(peakX, y(memory.peak_bytes), 4.5, 0, 7), c.fill();
      const right = peakX > width / 2; // beside it, on the side with more room
      c.textAlign = right ? "right" : "left";
      c.font = `600 11px ${color.sans}`;
      c.fillText(`peak ${bytesText(memory.peak_bytes)}`, peakX + (right ? -9 : 9), y(memory.peak_bytes) + 14);
      const node = state.selected?.node;
      if (node !== undefined) {
        c.fillStyle = color.accent;
        points.forEach(([bytes, own], at) => own === node && (c.beginPath(), c.arc(x(at, width), y(bytes), 3.5, 0, 7), c.fill()));
      }
    },
  });
  const rows = alikeRows(memory.live);
  const largest = Math.max(1, ...rows.map((one) => one.bytes));
  const column = (name, width, narrow, value, number) => ({ name, width, narrow, value, number });
  const columns = [
    column("value", "minmax(160px, 2fr)", "minmax(0, 1fr)", (one) => one.name),
    column("count", "44px", "42px", (one) => one.count, true),
    column("what", "62px", "", (one) => one.kind),
    column("bytes", "104px", "90px", (one) => one.bytes, true),
    column("on a device", "minmax(116px, 1fr)", "", (one) => one.type),
    column("source", "minmax(92px, 0.7fr)", "", (one) => one.position ?? ""),
  ];
  const table = new SortedTable({
    columns, rows, sort: columns[3],
    choose: (one) => selectNode(one.node),
    row: (one) => h("div", { class: `row${one.node >= 0 && state.selected?.node === one.node ? " selected" : ""}` },
      h("b", { style: "font-weight:500" }, one.name), h("span", { class: "num" }, one.count.toLocaleString("en")), h("span", { class: "muted" }, one.kind), meterOf(one.bytes, largest, kindColor(one.kind === "argument" ? "boundary" : one.kind === "constant" ? "constant" : "contraction")),
      h("span", { class: "mono" }, typeText(one)), h("span", { class: "mono muted", title: one.position ?? "" }, shortPlace(one.position))),
  });
  const stat = (value, name) => h("div", { class: "stat" }, h("b", {}, bytesText(value)), h("span", {}, name));
  view.append(h("div", { class: "fill" },
    h("div", { class: "panel" },
      h("div", { class: "facts-row" }, stat(memory.peak_bytes, `peak, at ${memory.names[memory.peak]}`), stat(memory.argument_bytes, "arguments"), memory.donated_bytes ? stat(memory.donated_bytes, "of them given away") : "", stat(memory.constant_bytes, "constants"), stat(memory.result_bytes, "results")),
      h("p", { class: "sub" }, `One device, op by op, first left, each value from the op that makes it to its last use: ${memory.counted}.`),
      chart.element),
    h("h2", { style: "font-size:13px;margin:2px 0 8px" }, `There at the peak: ${memory.live.length.toLocaleString("en")} values`),
    table.element));
  listen((what) => what === "select" || what === "theme" ? (table.list.refresh(), chart.draw()) : null);
}

function setUpRemarks(view) {
  const scroll = h("div", { class: "scroll" });
  view.append(scroll);
  if (!data.remarks.length) return scroll.append(h("div", { class: "empty" }, "The compiler had nothing to say."));
  const panel = h("div", { class: "panel" });
  const sorted = [...data.remarks].sort((a, b) => (a.severity < b.severity ? 1 : -1));
  for (const one of sorted) {
    panel.append(h("div", { class: "remark" },
      h("span", { class: `badge ${one.severity}` }, one.severity),
      h("div", {}, h("div", {}, one.message),
        one.position && h("code", { class: "muted" }, one.position),
        one.node >= 0 && h("button", { type: "button", style: "color:var(--accent)", onclick: () => (showView("graph"), selectNode(one.node)) }, "show"))));
  }
  scroll.append(panel);
}
