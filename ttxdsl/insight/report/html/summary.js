// The first page: fits or not, what a step takes, what costs most, what to write instead.

const BOUNDS = { network: { label: "network", kind: "collective" }, memory: { label: "memory", kind: "movement" }, compute: { label: "compute", kind: "contraction" }, host: { label: "the host's memory", kind: "boundary" } };

const shareText = (share) => `${share >= 0.1 ? Math.round(share * 100) : (share * 100).toFixed(1)} %`;
const listText = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

function setUpSummary(view) {
  const known = data.verdict;
  if (!known) return view.append(h("div", { class: "empty" }, data.no_memory ?? "This program is no program of one device: nothing is modelled."));
  view.append(h("div", { class: "scroll summary" },
    h("div", { class: "verdicts" }, memoryVerdict(known), timeVerdict(known)),
    costsOf(known), adviceOf(data.advice), sentOf(), linesHint(known)));
}

function memoryVerdict({ memory }) {
  if (!memory) return h("section", { class: "panel" }, h("h2", { class: "big" }, "Memory is not known"), h("p", { class: "muted" }, data.no_memory ?? ""));
  const fits = memory.chips.filter((chip) => chip.fits), small = memory.chips.filter((chip) => !chip.fits);
  const asked = memory.chips.length === 1;
  const head = asked ? (fits.length ? `Fits ${fits[0].name}` : `Does not fit ${small[0].name}`) : !small.length ? "Fits every chip" : fits.length ? "Fits some chips" : "Fits no chip";
  const chip = (one) => h("span", { class: `chip ${one.fits ? "good" : "bad"}`, title: `${one.name} has ${bytesText(one.bytes)}` }, `${one.fits ? "✓" : "✗"} ${one.name} ${bytesText(one.bytes)}`);
  return h("section", { class: "panel", id: "verdict-memory" },
    h("h2", { class: `big ${fits.length ? "good" : "bad"}` }, head),
    h("p", {}, h("b", {}, bytesText(memory.peak_bytes)), " at the peak of a device", h("span", { class: "muted" }, `: ${data.memory.counted}`)),
    h("p", { class: "chips" }, ...memory.chips.map(chip)),
    h("p", { class: "muted" }, "largest there:"), h("ul", { class: "purposes" }, ...memory.largest.map((one) => h("li", {}, bytesText(one.bytes), h("span", { class: "muted" }, ` in ${one.count > 1 ? `${one.count} × ` : ""}${shortPlaces(one.name)}`)))));
}

function timeVerdict({ seconds, bound, parts, exposed_seconds: exposed }) {
  const all = Object.values(parts).reduce((sum, one) => sum + one, 0) || 1;
  const bar = h("div", { class: "parts", role: "img", "aria-label": "what the time goes to" });
  const names = [];
  for (const [name, { label, kind }] of Object.entries(BOUNDS)) {
    const share = parts[name] / all;
    if (!share) continue;
    const part = h("i", { style: `width:${100 * share}%`, title: `${label} ${timeText(parts[name])}` });
    const dot = h("i", { class: "dot" });
    const paint = () => [part, dot].forEach((one) => one.style.setProperty("--c", kindColor(kind)));
    paint();
    listen((what) => what === "theme" && paint());
    bar.append(part);
    names.push(h("span", {}, dot, `${label} ${timeText(parts[name])}`));
  }
  return h("section", { class: "panel", id: "verdict-time" },
    h("h2", { class: "big" }, `${timeText(seconds)} a step`),
    h("p", {}, "bound by ", h("b", {}, BOUNDS[bound].label), exposed > 0 ? `; ${timeText(exposed)} of sending is not hidden by computing` : ""),
    bar, h("p", { class: "legend" }, ...names), h("p", { class: "muted" }, `modelled on ${data.machine}`));
}

function costsOf({ costs }) {
  if (!costs.length) return h("section", { class: "panel" }, h("h2", {}, "Nothing takes time."));
  const row = (one) => {
    const phases = one.phases.length ? `, ${listText(one.phases)}` : "";
    const layers = one.layers > 1 ? `, in ${one.layers} layers` : "";
    const bar = h("i", { style: `width:${100 * one.share}%` });
    const paint = () => bar.style.setProperty("--c", kindColor(BOUNDS[one.bound].kind));
    paint();
    listen((what) => what === "theme" && paint());
    return h("button", { type: "button", class: "cost", title: `${one.scope || one.place}: show it in the graph`, onclick: () => one.node >= 0 && (showView("graph"), selectNode(one.node)) },
      h("b", { class: "share" }, shareText(one.share)),
      h("span", { class: "what" }, h("b", { title: one.where }, shortPlaces(one.where) || "no line is known"), h("span", { class: "muted" }, ` ${timeText(one.seconds)} of ${BOUNDS[one.bound].label}: ${one.ops.join(", ")}${layers}${phases}`), ...(one.place === one.where ? [] : [h("br"), h("code", { title: one.place }, shortPlaces(one.place))])),
      h("span", { class: "meter" }, bar));
  };
  return h("section", { class: "panel", id: "verdict-costs" }, h("h2", {}, costs.length > 1 ? `The ${costs.length === 3 ? "three " : ""}largest costs` : "The largest cost"), ...costs.map(row));
}

function adviceOf(advice) {
  const box = h("section", { class: "panel", id: "verdict-advice" }, h("h2", {}, "What to write instead"));
  if (!advice) {
    const file = shortPlace(data.title);
    box.append(h("p", { class: "muted" }, "Not asked for here. These compile changes and say what each saves:"),
      h("pre", { class: "code" }, `ttxdsl doctor ${file}\nttxdsl report ${file} --doctor 60    # the answer on this page`));
  } else if (!advice.length) box.append(h("p", {}, "Nothing that was compiled is better than what is written."));
  else
    for (const one of advice)
      box.append(h("p", {}, h("b", {}, one.saves), h("span", { class: "muted" }, one.where ? `, at ${one.where}` : "")), h("pre", { class: "code" }, one.write));
  return box;
}

function sentOf() {
  const sum = data.summary;
  return h("section", { class: "panel" }, h("h2", {}, sum.collectives ? `What is sent: ${bytesText(sum.bytes)} a device in ${countText(sum.collectives, "collectives")}` : "Nothing is sent"),
    sum.purposes.length ? h("ul", { class: "purposes" }, ...sum.purposes.map((line) => h("li", {}, line))) : null,
    ...notesOnParts(...data.collectives.map((one) => one.axes)));
}

function linesHint({ no_lines: call }) {
  return call && h("section", { class: "panel note" }, "No functions and lines of the author's are known: write the text with ", h("code", {}, call), ", and every name here is one of the source.");
}
