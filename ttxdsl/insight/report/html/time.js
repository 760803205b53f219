// When ops run: a lane for computing, one for the links, one for loops around them.

const LANES = ["both", "compute", "link"];
const LANE_NAMES = { both: "loops", compute: "computes", link: "sends" };

function setUpTime(view) {
  const time = data.timeline;
  if (!time || !time.events.length) return view.append(h("div", { class: "empty" }, "Nothing takes time."));
  const events = time.events.map(([lane, name, start, seconds, times, depth, node]) => ({ lane, name, start, seconds, times, depth, node }));
  const left = 72, last = Math.max(time.seconds, 1e-15);
  const seen = { from: 0, to: last }; // what of the time is drawn
  const x = (seconds, width) => left + ((width - left - 10) * (seconds - seen.from)) / (seen.to - seen.from);
  const zoomTo = (from, to) => {
    const wide = Math.min(last, Math.max(to - from, last / 1e4));
    seen.from = Math.max(0, Math.min(from, last - wide));
    seen.to = seen.from + wide;
    chart.draw();
  };
  const zoomAt = (factor, share = 0.5) => {
    const at = seen.from + (seen.to - seen.from) * share;
    zoomTo(at - (at - seen.from) * factor, at + (seen.to - at) * factor);
  };
  const rows = LANES.filter((lane) => events.some((one) => one.lane === lane));
  const high = 44;
  const chart = new Chart({
    height: rows.length * high + 26,
    label: `Timeline of a device: ${timeText(time.seconds)}`,
    count: events.length,
    x: (at, width) => x(events[at].start, width),
    at: (place, width) => {
      let best = -1, least = Infinity;
      events.forEach((one, at) => {
        const from = x(one.start, width), to = x(one.start + one.seconds, width);
        const off = place < from ? from - place : Math.max(0, place - to);
        // the inner and the shorter one of several under the pointer
        const score = off * 1e6 + (one.lane === "both" ? 1e3 : 0) + one.seconds / last;
        if (score < least) (least = score), (best = at);
      });
      return best;
    },
    tip: (at) => {
      const one = events[at];
      const turns = one.times > 1 ? [`of its first iteration; it runs ${one.times.toLocaleString("en")} times`] : [];
      return [`${one.name}: ${timeText(one.seconds)}`, `from ${timeText(one.start)}`, ...turns];
    },
    choose: (at) => selectNode(events[at].node),
    paint: (c, width, height) => {
      const color = colors();
      c.font = `11px ${color.sans}`;
      rows.forEach((lane, row) => {
        c.fillStyle = color.muted;
        c.textAlign = "right";
        c.fillText(LANE_NAMES[lane], left - 8, row * high + high / 2 + 4);
      });
      c.save();
      c.beginPath();
      c.rect(left, 0, width - left, height - 18);
      c.clip();
      for (const one of events) {
        if (one.start > seen.to || one.start + one.seconds < seen.from) continue;
        const row = rows.indexOf(one.lane), from = x(one.start, width);
        const wide = Math.max(1, x(one.start + one.seconds, width) - from);
        const chosen = one.node >= 0 && state.selected?.node === one.node;
        const kind = one.name.split(" ").at(-1);
        c.fillStyle = one.lane === "link" ? commColor(kind, chosen ? 1 : 0.75) : kindColor(one.lane === "both" ? "boundary" : "contraction", one.lane === "both" ? 0.18 : chosen ? 1 : 0.55);
        c.fillRect(from, row * high + 6, wide, high - 12);
        if (wide > 60) {
          c.fillStyle = color.text ?? color.muted;
          c.textAlign = "left";
          c.fillText(fitText(c, one.name, wide - 8), from + 4, row * high + high / 2 + 4);
        }
      }
      c.restore();
      c.fillStyle = color.muted;
      for (const tick of roundTicks(seen.to - seen.from)) {
        const at = x(seen.from + tick, width);
        c.textAlign = !tick ? "left" : at > width - 50 ? "right" : "center";
        c.fillText(timeText(seen.from + tick), at, height - 6);
      }
    },
  });
  chart.canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const wide = seen.to - seen.from;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const step = ((event.deltaX || event.deltaY) / 600) * wide;
      return zoomTo(seen.from + step, seen.to + step);
    }
    zoomAt(Math.exp(event.deltaY * 0.0015), Math.max(0, (event.offsetX - left) / (chart.canvas.clientWidth - left - 10)));
  }, { passive: false });
  chart.canvas.addEventListener("keydown", (event) => {
    const factor = { "+": 1 / 1.5, "=": 1 / 1.5, "-": 1.5 }[event.key];
    if (factor) zoomAt(factor);
    else if (event.key === "0") zoomTo(0, last);
  });
  const button = (text, label, run) => h("button", { type: "button", title: label, "aria-label": label, onclick: run }, text);
  const zooms = h("p", { class: "radios" }, "zoom: ", button("+", "Larger (+, wheel)", () => zoomAt(1 / 1.5)), button("−", "Smaller (-)", () => zoomAt(1.5)), button("all", "Show all (0)", () => zoomTo(0, last)));
  const hidden = time.overlaps ? `${timeText(time.hidden_seconds)} of it hidden by computing` : "nothing of it hidden: this machine does one after the other";
  view.append(h("div", { class: "fill" }, h("div", { class: "panel" }, h("h2", {}, `Timeline: ${timeText(time.seconds)}`),
    h("p", { class: "sub" }, `computing ${timeText(time.compute_seconds)}, sending ${timeText(time.link_seconds)}, ${hidden}; neighbouring collectives joined. Modelled on ${data.machine}. Of a loop the first iteration is drawn.`), zooms, chart.element)));
  listen((what) => (what === "select" || what === "theme" ? chart.draw() : null));
}
