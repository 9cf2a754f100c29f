// The map of one task.

/** Tall enough to tell layers apart, low enough for two rows of maps on a screen. */
const smallHeight = Math.min(310, Math.max(170, mostLayers * 8));
const largeHeight = Math.min(620, Math.max(380, mostLayers * 17));

class Panel extends HeadGrid {
  constructor(atlas, task, large = false) {
    super(atlas, large ? "large" : "", large ? largeHeight : smallHeight);
    Object.assign(this, { task, large, seen: false });
    this.title = make("button", { type: "button", class: "name" });
    this.unit = make("small", { class: "unit" });
    this.element.prepend(make("header", {}, make("h3", {}, this.title), this.unit));
    this.rename();
  }

  rename(task = this.task) {
    this.task = task;
    this.title.textContent = PAIR && !this.large ? this.atlas.label : task;
    this.title.title = this.large ? "Back to all tasks (f)" : `Look at ${task} alone (f)`;
    if (PAIR && this.large) this.title.textContent = `${task} · ${this.atlas.label}`;
    this.element.dataset.task = task;
    this.stale = true;
  }

  get map() {
    return chosenMap(this.atlas, this.task);
  }

  get ranking() {
    return this.atlas.ranking(this.task, state.method);
  }

  build() {
    super.build();
    this.codes = new Uint16Array(this.atlas.size).fill(65535);
    if (this.dense) this.canvas = make("canvas", { width: this.atlas.heads, height: this.atlas.layers, "aria-hidden": "true" });
  }

  paint(map, kind, top) {
    const fills = colours(kind, theme());
    if (this.dense) {
      const pixelValues = pixelColours(fills);
      const picture = new ImageData(this.atlas.heads, this.atlas.layers);
      const bytes = new Uint32Array(picture.data.buffer);
      for (let i = 0; i < bytes.length; i++) bytes[i] = pixelValues[colourCode(map, i, kind, top, state.fade)];
      this.canvas.getContext("2d").putImageData(picture, 0, 0);
      return;
    }
    const fresh = fills !== this.fills;
    this.fills = fills;
    for (let i = 0; i < this.cells.length; i++) {
      const cellCode = colourCode(map, i, kind, top, state.fade);
      if (!fresh && this.codes[i] === cellCode) continue;
      this.codes[i] = cellCode;
      this.cells[i].setAttribute("fill", fills[cellCode]);
    }
  }

  /** Bring the panel up to date with the state. */
  update() {
    this.stale = false;
    const map = this.map;
    if (!map) return this.explain();
    if (!this.built) this.build();
    if (this.shape !== "map") {
      this.frame.replaceChildren(...[this.canvas, this.svg].filter(Boolean));
      this.shape = "map";
    }
    const kind = colouring();
    const scale = scaleOf(this.task);
    this.paint(map, kind, scale.top);
    this.cover();
    this.drawProfile(map, kind);
    this.describe(map, scale);
    this.outline();
    this.labelled = null;
    return undefined;
  }

  /** Hatch a map that is not to be read, and say why. */
  cover() {
    this.hatching?.remove();
    const why = this.atlas.method(state.method).doubts[this.task];
    this.hatching = why ? make("div", { class: "none over" }, make("span", {}, why)) : null;
    if (this.hatching) this.frame.append(this.hatching);
  }

  /** Where there is no map, say why. */
  explain() {
    this.shape = "none";
    this.frame.replaceChildren(make("div", { class: "none" }, make("span", {}, whyNoMap(this.atlas, this.task))));
    this.profile.replaceChildren();
    this.note.textContent = "";
  }

  describe(map, scale) {
    const tested = map.distinctCount !== null;
    const top = state.scale === "task" && !isBounded() ? `top ${scale.sizes.at(-1)[1]}` : "";
    const { measured } = map.summary;
    this.note.textContent = [top, measured < this.atlas.size ? `${measured} measured` : "", tested ? `${map.distinctCount} ≠ 0` : ""]
      .filter(Boolean).join(" · ");
    this.note.title = tested ? `${plural(map.distinctCount, "head")} with q below ${LEVEL}` : "";
    this.unit.textContent = this.atlas.method(state.method).notes[this.task] ?? "";
    this.nameGrid(this.task);
  }

  /** The mean size of each layer's heads, as bars; of roles one bar each. */
  drawProfile(map, kind) {
    this.drawBars(kind === "roles" ? [["first-role", map.layerMeans], ["second-role", map.second.layerMeans]] : [["", map.layerMeans]]);
  }

  /** Names of heads are written again when the map changes. */
  get said() {
    return this.map;
  }

  /** What is known of a head, as pairs of a word and a text. */
  facts(index) {
    return facts(this.map, index, this.ranking);
  }

  get heading() {
    return this.task;
  }

  get whose() {
    return PAIR ? `${this.task} · ${this.atlas.label}` : this.task;
  }

  get footer() {
    const measures = this.map.second ? methodInfo(state.method).roles : [state.measure];
    const labels = measures.map((measure) => measureLabel(state.method, measure, this.task)).filter((label) => label.includes("("));
    return [...labels, `ranked by ${state.method}: ${rankingRule()}`].join("; ");
  }
}

function whyNoMap(atlas, name) {
  const task = atlas.tasks.find((known) => known.name === name);
  if (!task) return "not in this suite";
  return task.mapped ? `not measured by ${state.method}` : task.verdict ?? "not mapped";
}

/** Which role a head has, from its two numbers. */
function roleName(first, second) {
  const [neither, onlyFirst, onlySecond, both] = PAGE.role_colours.map(([name]) => name);
  const [hasFirst, hasSecond] = [first > PAGE.open, second > PAGE.open];
  return hasFirst && hasSecond ? both : hasFirst ? onlyFirst : hasSecond ? onlySecond : neither;
}

/** What is known of a head in a map, as pairs of a word and a text. */
function facts(map, index, ranking) {
  const value = map.value[index];
  if (Number.isNaN(value)) return [["", "not measured"]];
  const rows = [];
  if (map.second) {
    const [first, second] = methodInfo(state.method).roles;
    rows.push([first, show(value)], [second, show(map.second.value[index])], ["role", roleName(value, map.second.value[index])]);
  } else rows.push([spaced(state.measure), show(value)]);
  if (map.spread && !Number.isNaN(map.low[index])) rows.push([map.spread, `${show(map.low[index], 3)} to ${show(map.high[index], 3)}`]);
  if (map.q && !Number.isNaN(map.q[index])) {
    rows.push(["q", `${pValue(map.q[index])}${map.distinct(index) ? "" : ", not distinguishable from zero"}`]);
  }
  if (ranking?.rank(index)) rows.push(["rank", `${ranking.rank(index)} of ${ranking.measured}`]);
  return rows;
}
