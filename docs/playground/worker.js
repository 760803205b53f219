// Python in a worker, so that the page stays alive: ttxdsl itself, run by Pyodide.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const ready = prepare();

async function prepare() {
  const packages = fetch("packages.zip").then((answer) => answer.arrayBuffer());
  const python = await loadPyodide({ indexURL: new URL("pyodide/", self.location).href });
  const folder = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  python.unpackArchive(await packages, "zip", { extractDir: folder });
  const module = python.pyimport("playground_answers");
  self.postMessage({
    kind: "ready",
    chips: module.chips().toJs(),
    examples: await (await fetch("examples/index.json")).json(),
  });
  return module;
}

self.onmessage = async ({ data }) => {
  const module = await ready;
  const start = performance.now();
  let failed = false;
  for (const [kind, part, value] of module.answers(data.text, data.chip)) {
    failed ||= kind === "error";
    self.postMessage(
      kind === "part" ? { kind, part, html: value } : { kind, text: value }
    );
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  self.postMessage({ kind: "done", text: failed ? "No answer: see the error" : `Answered in ${seconds} s` });
};
