// The sheet of small maps, its toolbar, its legend.

const grid = byId("grid");
const sheet = []; // every small panel, in the order of the tasks
const BUSY = 40000; // with more cells than this, maps out of sight are made when scrolled to
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const panel = Panel.of.get(entry.target);
    panel.seen = entry.isIntersecting;
    if (panel.seen && panel.stale) panel.update();
  }
}, { rootMargin: "250px" });

function buildGrid() {
  for (const task of TASKS) {
    const own = ATLASES.map((atlas) => new Panel(atlas, task));
    sheet.push(...own);
    if (PAIR) {
      const name = make("button", { type: "button", class: "name", title: `Look at ${task} alone (f)` }, task);
      grid.append(make("section", { class: "pair", "data-task": task }, make("h3", {}, name), own.map((panel) => panel.element)));
    } else grid.append(own[0].element);
  }
  grid.style.setProperty("--columns", PAIR ? 2 : Math.min(4, TASKS.length));
  const edge = innerHeight + 250;
  for (const panel of sheet) {
    panel.seen = panel.element.getBoundingClientRect().top < edge;
    if (panel.seen) panel.update();
    watcher.observe(panel.element);
  }
  const total = sheet.reduce((sum, panel) => sum + panel.atlas.size, 0);
  if (total <= BUSY) for (const panel of sheet) idle(() => panel.stale && panel.update());
}

/** Repaint what is in sight now; the rest when there is time or when it comes into sight. */
function repaint(all = false) {
  for (const panel of livePanels()) panel.stale = true;
  if (state.view === "grid") {
    for (const panel of sheet) if (panel.seen || all) panel.update();
  }
  for (const panel of livePanels()) {
    idle(() => {
      if (panel.built && panel.stale && panel.element.isConnected) panel.update();
      if (!panel.stale) panel.label();
    });
  }
}

const livePanels = () => [...sheet, ...focusPanels];
const panelFor = (node) => Panel.of.get(node.closest?.(".map"));

function drawToolbar() {
  const measures = measuresOf(state.method);
  const seeds = seedsOf(state.method, state.measure);
  const words = (name) => name.replaceAll("_", " ");
  const bounded = BOUNDED.has(state.measure);
  const tools = [
    ["Method", METHODS.length > 1 ? segmented("Method", METHODS.map((name) => [name, words(name)]), state.method,
      (method) => change({ method, measure: measuresOf(method).includes(state.measure) ? state.measure : null }))
      : make("b", { class: "only" }, words(METHODS[0]))],
    measures.length > 1 && ["Measure", chooser("Measure", measures.map((name) => [name, words(name)]), state.measure,
      (measure) => change({ measure }))],
    seeds.length > 1 && ["Seeds", (seeds.length > 5 ? chooser : segmented)("Seeds", [["mean", "mean", "the mean over seeds"],
      ["always", "Always", "the least over seeds: what every seed agrees on"],
      ["any", "Any", "the most over seeds: what some seed found"],
      ...seeds.map((seed) => [String(seed), String(seed), `seed ${seed} alone`])], state.seed, (seed) => change({ seed }))],
    !bounded && ["Colour", segmented("Colour", [["magnitude", "size", "how much, whatever the sign"],
      ["signed", "sign", "which way: helping or hurting"]], state.sign, (sign) => change({ sign }))],
    !bounded && ["Scale", segmented("Scale", [["shared", "shared", "one colour scale for all tasks (s)"],
      ["own", "own", "a colour scale for each task (s)"]], state.scale, (scale) => change({ scale }))],
    ["", fadeToggle()],
  ];
  byId("toolbar").replaceChildren(...tools.filter(Boolean).map(([name, tool]) =>
    make("div", { class: "tool", "data-tool": name.toLowerCase() }, name ? make("span", { class: "tool-name" }, name) : null, tool)));
}

function fadeToggle() {
  const tested = ATLASES.some((atlas) => MAPPED.some((task) => chosenMap(atlas, task)?.q));
  return make("button", {
    type: "button", class: "toggle", "aria-pressed": String(state.fade && tested), disabled: !tested, id: "fade",
    title: tested ? `Fade heads that are not distinguishable from zero: q of ${LEVEL} or more (q)`
      : "These maps carry no q-values", onclick: () => change({ fade: !state.fade }),
  }, make("i", { "aria-hidden": "true" }), `fade q ≥ ${LEVEL}`);
}

const MEANINGS = {
  importance: "how much the head matters, as this method measures it",
  alone: "what the head tells on its own",
  facilitation: "how much the task needs the head",
  interference: "how much the head is in the task's way",
  irrelevance: "how little the head matters either way",
  gate_plus: "the gate when heads are kept where possible",
  gate_minus: "the gate when heads are dropped where possible",
  [ROLES]: "green helps, orange is in the way, yellow both, black neither",
};

function drawSave() {
  byId("save").replaceChildren(make("span", { class: "tool-name" }, "Save"), make("span", { class: "segmented" },
    ["CSV", "PNG", "SVG"].map((kind) => make("button", {
      type: "button", "data-save": kind.toLowerCase(), title: `Save what is shown as ${kind}`, onclick: () => save(kind),
    }, kind))));
}

function drawMapsHead() {
  const title = state.view === "focus" ? state.task : "What each head is for";
  byId("maps-title").textContent = title;
  const seeds = seedsOf(state.method, state.measure);
  const seed = seeds.length > 1 ? `, ${SEED_WORDS[state.seed] ?? `seed ${state.seed}`}` : "";
  const meaning = MEANINGS[state.measure] ? ` (${MEANINGS[state.measure]})` : "";
  byId("maps-note").textContent = `${state.measure.replaceAll("_", " ")} by ${state.method}${seed}${meaning}`;
}

/** What colours outside the scale mean, where there are any. */
function legendNotes() {
  const maps = ATLASES.flatMap((atlas) => MAPPED.map((task) => chosenMap(atlas, task))).filter(Boolean);
  const partial = maps.some((map) => map.count < map.value.length);
  const faded = state.fade && maps.some((map) => map.q);
  const chip = (colour, text) => {
    const mark = make("i");
    mark.style.background = colour;
    return make("span", {}, mark, text);
  };
  return make("span", { class: "chips" }, faded ? chip(colours(kindOf(), theme())[CODES + 20], `q ≥ ${LEVEL}`) : null,
    partial ? chip(UNMEASURED[theme()], "not measured") : null);
}

function drawLegend() {
  const legend = byId("legend");
  const kind = kindOf();
  legend.classList.toggle("wide", kind === "roles");
  if (kind === "roles") {
    legend.setAttribute("aria-label", "Green facilitating, orange interfering, yellow both, black neither");
    legend.replaceChildren(make("div", { class: "chips" }, Object.entries(ROLE_COLOURS).map(([name, colour]) => {
      const chip = make("i");
      chip.style.background = `#${colour}`;
      return make("span", {}, chip, name);
    })));
    return;
  }
  const own = state.scale === "own" && state.view === "grid" && !BOUNDED.has(state.measure);
  const scale = own ? null : scaleOf(state.task);
  const ticks = own ? [{ value: kind === "signed" ? -1 : 0, text: kind === "signed" ? "−top" : "0" }, { value: 1, text: "each map’s own top" }]
    : scaleTicks(scale, kind);
  const top = own ? 1 : scale.top;
  const bar = make("div", { class: "ramp" });
  const fills = colours(kind, theme());
  bar.style.background = `linear-gradient(90deg, ${Array.from({ length: 17 }, (_, i) => fills[Math.round((i / 16) * 255)]).join(",")})`;
  const marks = ticks.map(({ value, text }) => {
    const mark = make("span", {}, text);
    mark.style.left = `${(kind === "signed" ? value / top / 2 + 0.5 : value / top) * 100}%`;
    return mark;
  });
  marks[0].className = "first";
  marks.at(-1).className = "last";
  legend.setAttribute("aria-label", `Colour scale of ${state.measure}: ${ticks.map((tick) => tick.text).join(", ")}`);
  const word = state.measure === "importance" ? "Heads Importance" : state.measure.replaceAll("_", " ");
  legend.replaceChildren(make("div", { class: "legend-title" }, make("span", {}, word), legendNotes()),
    bar, make("div", { class: "ramp-ticks" }, marks));
}
