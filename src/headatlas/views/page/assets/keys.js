// The keyboard: everything the pointer can do.

const SHORTCUTS = [
  ["← → ↑ ↓", "move over the heads of a map", null],
  ["Shift + arrows", "move and select", null],
  ["Enter", "select the head, or take it out of the selection", null],
  ["f", "one task large, or all tasks", () => change({ view: state.view === "focus" ? "grid" : "focus" })],
  ["[", "the task before", () => advance("task", tasksOf(state.method), -1)],
  ["]", "the next task", () => advance("task", tasksOf(state.method), 1)],
  ["m", "the next method", () => advance("method", METHODS, 1)],
  ["n", "the next measure", () => advance("measure", measuresOf(state.method), 1)],
  ["a", "the next of mean, Always, Any and the seeds", () => advance("seed", seedViews(), 1)],
  ["g", "size or sign", () => change({ sign: state.sign === "signed" ? "size" : "signed" })],
  ["s", "one colour scale for all tasks, or one for each", () => change({ scale: state.scale === "task" ? "shared" : "task" })],
  ["q", "fade heads that are not distinguishable from zero", () => change({ fade: !state.fade })],
  ["x", "select the strongest heads of the task", () => pickTop()],
  ["+", "one head more", () => pickTop({ k: state.k + 1 })],
  ["-", "one head fewer", () => pickTop({ k: state.k - 1 })],
  ["c", "copy the selection as L12H3,…", copySelection],
  ["t", "light or dark", switchTheme],
  ["Esc", "select nothing, then back to all tasks", null],
  ["?", "this list", () => byId("keys").showModal()],
];

function advance(name, options, by) {
  const at = options.indexOf(state[name]);
  const next = options[(at + by + options.length) % options.length];
  if (name === "method") changeMethod(next);
  else change({ [name]: next });
}

function switchTheme() {
  change({ theme: theme() === "dark" ? "light" : "dark" });
}

/** The panel that the keyboard is in: the focused one, else that of the task. */
function panelInFocus() {
  const focused = panelFor(document.activeElement);
  if (focused?.shape === "map") return focused;
  const panels = (state.view === "focus" ? focusPanels : sheet).filter((panel) => panel.task === state.task && panel.map);
  return panels.find((panel) => panel.atlas.index === state.atlas) ?? panels[0];
}

const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function move(panel, key, extend) {
  const { atlas } = panel;
  const at = state.cell ?? 0;
  const [down, right] = state.cell === null ? [0, 0] : MOVES[key];
  const layer = Math.min(atlas.layers - 1, Math.max(0, atlas.layerOf(at) + down));
  const head = Math.min(atlas.heads - 1, Math.max(0, (at % atlas.heads) + right));
  const cell = layer * atlas.heads + head;
  const task = panel.task ? { task: panel.task } : {};
  if (extend) {
    const before = state.group === atlas.group ? state.selected : [];
    change({ selected: new Set([...before, at, cell]), group: atlas.group, cell, atlas: atlas.index, ...task });
  } else change({ cell, atlas: atlas.index, ...task });
  panel.svg.focus({ preventScroll: true });
  const away = panel.box(cell);
  if (away.top < 130 || away.bottom > innerHeight - 20) scrollBy(0, away.top - innerHeight / 2);
  const box = panel.box(cell);
  showTip(panel, cell, box.right, box.bottom);
  const words = panel.spoken(cell);
  panel.cells[cell].setAttribute("aria-label", words);
  byId("live").textContent = `${panel.heading}: ${words}`;
}

function onKey(event) {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  const panel = panelInFocus();
  const inMap = event.target.closest(".cells");
  const free = event.target === document.body || event.target.closest(".toolbar");
  if (event.key in MOVES && panel?.shape === "map" && (inMap || free)) move(panel, event.key, event.shiftKey);
  else if ((event.key === "Enter" || event.key === " ") && inMap && state.cell !== null) select(panel.atlas, [state.cell], true, state.cell);
  else if (event.key === "Escape") {
    hideTip();
    change(state.selected.size || state.cell !== null ? { selected: new Set(), cell: null } : { view: "grid" });
  } else {
    const shortcut = SHORTCUTS.find(([key, , act]) => act && key === event.key);
    if (!shortcut) return;
    shortcut[2]();
  }
  event.preventDefault();
}

function drawKeys() {
  byId("keys").replaceChildren(make("h2", {}, "Keyboard"),
    make("dl", {}, SHORTCUTS.map(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)])),
    make("p", { class: "quiet" }, "Click selects a head, drag a box of heads; Shift or Ctrl adds. The address holds the view: copy it to share."),
    make("form", { method: "dialog" }, make("button", {}, "Close")));
}
