// The page: reads a text, asks the worker, shows its answers as they come.

const MOST_MIB = 64; // a text of more takes more memory than a tab has
const by = (id) => document.getElementById(id);
const PARTS = ["why", "plan", "report"];
let worker;
let reportURL;

function start() {
  by("look").disabled = true;
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => {
    say("");
    complain(event.message || "Python could not be loaded: is this page served from a folder?");
  };
}

function say(text) {
  by("status").textContent = text;
}

function complain(text) {
  by("error").textContent = text;
  by("error").hidden = !text;
}

function busy(is) {
  by("look").disabled = is;
  by("stop").hidden = !is;
}

function receive({ kind, part, html, text, chips, examples }) {
  if (kind === "ready") {
    for (const chip of chips) by("chip").append(new Option(chip, chip, chip === "v5e", chip === "v5e"));
    for (const name of examples) by("example").append(new Option(name, name));
    document.documentElement.dataset.ready = "";
    busy(false);
    say("Ready");
  } else if (kind === "doing") {
    say(text);
  } else if (kind === "part") {
    by("answers").hidden = false;
    show(part, html);
  } else if (kind === "error") {
    complain(text);
  } else if (kind === "done") {
    busy(false);
    say(text);
  }
}

function show(part, html) {
  if (part !== "report") {
    by(part).innerHTML = html;
    return;
  }
  if (reportURL) URL.revokeObjectURL(reportURL);
  reportURL = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "The report of the program";
  frame.sandbox = "allow-scripts allow-downloads";
  frame.src = reportURL;
  by("report").replaceChildren(frame);
}

function tooLarge(size) {
  if (size <= MOST_MIB * 2 ** 20) return false;
  complain(
    `error: the text has ${Math.round(size / 2 ** 20)} MiB, more than the ${MOST_MIB} MiB ` +
      "that a tab can hold as a program\n  hint: ttxdsl on your machine reads it"
  );
  return true;
}

function look() {
  const text = by("text").value;
  complain("");
  by("answers").hidden = true;
  for (const part of PARTS) by(part).replaceChildren();
  if (tooLarge(text.length)) return;
  busy(true);
  worker.postMessage({ kind: "look", text, chip: by("chip").value });
}

function select(part) {
  for (const other of PARTS) {
    by(other).hidden = other !== part;
    by(`tab-${other}`).setAttribute("aria-selected", other === part);
    by(`tab-${other}`).tabIndex = other === part ? 0 : -1;
  }
  by(`tab-${part}`).focus();
}

async function take(file) {
  if (tooLarge(file.size)) return;
  by("text").value = await file.text();
  look();
}

by("look").onclick = look;
by("stop").onclick = () => {
  worker.terminate();
  by("chip").replaceChildren();
  by("example").length = 1;
  busy(false);
  say("Stopped; Python is loading again");
  start();
};
by("file").onchange = (event) => event.target.files[0] && take(event.target.files[0]);
by("example").onchange = async (event) => {
  if (!event.target.value) return;
  by("text").value = await (await fetch(`examples/${event.target.value}`)).text();
  look();
};
by("text").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !by("look").disabled) look();
};
by("text").ondragover = (event) => {
  event.preventDefault();
  by("text").classList.add("over");
};
by("text").ondragleave = () => by("text").classList.remove("over");
by("text").ondrop = (event) => {
  event.preventDefault();
  by("text").classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file) take(file);
};
for (const [at, part] of PARTS.entries()) {
  by(`tab-${part}`).onclick = () => select(part);
  by(`tab-${part}`).onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: PARTS.length - 1 }[event.key];
    if (step) select(PARTS[(at + step) % PARTS.length]);
  };
}
start();
