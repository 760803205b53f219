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
    alike.sort((a, b) => totals[a].first - totals[b].first);
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

/** ` … 11, 12 of them, alike` of layers that are one box. */
function layersText(at) {
  if (!isStacked(at)) return "";
  const alike = alikeOf.get(firstLike[at]), last = scopes[alike.at(-1)].name.replace(/^\D*/, "");
  const number = scopes[at].name.replace(/^\D*/, "");
  return `${last === number ? "" : ` … ${last}`}, ${alike.length} of them, alike`;
}

/** At the start: as many scopes open, outermost first, as make no more than `most` boxes. */
function openFirst(most) {
  let shown = children[0].nodes.length + shownScopes(0).length;
  const waiting = shownScopes(0);
  while (waiting.length) {
    const scope = waiting.shift();
    if (isStacked(scope)) continue;
    const inside = children[scope].nodes.length + shownScopes(scope).length;
    if (shown + inside > most || (["arguments", "results"].includes(scopes[scope].kind) && inside > 12)) continue;
    state.open.add(scope);
    shown += inside;
    waiting.push(...shownScopes(scope));
  }
}
openFirst(90);
