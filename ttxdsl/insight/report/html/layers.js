// Layers: scopes side by side that are alike but for numbers are one box, with a count;
// segments too, of layers that nobody named.

/** For each scope the first of those that are like it, and for each first all of them. */
const firstLike = scopes.map((_, at) => at);
const alikeOf = new Map();
for (const { scopes: inside } of children) {
  const found = new Map();
  for (const at of inside) {
    if (!["scope", "segment"].includes(scopes[at].kind)) continue;
    const { ops, collectives, bytes, names } = totals[at];
    const key = JSON.stringify([scopes[at].name.replace(/\d+/g, "#"), ops, collectives, bytes, [...names].sort()]);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(at);
  }
  for (const alike of found.values()) {
    if (alike.length < 2) continue;
    alike.sort((a, b) => totals[a].middle - totals[b].middle);
    alikeOf.set(alike[0], alike);
    for (const at of alike) firstLike[at] = alike[0];
  }
}

/** Whether a scope is shown as one with all that are like it. */
const isStacked = (at) => alikeOf.has(firstLike[at]) && !state.split.has(firstLike[at]);
/** Whether another box stands for it. */
const isBehind = (at) => firstLike[at] !== at && isStacked(at);
/** The scopes of a scope that have a box or a row of their own. */
const shownScopes = (at) => children[at].scopes.filter((one) => !isBehind(one));
const isOpen = (at) => state.open.has(at) && !isStacked(at);

/** The name of a scope, of layers that are one box `layer 0 … 11, 12 of them, alike`; in short `layer ×12`. */
function nameOfLayers(at, short) {
  const { name } = scopes[at];
  if (!isStacked(at)) return name;
  const alike = alikeOf.get(firstLike[at]), last = scopes[alike.at(-1)].name.replace(/^\D*/, "");
  if (short) return `${name.replace(/[ _]\d+$/, "")} ×${alike.length}`;
  return `${name}${last === name.replace(/^\D*/, "") ? "" : ` … ${last}`}, ${alike.length} of them, alike`;
}

/** What a scope weighs: the time it takes, else its ops. */
function weightOf(at) {
  return scopes[at].kind === "arguments" || scopes[at].kind === "results" ? 0 : (heatTime.get(at) ?? 0) || totals[at].ops * 1e-15;
}

/** A scope, and those in it that take nearly all of its time. */
function mostlyIn(at) {
  const most = shownScopes(at).find((one) => !isStacked(one) && weightOf(one) > 0.9 * weightOf(at));
  return [at, ...(most === undefined ? [] : mostlyIn(most))];
}

const HEAVY = 0.05; // of the whole: what weighs less is not opened at the start

/** The scope of the same call in the other part of a step, after those around it; none if there is none. */
function twinOf(scope, phases) {
  const [forward, backward] = phases ?? [], around = ancestors(scope);
  const other = around.includes(forward) ? backward : around.includes(backward) ? forward : undefined;
  const twin = scopes.findIndex((one, at) => one.name === scopes[scope].name && one.line === scopes[scope].line && ancestors(at).includes(other));
  return ancestors(twin).filter((at) => at > 0).reverse();
}

/**
 * At the start: the heaviest scopes open, as many as can be seen whole and be read, with
 * the parts of a step as wide as they are, or in a column each if more of it is seen so.
 * The drawing that this makes.
 */
function openFirst() {
  const wide = openHeaviest();
  const weight = () => [...state.open].reduce((sum, at) => sum + weightOf(at), 0);
  const [open, seen] = [state.open, weight()];
  state.narrow = true;
  state.open = new Set([0]);
  const narrow = openHeaviest();
  const better = weight() > seen;
  if (!better) (state.narrow = false), (state.open = open);
  if (state.open.size > 1) changed("fold");
  return better ? narrow : wide;
}

/** Open the heaviest scopes, the largest first, while the drawing fits; return the drawing. */
function openHeaviest() {
  let drawing = layoutGraph();
  const waiting = shownScopes(0);
  const least = HEAVY * waiting.reduce((sum, at) => sum + weightOf(at), 0);
  for (let tries = 0; waiting.length && tries < 16; tries++) {
    waiting.sort((a, b) => weightOf(b) - weightOf(a));
    const scope = waiting.shift();
    if (isStacked(scope) || !weightOf(scope) || weightOf(scope) < least) continue;
    // forward and backward open together, so that layers stand beside their gradients
    const phases = ancestors(scope).map(phasesOf).find(Boolean);
    const together = phases?.includes(scope) ? [phases.flatMap(mostlyIn), phases] : [[scope, ...twinOf(scope, phases)]];
    for (const opened of [...together, [scope]]) {
      const added = opened.filter((at) => !state.open.has(at));
      if (!added.length || added.some((at) => children[at].nodes.length + shownScopes(at).length > 60)) continue;
      for (const at of added) state.open.add(at);
      const larger = layoutGraph();
      if (scaleOf(larger, graph) < LEGIBLE) {
        for (const at of added) state.open.delete(at);
        continue;
      }
      drawing = larger;
      waiting.push(...added.flatMap(shownScopes).filter((at) => !state.open.has(at)));
      break;
    }
  }
  return drawing;
}
