// Hovering, clicking and dragging over maps, in one place for all of them.

const tip = byId("tip");
let drag = null;

function showTip(panel, index, x, y) {
  if (panel.shape !== "map") return hideTip();
  return placeTip(panel.atlas.name(index), panel.whose, panel.facts(index), panel.footer, x, y);
}

/** What is known of something, as pairs of a word and a text, beside a point of the screen. */
function placeTip(name, whose, known, footer, x, y) {
  const rows = known.map(([word, text]) =>
    make("div", { "data-fact": word.split(" ")[0] || "none" }, make("span", {}, word), make("b", {}, text)));
  tip.replaceChildren(make("header", {}, make("strong", {}, name), make("span", {}, whose)), ...rows, make("footer", {}, footer));
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = x + 16 + width > innerWidth ? x - width - 14 : x + 16;
  const top = Math.min(y + 14, innerHeight - height - 8);
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function hideTip() {
  tip.hidden = true;
}

/** All heads of the box between two heads. */
function headsBetween(atlas, from, to) {
  const [top, bottom] = [atlas.layerOf(from), atlas.layerOf(to)].sort((a, b) => a - b);
  const [left, right] = [from % atlas.heads, to % atlas.heads].sort((a, b) => a - b);
  const indices = [];
  for (let layer = top; layer <= bottom; layer++) {
    for (let head = left; head <= right; head++) indices.push(layer * atlas.heads + head);
  }
  return indices;
}

/** Select heads of an atlas: instead of, in addition to, or, for one that is already chosen, out of the selection. */
function select(atlas, indices, add = false, cell = state.cell) {
  const selected = add && state.group === atlas.group ? new Set(state.selected) : new Set();
  if (add && indices.length === 1 && selected.has(indices[0])) selected.delete(indices[0]);
  else indices.forEach((index) => selected.add(index));
  change({ selected, group: atlas.group, atlas: atlas.index, cell });
}

function onMap(event) {
  const panel = panelFor(event.target);
  return panel?.svg?.contains(event.target) ? panel : null;
}

function endDrag() {
  drag?.panel.mark("drag", []);
  drag = null;
}

function listenToPointer() {
  const main = document.querySelector("main");
  main.addEventListener("pointermove", (event) => {
    if (drag) {
      const to = drag.panel.at(event.clientX, event.clientY);
      if (to !== drag.from) drag.moved = true;
      if (drag.moved) drag.panel.mark("drag", headsBetween(drag.panel.atlas, drag.from, to));
      showTip(drag.panel, to, event.clientX, event.clientY);
      return;
    }
    const panel = onMap(event);
    if (panel) showTip(panel, panel.at(event.clientX, event.clientY), event.clientX, event.clientY);
    else hideTip();
  });
  main.addEventListener("pointerleave", hideTip);
  main.addEventListener("pointerdown", (event) => {
    const panel = event.button === 0 ? onMap(event) : null;
    if (!panel) return;
    event.preventDefault();
    panel.svg.focus({ preventScroll: true });
    drag = { panel, from: panel.at(event.clientX, event.clientY), moved: false };
  });
  addEventListener("pointercancel", endDrag);
  addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { panel, from, moved } = drag;
    endDrag();
    const to = panel.at(event.clientX, event.clientY);
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    if (panel.task) change({ task: panel.task });
    select(panel.atlas, moved ? headsBetween(panel.atlas, from, to) : [from], add, to);
  });
  addEventListener("scroll", hideTip, { passive: true });
  main.addEventListener("click", (event) => {
    const name = event.target.closest("button.name");
    if (!name) return;
    const task = name.closest("[data-task]").dataset.task;
    change(state.view === "focus" ? { view: "grid" } : { view: "focus", task });
  });
}
