// Putting it together: draw once, then redraw what a change touches.

// The id of a section in page.html, its name in the menu, and what draws it once the maps are drawn.
const SECTIONS = [["functions", "Atlas"], ["maps", "Maps"], ["portrait", "Head", drawPortrait], ["graph", "Graph", drawGraphs],
  ["scatter", "Scatter", drawScatters], ["compare", "Comparison", drawComparison], ["findings", "Findings", drawFindings], ["overlap", "Overlap", drawOverlap],
  ["evidence", "Evidence", drawEvidence], ["competence", "Competence", drawCompetence], ["agreement", "Agreement", drawAgreement],
  ["run", "Run", drawRun]];

function goTo(id, behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth") {
  byId(id).scrollIntoView({ behavior });
}

/** Where the address names a section, go there. */
function goToSection() {
  if (state.section) goTo(state.section, "instant");
}

function drawTop() {
  const sections = SECTIONS.filter(([id]) => !byId(id).hidden);
  document.querySelector(".masthead nav").replaceChildren(...sections.map(([id, text]) => make("a", {
    href: `#${id}`, onclick: (event) => {
      event.preventDefault();
      change({ section: id });
      goTo(id);
    },
  }, text)));
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("theme").addEventListener("click", switchTheme);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    sheet[0]?.svg?.focus();
  });
}

function drawTheme() {
  document.documentElement.dataset.theme = theme();
  byId("theme").textContent = theme() === "dark" ? "Light" : "Dark";
}

const MAP_WORDS = ["method", "measure", "seed", "scale", "sign", "fade", "theme", "view"];
const touches = (changed, ...names) => names.some((name) => changed.has(name));

/** Sections below the maps wait until the maps are drawn, and are drawn once for several changes in a row. */
const waiting = new Set();
function later(work) {
  if (waiting.has(work)) return;
  waiting.add(work);
  idle(() => waiting.delete(work) && work());
}

/** Everything that still waits, now: paper does not. */
function drawAll() {
  [...sheet, ...linkedPanels()].forEach((panel) => panel.stale && panel.update());
  for (const work of waiting) work();
  waiting.clear();
}

/** Before printing: light, everything drawn, nothing folded away. */
const unfolded = new Set();
function toPaper() {
  usePaper(true);
  drawAll();
  for (const node of document.querySelectorAll("details:not([open])")) {
    unfolded.add(node);
    node.open = true;
  }
}

/** After printing: as it was. */
function fromPaper() {
  for (const node of unfolded) node.open = false;
  unfolded.clear();
  usePaper(false);
}

/** Only a dark page has to be drawn again for paper. */
function usePaper(used) {
  onPaper = used;
  if (document.documentElement.dataset.theme !== theme()) announce("theme");
}

/** A view that begins above what can be seen is brought down to where the toolbar ends when it sticks to the top. */
function showTop() {
  const toolbar = byId("toolbar");
  const covered = getComputedStyle(toolbar).position === "sticky" ? toolbar.offsetHeight : 0;
  const hidden = byId("maps").getBoundingClientRect().top - covered;
  if (hidden < 0) scrollBy({ top: hidden - 12, behavior: "instant" });
}

onChange((changed) => {
  hideTip();
  if (changed.has("theme")) {
    drawTheme();
    repaintFunctions();
  }
  if (!HAS_MAPS) return;
  if (touches(changed, ...MAP_WORDS, "task")) {
    drawMapsHead();
    keepingFocus(byId("focus"), drawFocus);
  } else if (changed.has("k") && state.view === "focus") drawFocus();
  if (touches(changed, ...MAP_WORDS)) {
    repaint();
    keepingFocus(byId("toolbar"), drawToolbar);
    drawLegend();
  }
  if (touches(changed, "selected", "group", "cell", "atlas")) [...livePanels(), ...functionPanels].forEach((panel) => panel.outline());
  if (changed.has("task") && state.view === "focus") drawLegend();
  if (changed.has("task")) portraitChoice.task = graphChoice.task = null; // a choice made there lasts until the maps show another task
  if (touches(changed, "cell", "atlas", "task", "theme")) later(redrawPortrait);
  if (touches(changed, "task", "theme")) later(redrawGraphs);
  else if (touches(changed, "cell", "atlas")) later(markNodes);
  if (changed.has("task")) later(updateScatters);
  else if (touches(changed, "selected", "group", "cell", "atlas", "theme")) later(paintScatters);
  drawSide();
  if (changed.has("view")) showTop();
  if (touches(changed, "method", "measure", "seed", "k", "theme")) later(redrawOverlap);
  if (touches(changed, "method", "theme")) later(redrawEvidence);
  if (changed.has("theme")) later(redrawAgreement);
});

// A section that is drawn again in an idle moment must not take the focus from a control that was reached meanwhile.
const redrawOverlap = () => keepingFocus(byId("overlap"), drawOverlap);
const redrawAgreement = () => keepingFocus(byId("agreement"), drawAgreement);

/** Decode the usual maps of all methods while nobody waits, so that switching to them is quick. */
function warm() {
  for (const atlas of ATLASES) {
    for (const { name, primary } of atlas.methods) {
      const measure = atlas.measures(name).includes(ROLES) ? ROLES : primary;
      for (const task of MAPPED) idle(() => atlas.map(task, name, measure, "mean") && atlas.ranking(task, name));
    }
  }
}

function drawMaps() {
  drawFunctions();
  drawToolbar();
  drawMapsHead();
  drawSave();
  buildGrid();
  drawFocus();
  drawLegend();
  drawSide();
}

/** As long as no method is done, there is only what the model can do and how the run is made. */
function hideMaps() {
  for (const [id] of SECTIONS) byId(id).hidden = !["competence", "run"].includes(id);
  document.querySelector(".stage").hidden = true;
}

function start() {
  const asked = readAddress();
  Object.assign(state, asked);
  settle();
  for (const [role, colour] of Object.entries(PAGE.line_colours)) document.documentElement.style.setProperty(`--${role}`, colour);
  drawTheme();
  drawHeadline();
  if (HAS_MAPS) drawMaps();
  else hideMaps();
  drawTop();
  drawKeys();
  listenToPointer();
  if (HAS_MAPS) addEventListener("keydown", onKey);
  addEventListener("hashchange", () => {
    change(readAddress());
    goToSection();
  });
  prefersDark.addEventListener("change", () => {
    if (state.theme === "auto") announce("theme");
  });
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);
  for (const [id, , work] of SECTIONS) if (work && !byId(id).hidden) later(work);
  later(goToSection);
  if (PAGE.live) followAtlas(PAGE.live);
  performance.mark("drawn");
  idle(() => document.body.classList.add("ready"));
  for (const panel of functionPanels) idle(() => panel.label());
  for (const panel of sheet) idle(() => panel.stale || panel.label());
  idle(warm);
}

start();
