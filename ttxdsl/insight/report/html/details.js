// The right side: all that is known of what is selected.

function setUpDetails() {
  const element = document.getElementById("details");
  const show = () => {
    const chosen = state.selected;
    element.replaceChildren(...(!chosen ? aboutProgram() : chosen.node !== undefined ? aboutNode(chosen.node) : aboutScope(chosen.scope)));
    element.scrollTop = 0;
  };
  listen((what) => (what === "select" || what === "theme") && show());
  show();
}

function facts(...rows) {
  return h("table", { class: "facts" }, rows.filter(Boolean).map(([name, ...value]) => h("tr", {}, h("td", {}, name), h("td", {}, ...value))));
}

function dotOf(node) {
  const dot = h("span", { class: "dot" });
  dot.style.setProperty("--c", kindColor(kindOf(node)));
  return dot;
}

function linksTo(list) {
  const most = 12;
  const box = h("div", { class: "links" });
  const add = (some) => {
    for (const [at, result] of some) {
      const node = nodes[at], value = node.outputs[result ?? 0];
      const axes = layoutOf(value)?.text ?? "";
      box.append(
        h("button", { type: "button", onclick: () => selectNode(at) }, dotOf(node), node.name,
          h("span", { class: "mono muted" }, node.kind === "op" ? value?.name ?? "" : ""),
          h("span", { class: "end" }, `${typeText(value)}${axes.startsWith("[") ? ` ${axes}` : ""}`)),
      );
    }
  };
  add(list.slice(0, most));
  if (list.length > most) {
    const more = h("button", { type: "button", onclick: () => (more.remove(), add(list.slice(most))) }, `… ${list.length - most} more`);
    box.append(more);
  }
  return box;
}

function crumbsOf(scope) {
  const path = ancestors(scope).reverse().slice(1);
  return h("div", { class: "crumbs" },
    path.flatMap((at, depth) => [depth ? " / " : "", h("button", { type: "button", onclick: () => select({ scope: at }) }, scopes[at].name)]));
}

/** The lines of a stage that belong to a node. */
function linesOf(node, stage, most = 8) {
  const found = [];
  for (const [key, text, , change] of stage.rows) {
    if (change !== 3 && data.keys[key] === node) found.push(data.textOf(text));
    if (found.length > most) break;
  }
  return found.length > most ? [...found.slice(0, most), "…"] : found;
}

function collectiveCard(at) {
  const one = data.collectives[at];
  return h("div", { class: "card" },
    h("b", {}, one.kind), ` along ${one.axes}`,
    h("div", { class: "muted" }, `${bytesText(one.bytes)} sent by each device · ${timeText(one.seconds)}${one.times && ` ${one.times}`} · `, h("span", { class: "mono" }, one.tensor)),
    h("div", { class: "why" }, one.reason),
    ...notesOnParts(one.axes),
    whyOf(one));
}

/** What the parts of axes are that texts name. */
function notesOnParts(...texts) {
  return partsOfAxes(texts.join(" ")).map((sentence) => h("div", { class: "note" }, sentence));
}

/** What `ttxdsl why` says of it, and what would help, folded. */
function whyOf(one) {
  const text = data.whys?.[one.why];
  if (!text) return null;
  const alike = data.collectives.filter((other) => other.why === one.why).length;
  const head = alike > 1 ? `why, and what would change it: one of ${alike} that are alike` : "why, and what would change it";
  return h("details", { class: "reason" }, h("summary", {}, head), h("pre", { class: "code" }, text));
}

function aboutNode(at) {
  const node = nodes[at];
  const parts = [h("h2", {}, dotOf(node), node.kind === "op" ? node.op : node.name), crumbsOf(node.scope)];
  node.outputs.forEach((value, index) => {
    const layout = layoutOf(value);
    parts.push(h("h3", {}, node.outputs.length > 1 ? `value ${index}` : node.kind === "op" ? "value" : node.kind));
    parts.push(facts(
      ["name", h("code", {}, value.name)],
      ["type", h("code", {}, typeText(value))],
      ["split", layout ? h("code", {}, layout.text) : h("span", { class: "muted" }, "not said here")],
      layout && ["on a device", h("code", {}, value.local), ` ${bytesText(value.bytes)}`],
      !layout && value.bytes !== null && ["bytes", bytesText(value.bytes)],
    ));
    parts.push(...notesOnParts(layout?.text, ...value.partial));
    if (value.partial.length)
      parts.push(h("div", { class: "note" }, `Along ${value.partial.join(", ")} each device has its own part of a sum here; the next op adds them up.`));
    if (layout?.manual.length)
      parts.push(h("div", { class: "note" }, `Written per device along ${layout.manual.join(", ")}: each of those devices has a tensor of its own, and what is said of its split is along the other axes.`));
    if (layout && !layout.manual.length) parts.push(pictureOf(value));
  });
  const made = collectivesOf.get(at) ?? [];
  if (made.length) parts.push(h("h3", {}, "communication"), ...made.map(collectiveCard));
  const frames = framesOf(node);
  if (frames.length || node.path.length) {
    parts.push(h("h3", {}, "source"), facts(node.path.length > 0 && ["scope", h("code", {}, node.path.join("/"))], ...frames.slice(0, 8).map(([name, place]) => [shortName(name), h("code", { title: place }, place.split("/").slice(-2).join("/"))])));
  }
  if (node.inputs.length) parts.push(h("h3", {}, `uses ${node.inputs.length}`), linksTo(node.inputs));
  if (users[at].length) parts.push(h("h3", {}, `used by ${users[at].length}`), linksTo(users[at].map((one) => [one, 0])));
  if (node.key >= 0) {
    for (const stage of shownStages()) {
      const lines = linesOf(at, stage);
      if (lines.length) parts.push(h("h3", {}, `after ${stageName(stage)}`), h("pre", { class: "code" }, lines.join("\n")));
    }
  }
  return parts;
}

/** `layer` of `lower.<locals>.layer`. */
const shortName = (name) => name.split(".").pop() || "line";

/** The stage of the graph, the program of one device, and the lowest form. */
function shownStages() {
  const wanted = [data.stages.find((one) => one.number === data.graph.stage), data.stages.find((one) => one.number === 13), data.stages.at(-1)];
  return [...new Set(wanted.filter(Boolean))];
}

function histogram(names) {
  const sorted = [...names].sort((a, b) => b[1] - a[1]);
  const largest = sorted[0]?.[1] ?? 1;
  return sorted.slice(0, 14).map(([name, count]) => {
    const meter = h("div", { class: "meter" }, h("i", { style: `width:${(100 * count) / largest}%` }), h("span", {}, count));
    meter.style.setProperty("--c", kindColor(KIND_OF.get(name) ?? (["argument", "result"].includes(name) ? "boundary" : "elementwise")));
    return [h("span", { class: "mono" }, name), meter];
  });
}

function aboutScope(at) {
  const total = totals[at], scope = scopes[at];
  const within = data.collectives.map((one, index) => [one, index]).filter(([one]) => one.node >= 0 && ancestors(nodes[one.node].scope).includes(at));
  within.sort(([a], [b]) => b.bytes - a.bytes);
  const open = isOpen(at);
  return [
    h("h2", {}, scope.name),
    crumbsOf(scope.parent),
    h("p", {}, h("button", { type: "button", style: "border-color:var(--line)", onclick: () => (setOpen(at, !open), select({ scope: at }, { reveal: false })) }, open ? "fold" : "unfold")),
    facts(["kind", scope.kind], ["nodes", total.ops.toLocaleString("en")], ["collectives", `${total.collectives}`], ["bytes sent", `${sentText(at)} by each device`]),
    h("h3", {}, "ops"), facts(...(scope.kind === "arguments" || scope.kind === "results" ? [] : histogram(total.names))),
    ...(within.length ? [h("h3", {}, "largest collectives"), ...within.slice(0, 5).map(([, index]) => collectiveCard(index))] : []),
  ];
}

function aboutProgram() {
  const sum = data.summary;
  return [
    h("h2", {}, "Program"),
    h("p", { class: "muted on-screen" }, "Select an op in the graph, the outline or any table to see which device holds which part of it, where it comes from and what it became."),
    facts(
      ["file", h("code", {}, data.title)],
      ...data.meshes.map((mesh) => [data.meshes.length > 1 ? `mesh ${mesh.name}` : "mesh", meshText(mesh)]),
      ["shown", data.graph.stage === null ? "as read" : `after stage ${data.graph.stage}`],
      ["ops", sum.ops.toLocaleString("en")],
      ["collectives", `${sum.collectives}, ${bytesText(sum.bytes)} sent by each device`],
      sum.guessed && ["loops", sum.guessed],
      data.timeline && ["time", `${timeText(sum.seconds)} modelled, collectives ${timeText(data.timeline.link_seconds)} of it; ${data.machine}`],
      sum.peak_bytes !== null && ["memory", `${bytesText(sum.peak_bytes)} at the peak of a device`],
      ["made by", `ttxdsl ${data.version}`],
    ),
    ...(sum.purposes.length ? [h("h3", {}, "what is sent"), h("ul", { class: "purposes" }, ...sum.purposes.map((line) => h("li", {}, line)))] : []),
    h("h3", {}, "ops"), facts(...histogram(totals[0].names)),
  ];
}
