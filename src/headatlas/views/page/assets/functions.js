// The atlas picture: every head in one grid, its hue what it is specifically for, its strength how much.

const FUNCTIONS = PAGE.functions; // each with its task, its letters and its hues
const NO_FUNCTION = { light: "#e8eaed", dark: "#2a313a" };
const SMALLEST_LETTER = 6; // pixels; smaller ones cannot be read
const functionPanels = [];
const WIDEST_HEAD = 46; // pixels
/** Pixels: low enough for one screen where that leaves every layer enough. */
const pictureHeight = (layers) => Math.min(layers * 28, Math.max(560, layers * 9.5));

/** A function of a head, as Python describes it. */
const functionOf = ([task, depth, share, low, high, specific, q]) => ({ task, depth, share, low, high, specific, q });
for (const atlas of ATLASES) {
  atlas.withoutMeasure = new Set(atlas.functions?.unmeasured);
  atlas.functionsByHead = new Map((atlas.functions?.heads ?? []).map(([index, list]) => [index, list.map(functionOf)]));
}

/** The functions of a head; null where it was not measured. */
function functionsAt(atlas, index) {
  return atlas.withoutMeasure.has(index) ? null : atlas.functionsByHead.get(index) ?? [];
}

const functionColour = (task, depth) => blend(parts(SURFACE[theme()]), parts(FUNCTIONS[task][theme()]), depth);
/** Heads that have a function, by its number, the largest share first. */
const headsFor = (atlas, task) => [...atlas.functionsByHead].flatMap(([index, list]) => list.filter((one) => one.task === task)
  .map(({ share }) => [index, share])).sort((a, b) => b[1] - a[1]).map(([index]) => index);

class FunctionPanel extends HeadGrid {
  constructor(atlas) {
    super(atlas, "picture", pictureHeight(atlas.layers));
    this.element.style.setProperty("--width", `${atlas.heads * WIDEST_HEAD + 70}px`);
    this.said = atlas.functions;
    this.letters = make("div", { class: "letters", "aria-hidden": "true" });
    this.build();
    this.areas = draw("g", { class: "areas", "aria-hidden": "true" });
    this.svg.querySelector(".marks").before(this.areas);
    this.frame.append(this.svg, this.letters);
    this.shape = "map";
    this.nameGrid("What each head is for");
    this.drawBars([["", atlas.functions.layers]]);
    new ResizeObserver(() => this.fit()).observe(this.frame);
  }

  /** Draw with the colours of the theme: one path per function and depth, so that thousands of heads are few elements. */
  update() {
    const { atlas } = this;
    const outlines = new Map();
    const add = (key, index, part = 0, of = 1) => outlines.set(key, `${outlines.get(key) ?? ""}M${(index % atlas.heads) + part / of} ` +
      `${atlas.layerOf(index)}h${1 / of}v1h${-1 / of}z`);
    for (let index = 0; index < atlas.size; index++) {
      const list = atlas.functionsByHead.get(index);
      add(atlas.withoutMeasure.has(index) ? "unmeasured" : "none", index); // below a function too, for when it is faded
      list?.forEach(({ task, depth }, part) => add(`${task} ${depth}`, index, part, list.length));
    }
    const path = (key, colour) => draw("path", { d: outlines.get(key) ?? "", fill: colour });
    const groups = atlas.functions.counts.map(([task]) => draw("g", { "data-function": task },
      [...outlines.keys()].filter((key) => key.startsWith(`${task} `)).map((key) => path(key, css(functionColour(task, +key.split(" ")[1]))))));
    this.areas.replaceChildren(path("none", NO_FUNCTION[theme()]), path("unmeasured", UNMEASURED[theme()]), ...groups);
    this.drawLetters();
    this.outline();
  }

  drawLetters() {
    const { layers, heads } = this.atlas;
    this.letters.replaceChildren(...[...this.atlas.functionsByHead].flatMap(([index, list]) => list.map(({ task, depth }, part) => {
      const letter = make("span", { "data-function": task, "data-of": list.length }, FUNCTIONS[task].letters);
      letter.style.left = `${(((index % heads) + (part + 0.5) / list.length) / heads) * 100}%`;
      letter.style.top = `${((this.atlas.layerOf(index) + 0.5) / layers) * 100}%`;
      letter.style.color = ink(functionColour(task, depth));
      return letter;
    })));
    this.fit();
  }

  /** Letters as large as cells allow; none where they could not be read. */
  fit() {
    const { clientWidth, clientHeight } = this.frame;
    const [width, height] = [clientWidth / this.atlas.heads, clientHeight / this.atlas.layers];
    const size = Math.min(12, height * 0.8, width * 0.8);
    for (const letter of this.letters.children) {
      const fitting = Math.min(size, (width / letter.dataset.of) / (0.2 + 0.66 * letter.textContent.length));
      letter.hidden = fitting < SMALLEST_LETTER;
      letter.style.fontSize = `${fitting}px`;
    }
  }

  /** Show the heads of one function and fade the others; null shows all. */
  light(task) {
    this.element.classList.toggle("lit", task !== null);
    for (const node of this.element.querySelectorAll("[data-function]")) node.classList.toggle("on", +node.dataset.function === task);
  }

  facts(index) {
    const list = functionsAt(this.atlas, index);
    if (list === null) return [["", "not measured"]];
    if (!list.length) return [["", "nothing shown"]];
    return list.flatMap(({ task, share, low, high, specific, q }) => [["for", FUNCTIONS[task].task], ["share", sharePercent(share)],
      ["95 % interval", `${sharePercent(low)} to ${sharePercent(high)}`], ["specific", sharePercent(specific)], ["q", pValue(q)]]);
  }

  get heading() {
    return this.atlas.label;
  }

  get whose() {
    return PAIR ? this.atlas.label : "";
  }

  get footer() {
    return `by ${this.atlas.functions.method}; ${this.atlas.functions.share}`;
  }
}

function drawFunctions() {
  const shown = ATLASES.filter((atlas) => atlas.functions);
  byId("functions").hidden = !shown.length;
  if (!shown.length) return;
  section("functions", "What each head is for", "A head has the colour and the letter of a task that needs it, and needs it more than the other tasks " +
    `do: q below ${LEVEL} over all heads and tasks. Stronger colour: a larger share of what the task loses. Grey: nothing is shown, ` +
    "which does not prove that there is nothing.", pictureOf);
  byId("functions").querySelector(".section-head").append(make("div", { class: "tool" }, make("span", { class: "tool-name" }, "Save"),
    make("span", { class: "segmented" }, ["CSV", "PNG", "SVG"].map((kind) => make("button", {
      type: "button", "data-save-functions": kind.toLowerCase(), title: `Save the picture as ${kind}`, onclick: () => saveFunctions(kind),
    }, kind)))));
}

function pictureOf(atlas) {
  if (!atlas.functions) return empty("No method of this atlas says how specific heads are.");
  const panel = new FunctionPanel(atlas);
  functionPanels.push(panel);
  panel.update();
  return make("div", { class: "picture-body" }, panel.element, make("div", { class: "picture-key" },
    make("p", { class: "sentence" }, atlas.functions.sentence), functionKey(panel), strengthKey(atlas)));
}

/** The functions with their numbers of heads. Pointing at one shows its heads, choosing it selects them. */
function functionKey(panel) {
  const { atlas } = panel;
  const entries = atlas.functions.counts.map(([task, count]) => make("li", {}, make("button", {
    type: "button", "data-function": task, title: count ? `Select ${count === 1 ? "this head" : `these ${count} heads`}` : null,
    onmouseenter: () => panel.light(task), onmouseleave: () => panel.light(null), onfocus: () => panel.light(task), onblur: () => panel.light(null),
    onclick: () => count && select(atlas, headsFor(atlas, task), false, headsFor(atlas, task)[0]),
  }, functionChip(task), make("span", {}, FUNCTIONS[task].task), make("b", {}, String(count)))));
  const { nothing, unmeasured } = atlas.functions;
  const rest = [["nothing", "nothing shown", nothing], ["missing", "not measured", unmeasured.length]].filter(([name, , count]) => count || name === "nothing");
  const list = make("ul", { class: "function-key", "aria-label": "Functions and their numbers of heads" }, entries,
    rest.map(([name, text, count]) => make("li", { class: "rest" }, make("i", { class: `hue ${name}`, "aria-hidden": "true" }), make("span", {}, text), make("b", {}, String(count)))));
  panel.key = list;
  colourKey(list);
  return list;
}

/** The letters of a function on its hue. */
const functionChip = (task) => paintChip(make("i", { class: "hue", "data-hue": task, "aria-hidden": "true" }, FUNCTIONS[task].letters));

function paintChip(chip) {
  const colour = functionColour(+chip.dataset.hue, 1);
  chip.style.background = css(colour);
  chip.style.color = ink(colour);
  return chip;
}

function colourKey(list) {
  list.querySelectorAll("[data-hue]").forEach(paintChip);
  list.querySelector(".nothing").style.background = NO_FUNCTION[theme()];
}

/** From which share to which colours run. */
function strengthKey({ functions }) {
  if (!functions.shares) return null;
  const [least, most] = functions.shares.map(sharePercent);
  return make("p", { class: "quiet" }, `${functions.share}: from ${least} to ${most}.`);
}

/** Another theme: the same picture in its colours. */
function repaintFunctions() {
  for (const panel of functionPanels) {
    panel.update();
    colourKey(panel.key);
  }
}
