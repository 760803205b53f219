// The stages: a slider through the compilation, each as text with what it changed.

const stages = { at: 0, only: false, list: null };
const SIGNS = ["", "~", "+", "−"];
const CHANGES = ["", "changed", "added", "removed"];

function stageName(stage) {
  return stage.number === null ? stage.name : `${stage.number} ${stage.name}`;
}

function setUpStages(view) {
  const last = data.stages.length - 1;
  const range = h("input", { type: "range", id: "stage", min: 0, max: last, value: 0, "aria-label": "Stage", oninput: () => showStage(+range.value) });
  const most = Math.max(1, ...data.stages.map((one) => one.added + one.removed + one.changed));
  const ticks = h("div", { class: "ticks", "aria-hidden": "true" });
  data.stages.forEach((stage, at) => {
    const size = stage.added + stage.removed + stage.changed;
    ticks.append(h("i", {
      title: stageName(stage), onclick: () => showStage(at),
      style: `left:${(100 * at) / Math.max(1, last)}%;height:${size ? 5 + 19 * Math.sqrt(size / most) : 2}px`,
    }));
  });
  const which = h("div", { class: "which" });
  const button = (text, title, run, props = {}) => h("button", { type: "button", title, onclick: run, ...props }, text);
  const only = button("only changes", "Hide what stayed as it was (o)", () => setOnly(!stages.only), { id: "only", "aria-pressed": "false" });
  const bar = h("div", { class: "bar", hidden: !last },
    button("◂", "Stage before ([)", () => showStage(stages.at - 1), { "aria-label": "Stage before" }),
    h("div", { class: "slider" }, ticks, range),
    button("▸", "Next stage (])", () => showStage(stages.at + 1), { "aria-label": "Next stage" }),
    which,
    button("↑", "Change before (p)", () => jump(-1), { "aria-label": "Change before" }),
    button("↓", "Next change (n)", () => jump(1), { "aria-label": "Next change" }),
    only);
  const list = h("div", { class: "virtual", tabindex: "0", id: "listing", "aria-label": "Program after the stage" });
  const minimap = h("canvas", { class: "minimap", title: "Changes in the whole text", onclick: (event) => {
    list.scrollTop = (event.offsetY / minimap.clientHeight) * list.scrollHeight - list.clientHeight / 2;
  } });
  view.append(bar, unlisted(), h("div", { class: "listing" }, list, minimap));
  Object.assign(stages, { range, ticks, which, onlyButton: only, minimap, list: new VirtualList(list, 20, listingRow), element: list });
  new ResizeObserver(drawMinimap).observe(minimap);
  listen((what, detail) => {
    if (what === "theme") stages.list.refresh(), drawMinimap();
    if (what === "select") detail.from === "stages" ? stages.list.refresh() : showSelectedLine();
  });
  showStage(0);
}

/** What is said of stages that a large program's report does not list. */
function unlisted() {
  if (data.all_stages) return "";
  return h("div", { class: "bar muted", id: "unlisted" }, "The program of one device, after stage 13. The other stages, ttir and ttnn of so large a program are listed when asked for: ", h("code", {}, "ttxdsl report --all-stages"));
}

function setOnly(only) {
  stages.only = only;
  stages.onlyButton.setAttribute("aria-pressed", only);
  showStage(stages.at);
}

function showStage(at) {
  if (at < 0 || at >= data.stages.length) return;
  stages.at = at;
  const stage = data.stages[at];
  stages.range.value = at;
  stages.range.setAttribute("aria-valuetext", stageName(stage));
  [...stages.ticks.children].forEach((tick, index) => tick.classList.toggle("on", index === at));
  const count = (name) => (stage[name] ? h("span", { class: name }, `${SIGNS[CHANGES.indexOf(name)]}${stage[name].toLocaleString("en")} ${name}`) : "");
  stages.which.replaceChildren(
    h("b", {}, stageName(stage)),
    h("span", { class: "counts" },
      at === 0 ? h("span", { class: "muted" }, `${stage.rows.length.toLocaleString("en")} lines`)
        : stage.skipped ? h("span", { class: "muted" }, "skipped: partitioned already")
        : stage.added + stage.removed + stage.changed === 0 ? h("span", { class: "muted" }, `no change · ${timeText(stage.seconds)}`)
        : [count("added"), count("removed"), count("changed"), h("span", { class: "muted" }, timeText(stage.seconds))]));
  stages.lines = rowsOf(stage);
  stages.element.scrollTop = 0;
  stages.list.set(stages.lines.length);
  const first = stages.lines.findIndex((line) => line.row && line.row[3]);
  if (first > 0) stages.element.scrollTop = Math.max(0, first * 20 - 100);
  stages.list.refresh();
  drawMinimap();
}

/** The rows that are shown: all, or those that changed with three around each. */
function rowsOf(stage) {
  let number = 0;
  const all = stage.rows.map((row) => ({ row, number: row[3] === 3 ? null : ++number }));
  if (!stages.only) return all;
  const keep = new Uint8Array(all.length);
  all.forEach((line, at) => {
    if (line.row[3]) keep.fill(1, Math.max(0, at - 3), at + 4);
  });
  const shown = [];
  for (let at = 0; at < all.length; at++) {
    if (keep[at]) shown.push(all[at]);
    else {
      let end = at;
      while (end < all.length && !keep[end]) end++;
      shown.push({ gap: end - at });
      at = end - 1;
    }
  }
  return shown;
}

function jump(direction) {
  const middle = Math.floor((stages.element.scrollTop + 100) / 20);
  const starts = stages.lines.map((line, at) => at).filter((at) => stages.lines[at].row?.[3] && !stages.lines[at - 1]?.row?.[3]);
  const next = direction > 0 ? starts.find((at) => at > middle) : starts.findLast((at) => at < middle);
  if (next !== undefined) (stages.element.scrollTop = Math.max(0, next * 20 - 100)), stages.list.refresh();
}

function showSelectedLine() {
  const node = state.selected?.node;
  const at = node === undefined ? -1 : stages.lines.findIndex((line) => line.row && line.row[3] !== 3 && data.keys[line.row[0]] === node);
  if (at >= 0) stages.list.show(at);
  else stages.list.refresh();
}

function listingRow(at) {
  const line = stages.lines[at];
  if (line.gap) return h("div", { class: "row gap" }, h("span", { class: "no" }), h("span", { class: "sign" }, "⋯"), `${line.gap.toLocaleString("en")} lines as before`);
  const [key, text, indent, change, before] = line.row;
  const node = data.keys[key] ?? -1;
  const chosen = node >= 0 && state.selected?.node === node;
  const content = h("span", { class: "text" }, " ".repeat(indent));
  if (change === 1) content.append(...difference(data.textOf(before), data.textOf(text)));
  else content.append(...coloured(tokens(data.textOf(text))));
  return h("div", { class: `row ${CHANGES[change]}${chosen ? " selected" : ""}`, "data-change": change, onclick: () => selectNode(node, "stages") },
    h("span", { class: "no" }, line.number ?? ""), h("span", { class: "sign" }, SIGNS[change]), content);
}

const TOKEN = /%[\w$.-]+(?:#\d+)?|"(?:[^"\\]|\\.)*"|[@#^!]?[\w$.-]+|\s+|./g;

/** The words of a line, each with how it is shown. */
function tokens(text) {
  let before = "";
  return (text.match(TOKEN) ?? []).map((word) => {
    const starts = before === "" || before === "=";
    if (word.trim()) before = word;
    return { word, kind: kindOfWord(word, starts) };
  });
}

function kindOfWord(word, starts) {
  if (word[0] === "%") return "v";
  if (starts && /^"?[a-z_]+\.[\w.]+"?$/.test(word)) return "o";
  if (word[0] === '"') return "s";
  return /^(tensor|(\?x|\d+x)*(f|bf|i|ui)\d+)$/.test(word) ? "t" : "";
}

function coloured(list) {
  return list.map(({ word, kind }) => (kind ? h("span", { class: kind }, word) : word));
}

/** The new text with what is new marked, and what is gone in its place; names do not count. */
function difference(old, now) {
  const a = tokens(old), b = tokens(now);
  const same = (i, j) => a[i].word === b[j].word || (a[i].kind === "v" && b[j].kind === "v");
  const parts = [];
  let gone = [], fresh = [];
  const mark = (tag, list) => list.length && parts.push(h(tag, {}, ...coloured(list)));
  const flush = () => (mark("del", gone), mark("ins", fresh), (gone = []), (fresh = []));
  const steps = editsOf(a.length, b.length, same);
  for (const [i, j] of joined(steps, (i) => a[i].word.trim() !== "")) {
    if (i >= 0 && j >= 0) flush(), parts.push(...coloured([b[j]]));
    else if (i >= 0) gone.push(a[i]);
    else fresh.push(b[j]);
  }
  flush();
  return parts;
}

/** A word or two that stayed within a replacement are easier to read as replaced with it. */
function joined(steps, counts) {
  const stays = ([i, j]) => i >= 0 && j >= 0;
  const runs = [];
  for (const step of steps) {
    if (runs.length && stays(runs.at(-1)[0]) === stays(step)) runs.at(-1).push(step);
    else runs.push([step]);
  }
  return runs.flatMap((run, at) => {
    const around = [...(runs[at - 1] ?? []), ...(runs[at + 1] ?? [])];
    const within = at > 0 && at < runs.length - 1 && around.some(([, j]) => j < 0) && around.some(([i]) => i < 0);
    const few = stays(run[0]) && run.filter(([i]) => counts(i)).length <= 2;
    return within && few ? run.flatMap(([i, j]) => [[i, -1], [-1, j]]) : run;
  });
}

const MOST_EDITS = 3000;

/**
 * The shortest way from one list to another, by Myers' greedy algorithm: pairs of places,
 * [i, j] where both have the same, [i, -1] for what goes and [-1, j] for what comes.
 */
function editsOf(rows, columns, same) {
  const most = Math.min(rows + columns, MOST_EDITS), reached = [];
  const zero = most + 1, ends = new Int32Array(2 * most + 3); // how far diagonal k goes: ends[zero + k]
  const comes = (at, k, edits) => k === -edits || (k !== edits && at(k - 1) < at(k + 1));
  const now = (k) => ends[zero + k];
  search: for (let edits = 0; ; edits++) {
    if (edits > most) return [...Array(rows).keys()].map((i) => [i, -1]).concat([...Array(columns).keys()].map((j) => [-1, j]));
    reached.push(ends.slice(zero - edits - 1, zero + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      let i = comes(now, k, edits) ? now(k + 1) : now(k - 1) + 1;
      while (i < rows && i - k < columns && same(i, i - k)) i++;
      ends[zero + k] = i;
      if (i >= rows && i - k >= columns) break search;
    }
  }
  const steps = [];
  let i = rows, j = columns;
  for (let edits = reached.length - 1; edits > 0; edits--) {
    const before = (k) => reached[edits][edits + 1 + k];
    const k = i - j, down = comes(before, k, edits);
    const start = down ? before(k + 1) : before(k - 1) + 1; // where the diagonal was entered
    while (i > start) steps.push([--i, --j]);
    steps.push(down ? [-1, --j] : [--i, -1]);
  }
  while (i > 0) steps.push([--i, --j]);
  return steps.reverse();
}

function drawMinimap() {
  const { minimap, lines } = stages;
  const height = minimap.clientHeight, width = 16;
  if (!height || !lines) return;
  Object.assign(minimap, { width, height });
  const c = minimap.getContext("2d");
  const fill = ["", dark() ? "#c9a227" : "#e0b400", dark() ? "#2f9e5b" : "#37b36a", dark() ? "#c8494f" : "#e0656a"];
  lines.forEach((line, at) => {
    const change = line.row?.[3];
    if (!change) return;
    c.fillStyle = fill[change];
    c.fillRect(2, (at / lines.length) * height, width - 4, Math.max(1, height / lines.length));
  });
}
