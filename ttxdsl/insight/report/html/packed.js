// What packing.py packed, as the other scripts want it; lines and listings when asked for.

function unpacked(packed) {
  const lines = packed.texts.lines.split("\n");
  packed.textOf = (at) => {
    const [number, ...names] = lines[at].split(" ");
    return packed.texts.patterns[number].reduce((text, part, place) => `${text}%${names[place - 1]}${part}`);
  };
  packed.stages.forEach((stage, at) => {
    const runs = stage.rows;
    let rows = null;
    Object.defineProperty(stage, "rows", { get: () => (rows ??= unpackedRows(runs, () => packed.stages[at - 1].rows)) });
  });
  for (const node of packed.graph.nodes) {
    node.outputs = node.outputs.map(([name, kind]) => ({ name, ...packed.kinds[kind] }));
    node.frames = packed.shared[node.frames];
    node.path = packed.shared[node.path];
  }
  return packed;
}

/** The rows of a listing, some of which stand in the one before. */
function unpackedRows(runs, before) {
  const rows = [];
  let key = 0, text = 0;
  for (const [first, second, ...others] of runs) {
    if (others.length) rows.push([key += first, text += second, ...others]);
    else for (const row of before().slice(first, first + second)) rows.push([key = row[0], text = row[1], row[2], 0]);
  }
  return rows;
}
