// The side bar: the program as a tree that can be folded, or what the search found.

const outline = { rows: [] };

function setUpOutline() {
  const element = document.getElementById("outline");
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  outline.list = new VirtualList(element, 24, outlineRow);
  outline.element = element;

  const search = () => {
    state.matches = find(input.value);
    tell();
    rebuild();
    changed("search");
  };
  const tell = () => {
    const count = state.matches?.length;
    found.replaceChildren(
      h("span", { class: "grow" }, state.matches ? `${count.toLocaleString("en")} found` : `${nodes.length.toLocaleString("en")} nodes`),
      ...(state.matches
        ? [h("button", { type: "button", onclick: () => ((input.value = ""), search(), input.focus()) }, "clear")]
        : [
            h("button", { type: "button", id: "fold-all", onclick: () => openAll(false) }, "fold all"),
            h("button", { type: "button", id: "unfold-all", onclick: () => openAll(true) }, "unfold all"),
          ]),
    );
  };
  input.addEventListener("input", () => (search(), tellOther({ search: input.value })));
  outline.search = search;
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.matches?.length) selectNode(state.matches[0]), element.focus();
    else if (event.key === "ArrowDown") element.focus(), moveTo(0);
    else if (event.key === "Escape") (input.value = ""), search(), input.blur();
    else return;
    event.preventDefault();
  });
  element.addEventListener("keydown", outlineKey);
  listen((what) => {
    if (what === "fold") rebuild();
    if (what === "select") showSelected();
    if (what === "theme") outline.list.refresh();
  });
  tell();
  rebuild();
}

function searchFor(text) {
  document.getElementById("search").value = text;
  outline.search();
}

function rebuild() {
  const rows = [];
  if (state.matches) {
    for (const node of state.matches) rows.push({ node, depth: 0 });
  } else {
    const visit = (scope, depth) => {
      const inside = [...shownScopes(scope).map((at) => ({ scope: at })), ...children[scope].nodes.map((at) => ({ node: at }))];
      inside.sort((a, b) => placeOf(a) - placeOf(b));
      for (const row of inside) {
        rows.push({ ...row, depth });
        if (row.scope !== undefined && isOpen(row.scope)) visit(row.scope, depth + 1);
      }
    };
    visit(0, 0);
  }
  outline.rows = rows;
  outline.list.set(rows.length);
}

function isSelected(row) {
  const chosen = state.selected;
  return chosen && chosen.node === row.node && chosen.scope === row.scope;
}

function showSelected() {
  const at = outline.rows.findIndex(isSelected);
  if (at >= 0) outline.list.show(at);
  else outline.list.refresh();
}

function outlineRow(at) {
  const row = outline.rows[at];
  const element = h("div", {
    class: `row${isSelected(row) ? " selected" : ""}${row.scope !== undefined ? " scope" : ""}`,
    role: "treeitem", "aria-level": row.depth + 1, "aria-selected": isSelected(row) ? "true" : "false",
    style: `padding-left:${10 + row.depth * 14}px`,
    onclick: () => select(row.node !== undefined ? { node: row.node } : { scope: row.scope }, { from: "outline", reveal: Boolean(state.matches) }),
  });
  if (row.scope !== undefined) {
    const open = isOpen(row.scope), total = totals[row.scope];
    element.dataset.scope = row.scope;
    element.setAttribute("aria-expanded", open);
    element.ondblclick = () => setOpen(row.scope, !open);
    const fold = h("span", { class: "fold", onclick: (event) => (event.stopPropagation(), setOpen(row.scope, !open)) }, open ? "▾" : "▸");
    const [name, ...times] = scopeLabel(row.scope, true).split(" ×");
    element.append(fold, h("span", { class: "label", title: scopeLabel(row.scope) + calledAt(row.scope) }, name), ...times.map((count) => h("span", { class: "times" }, `×${count}`)));
    element.append(h("span", { class: "end" }, total.collectives ? h("span", { class: "comm" }, `${sentText(row.scope)} · `) : "", total.ops.toLocaleString("en")));
    return element;
  }
  const node = nodes[row.node], value = node.outputs[0];
  element.dataset.node = row.node;
  const dot = h("span", { class: "dot" });
  dot.style.setProperty("--c", kindColor(kindOf(node)));
  element.append(h("span", { class: "fold" }), dot, h("span", { class: "label" }, node.name));
  const names = node.outputs.map((one) => one.name).join(", ");
  if (node.kind === "op") element.append(h("span", { class: "value", title: names }, names));
  const axes = layoutOf(value)?.text ?? "";
  const end = state.matches ? shortPlace(sourceOf(node)) || axes : axes.startsWith("[") ? axes : "";
  element.append(h("span", { class: "end", title: `${typeText(value)} ${axes}` }, end));
  return element;
}

function moveTo(at) {
  const row = outline.rows[Math.max(0, Math.min(at, outline.rows.length - 1))];
  if (row) select(row.node !== undefined ? { node: row.node } : { scope: row.scope }, { reveal: false });
}

function outlineKey(event) {
  const at = outline.rows.findIndex(isSelected);
  const row = outline.rows[at];
  const page = Math.max(1, Math.floor(outline.element.clientHeight / 24) - 1);
  const jump = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: outline.rows.length };
  if (event.key in jump) moveTo(jump[event.key]);
  else if (event.key === "ArrowRight" && row?.scope !== undefined) isOpen(row.scope) ? moveTo(at + 1) : setOpen(row.scope, true);
  else if (event.key === "ArrowLeft" && row) {
    if (row.scope !== undefined && isOpen(row.scope)) setOpen(row.scope, false);
    else {
      const parent = row.scope !== undefined ? scopes[row.scope].parent : nodes[row.node].scope;
      if (parent > 0) select({ scope: parent }, { reveal: false });
    }
  } else if ((event.key === "Enter" || event.key === " ") && row?.scope !== undefined) setOpen(row.scope, !isOpen(row.scope));
  else return;
  event.preventDefault();
}
