// Heat: boxes coloured by the bytes that they send or the time that they take.

/** Seconds of each node in one run, its turns in loops counted. */
const secondsOf = new Map();
/** How often each loop turns, by its node. */
const turnsOf = new Map();
for (const [lane, name, , seconds, times, , node] of data.timeline?.events ?? []) {
  if (node < 0) continue;
  // a loop is drawn around what takes the time
  if (lane !== "both") secondsOf.set(node, (secondsOf.get(node) ?? 0) + seconds * times);
  const turns = lane === "both" ? Number(/, (\d+) times/.exec(name)?.[1] ?? 0) : 0;
  if (turns > 1) turnsOf.set(node, turns);
}

/** Seconds of each scope. */
const heatTime = new Map();
for (const [node, seconds] of secondsOf)
  for (let scope = nodes[node].scope; scope >= 0; scope = scopes[scope].parent) heatTime.set(scope, (heatTime.get(scope) ?? 0) + seconds);

/** How often the loop turns of which a scope is the condition or the body. */
function turnsOfScope(at) {
  return scopes[at].turns;
}

/** ` ×12`, or nothing. */
const turnsText = (turns) => (turns > 1 ? ` ×${turns.toLocaleString("en")}` : "");

/** What a scope's collectives send: of a loop in one turn, times the turns. */
function sentText(at) {
  const turns = turnsOfScope(at);
  return bytesText(Math.round(totals[at].bytes / turns)) + turnsText(turns);
}

const HEATS = {
  off: { label: "kinds", of: null },
  bytes: { label: "bytes sent", of: (node) => sentBy(node), text: bytesText },
  time: { label: "time", of: (node) => secondsOf.get(node) ?? 0, text: timeText },
};
const heat = { by: "off", ofNode: new Map(), ofScope: [], largest: 0 };

function setHeat(by) {
  const { of } = HEATS[by];
  Object.assign(heat, { by, ofNode: new Map(), ofScope: scopes.map(() => 0), largest: 0 });
  if (of)
    nodes.forEach((node, at) => {
      const amount = of(at);
      heat.ofNode.set(at, amount);
      heat.largest = Math.max(heat.largest, amount);
      for (let scope = node.scope; scope >= 0; scope = scopes[scope].parent) heat.ofScope[scope] += amount;
    });
  changed("heat");
}

/** What a box has of what is asked for; null where nothing is. */
function amountOf(box) {
  if (heat.by === "off") return null;
  return box.node !== undefined ? heat.ofNode.get(box.node) : heat.ofScope[box.scope];
}

/** The colour of a box; null where nothing is asked for. A scope may be hotter than any op. */
function heatOf(box) {
  const amount = amountOf(box);
  if (amount === null) return null;
  const share = heat.largest ? Math.min(1, Math.sqrt(amount / heat.largest)) : 0;
  if (!share) return dark() ? "#1b212d" : "#f7f8fb";
  return `hsl(${48 - 48 * share} 90% ${dark() ? 22 + 18 * share : 92 - 32 * share}%)`;
}
