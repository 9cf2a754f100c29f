// The sheet of small maps, its toolbar, its legend.

const grid = byId("grid");
const sheet = []; // every small panel, in the order of the tasks
const BUSY = 40000; // with more cells than this, maps out of sight are made when scrolled to
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const panel = HeadGrid.byElement.get(entry.target);
    panel.seen = entry.isIntersecting;
    if (panel.seen && panel.stale) panel.update();
  }
}, { rootMargin: "250px" });

function buildGrid() {
  for (const task of TASKS) {
    const taskPanels = ATLASES.map((atlas) => new Panel(atlas, task));
    sheet.push(...taskPanels);
    if (PAIR) {
      const name = make("button", { type: "button", class: "name", title: `Look at ${task} alone (f)` }, task);
      grid.append(make("section", { class: "pair", "data-task": task }, make("h3", {}, name), taskPanels.map((panel) => panel.element)));
    } else grid.append(taskPanels[0].element);
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

const livePanels = () => [...sheet, ...focusPanels, ...linkedPanels()];
const panelFor = (node) => HeadGrid.byElement.get(node.closest?.(".map"));

function drawToolbar() {
  const measures = measuresOf(state.method);
  const seeds = seedsOf(state.method, state.measure);
  const bounded = isBounded();
  const tools = [
    ["Method", METHODS.length > 1 ? segmented("Method", METHODS.map((name) => [name, methodInfo(name).title, methodInfo(name).meaning]), state.method, changeMethod)
      : make("b", { class: "only" }, methodInfo(METHODS[0]).title)],
    measures.length > 1 && ["Measure", chooser("Measure", measures.map((name) => [name, spaced(name)]), state.measure, (measure) => change({ measure }))],
    seeds.length > 1 && ["Seeds", (seeds.length > 5 ? chooser : segmented)("Seeds", [["mean", "mean", "the mean over seeds"],
      ["always", "Always", "what every seed agrees on: the value nearest to zero"],
      ["any", "Any", "what some seed says: the value farthest from zero"],
      ...seeds.map((seed) => [String(seed), String(seed), `seed ${seed} alone`])], state.seed, (seed) => change({ seed }))],
    !bounded && ["Colour", segmented("Colour", [["size", "size", "how much, whatever the sign (g)"],
      ["signed", "sign", "above or below zero (g)"]], state.sign, (sign) => change({ sign }))],
    !bounded && ["Scale", segmented("Scale", [["shared", "shared", "one colour scale for all tasks (s)"],
      ["task", "per task", "one colour scale for each task (s)"]], state.scale, (scale) => change({ scale }))],
    ["", fadeToggle()],
  ];
  byId("toolbar").replaceChildren(...tools.filter(Boolean).map(([name, tool]) =>
    make("div", { class: "tool", "data-tool": name.toLowerCase() }, name ? make("span", { class: "tool-name" }, name) : null, tool)));
  const { title, meaning, known_heads: knownHeads } = methodInfo(state.method);
  byId("meaning").replaceChildren(make("b", {}, title), ` ${meaning} ${knownHeads}`);
}

function fadeToggle() {
  const tested = ATLASES.some((atlas) => MAPPED.some((task) => chosenMap(atlas, task)?.q));
  return make("button", {
    type: "button", class: "toggle", "aria-pressed": String(state.fade && tested), disabled: !tested, id: "fade",
    title: tested ? `Fade heads that are not distinguishable from zero: q of ${LEVEL} or more (q)`
      : "No q-values: the method gives none, or several seeds are shown as one", onclick: () => change({ fade: !state.fade }),
  }, make("i", { "aria-hidden": "true" }), `fade q ≥ ${LEVEL}`);
}

function drawSave() {
  byId("save").replaceChildren(make("span", { class: "tool-name" }, "Save"), make("span", { class: "segmented" },
    ["CSV", "PNG", "SVG"].map((kind) => make("button", {
      type: "button", "data-save": kind.toLowerCase(), title: `Save what is shown as ${kind}`, onclick: () => save(kind),
    }, kind))));
}

/** What a large value of the chosen measure means. */
function measureMeaning() {
  const measures = state.measure === ROLES ? methodInfo(state.method).roles : [state.measure];
  return measures.filter((name) => measureInfo(state.method, name).meaning)
    .map((name) => ` Large ${spaced(name)}: ${measureInfo(state.method, name).meaning}.`).join("");
}

function drawMapsHead() {
  byId("maps-title").textContent = state.view === "focus" ? state.task : byId("functions").hidden ? "What each head is for" : "One map per task";
  const seeds = seedsOf(state.method, state.measure);
  const seed = seeds.length > 1 ? `, ${SEED_VIEWS[state.seed] ?? `seed ${state.seed}`}` : "";
  byId("maps-note").textContent = `${measureLabel(state.method, state.measure, state.view === "focus" ? state.task : null)} by ${state.method}${seed}.${measureMeaning()}`;
}

/** What colours outside the scale mean, where there are any. */
function legendNotes() {
  const maps = ATLASES.flatMap((atlas) => MAPPED.map((task) => chosenMap(atlas, task))).filter(Boolean);
  const partial = maps.some((map) => map.summary.measured < map.value.length);
  const faded = state.fade && maps.some((map) => map.q);
  const chip = (colour, text) => {
    const mark = make("i");
    mark.style.background = colour;
    return make("span", {}, mark, text);
  };
  return make("span", { class: "chips" }, faded ? chip(colours(colouring(), theme())[CODES + 20], `q ≥ ${LEVEL}`) : null,
    partial ? chip(UNMEASURED[theme()], "not measured") : null);
}

/** Ticks of the colour scale as [value, text]; of scales per task only that they differ. */
function legendTicks(kind) {
  const perTask = state.scale === "task" && state.view === "grid" && !isBounded();
  if (perTask) return { top: 1, ticks: [kind === "signed" ? [-1, "−top"] : [0, "0"], [1, "top of each map"]] };
  const scale = scaleOf(state.task);
  return { top: scale.top, ticks: kind === "signed" ? scale.signed : scale.sizes };
}

function drawLegend() {
  const legend = byId("legend");
  const kind = colouring();
  legend.classList.toggle("wide", kind === "roles");
  if (kind === "roles") {
    legend.setAttribute("aria-label", `Colours: ${PAGE.role_colours.map(([name]) => name).join(", ")}`);
    legend.replaceChildren(make("div", { class: "chips" }, PAGE.role_colours.map(([name, colour]) => {
      const chip = make("i");
      chip.style.background = colour;
      return make("span", {}, chip, name);
    })));
    return;
  }
  const { top, ticks } = legendTicks(kind);
  const ramp = make("div", { class: "ramp" });
  const fills = colours(kind, theme());
  ramp.style.background = `linear-gradient(90deg, ${Array.from({ length: 17 }, (_, i) => fills[Math.round((i / 16) * 255)]).join(",")})`;
  const marks = ticks.map(([value, text]) => {
    const mark = make("span", {}, text);
    mark.style.left = `${(kind === "signed" ? value / top / 2 + 0.5 : value / top) * 100}%`;
    return mark;
  });
  marks[0].className = "first";
  marks.at(-1).className = "last";
  const label = measureLabel(state.method, state.measure, state.view === "focus" ? state.task : null);
  const title = kind === "size" && !isBounded() ? `size of ${label}` : label;
  legend.setAttribute("aria-label", `Colour scale of ${title}: ${ticks.map(([, text]) => text).join(", ")}`);
  legend.replaceChildren(make("div", { class: "legend-title" }, make("span", {}, title), legendNotes()),
    ramp, make("div", { class: "ramp-ticks" }, marks));
}
