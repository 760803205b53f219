// Views, theme and keys.

const VIEWS = [
  ["summary", "Summary", setUpSummary, null],
  ["graph", "Graph", setUpGraph, null],
  ["collectives", "Collectives", setUpCollectives, () => data.summary.collectives],
  ["memory", "Memory", setUpMemory, null],
  ["time", "Time", setUpTime, null],
  ["stages", "Stages", setUpStages, () => data.stages.length - 1],
  ["remarks", "Remarks", setUpRemarks, () => data.remarks.length],
];

function showView(name) {
  for (const [other] of VIEWS) {
    document.getElementById(`view-${other}`).classList.toggle("on", other === name);
    const tab = document.getElementById(`tab-${other}`);
    tab.setAttribute("aria-selected", other === name);
    tab.tabIndex = other === name ? 0 : -1;
    if (other !== name) continue;
    // the bar alone: scrollIntoView moves the page that this one is a frame of
    const bar = tab.parentElement;
    bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
  }
  document.body.dataset.view = name;
  changed("view");
}

/** What is cut on the screen is told whole where the pointer is. */
function tellCut({ target }) {
  if (!(target instanceof HTMLElement) || target.title || target.children.length > 3) return;
  if (target.scrollWidth > target.clientWidth + 1 && getComputedStyle(target).overflow !== "visible") target.title = target.textContent;
}

/** Of two reports in one page each shows the view, and has the search, of the other. */
function tellOther(what) {
  if (parent !== window) parent.postMessage(what, "*");
}

function hearOther({ source, data: said }) {
  if (source !== parent || parent === window) return;
  if (VIEWS.some(([name]) => name === said?.view)) showView(said.view);
  if (typeof said?.search === "string") searchFor(said.search);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  changed("theme");
}

/** On paper everything is light, lists are whole, and the graph is a drawing that fits the page. */
function setPrinted(printed) {
  if (printed) onScreen = document.documentElement.dataset.theme;
  setTheme(printed ? "light" : onScreen);
  for (const list of VirtualList.all) list.draw(printed);
  document.querySelector(".printed")?.remove();
  if (!printed || !graph.drawing) return;
  const drawing = h("div", { class: "printed" });
  const svg = new DOMParser().parseFromString(graphSvg(), "image/svg+xml");
  drawing.append(document.importNode(svg.documentElement, true));
  document.getElementById("graph-canvas").append(drawing);
}

let onScreen = "light"; // the theme while the page is printed

function setUpHead() {
  const sum = data.summary;
  document.getElementById("title").textContent = shortPlace(data.title);
  document.getElementById("title").title = data.title;
  document.getElementById("meshes").append(...data.meshes.flatMap((mesh) => [
    h("span", { class: "chip", title: `mesh ${mesh.name}` }, meshText(mesh)), " ",
  ]));
  const stat = (value, name) => h("div", { class: "stat" }, h("b", {}, value), h("span", {}, name));
  document.getElementById("stats").append(
    stat(sum.ops.toLocaleString("en"), plural(sum.ops, "ops")),
    stat(`${sum.devices}`, plural(sum.devices, "devices")),
    stat(`${sum.collectives}`, plural(sum.collectives, "collectives")),
    stat(bytesText(sum.bytes), "sent by each device"),
    sum.peak_bytes !== null ? stat(bytesText(sum.peak_bytes), "peak memory of a device") : "",
  );
  const tabs = document.getElementById("tabs"), views = document.getElementById("views");
  VIEWS.forEach(([name, label, , count], at) => {
    const shown = count && !(name === "stages" && !data.all_stages);
    const warn = name === "remarks" && data.remarks.some((one) => one.severity === "warning");
    tabs.append(h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `view-${name}`, title: `${label} (${at + 1})`, onclick: () => (showView(name), tellOther({ view: name })) },
      label, shown ? h("span", { class: `count${warn ? " warn" : ""}` }, count().toLocaleString("en")) : ""));
    views.append(h("section", { class: "view", id: `view-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` }));
  });
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = [...tabs.children].findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = VIEWS[(at + step + VIEWS.length) % VIEWS.length][0];
    showView(next);
    document.getElementById(`tab-${next}`).focus();
  });
  document.getElementById("theme").onclick = () => setTheme(dark() ? "light" : "dark");
  const keys = document.getElementById("keys");
  const rows = [
    ["1 … 7", "views"], ["/", "search; Enter goes to the first, Esc clears"], ["↑ ↓ ← →", "outline: move and fold; graph: follow the data"],
    ["Enter", "fold or unfold a scope"], ["+ − 0", "graph: zoom, show all"], ["[ ]", "stage before, next stage"], ["p n", "change before, next change"],
    ["o", "only changes"], ["t", "light or dark"], ["Esc", "select nothing"],
  ];
  keys.append(h("h2", { style: "margin-bottom:10px" }, "Keys"),
    h("table", {}, rows.map(([key, what]) => h("tr", {}, h("td", {}, ...key.split(" ").flatMap((one) => [h("kbd", {}, one), " "])), h("td", {}, what)))),
    h("p", { class: "muted" }, "Search takes words, all of which must be there, and op: value: type: axis: src: scope: for one of them, as in ", h("code", {}, "op:dot axis:model"), ". ", h("code", {}, "%12"), " is that value only."),
    h("form", { method: "dialog" }, h("button", { style: "border-color:var(--line)" }, "close")));
  document.getElementById("help").onclick = () => keys.showModal();
}

function onKey(event) {
  const typing = ["INPUT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range";
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
  const run = {
    "/": () => (document.body.dataset.view === "summary" && showView("graph"), document.getElementById("search").focus()),
    t: () => setTheme(dark() ? "light" : "dark"),
    "?": () => document.getElementById("keys").showModal(),
    "[": () => (showView("stages"), showStage(stages.at - 1)),
    "]": () => (showView("stages"), showStage(stages.at + 1)),
    n: () => jump(1),
    p: () => jump(-1),
    o: () => setOnly(!stages.only),
    Escape: () => select(null),
  };
  const view = VIEWS[Number(event.key) - 1];
  if (view) showView(view[0]);
  else if (run[event.key]) run[event.key]();
  else return;
  event.preventDefault();
}

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
setUpHead();
for (const [name, , setUp] of VIEWS) setUp(document.getElementById(`view-${name}`));
setUpOutline();
setUpDetails();
document.addEventListener("keydown", onKey);
addEventListener("message", hearOther);
matchMedia("print").addEventListener("change", ({ matches }) => setPrinted(matches));
document.addEventListener("pointerover", tellCut);
showView("summary");
requestAnimationFrame(() => requestAnimationFrame(() => (document.documentElement.dataset.ready = Math.round(performance.now()))));
