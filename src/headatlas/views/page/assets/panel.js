// One map: one element per head, layer 0 on top, with the profile of its layers beside it.

const SPACED = 1200; // with more cells than this there is no room for gaps between them
let panelCount = 0;

/** Tall enough to tell layers apart, low enough for two rows of maps on a screen. */
const mostLayers = Math.max(...ATLASES.map((atlas) => atlas.layers));
const smallHeight = Math.min(310, Math.max(170, mostLayers * 8));
const largeHeight = Math.min(620, Math.max(380, mostLayers * 17));

class Panel {
  constructor(atlas, task, large = false) {
    Object.assign(this, { atlas, task, large, number: panelCount++, built: false, seen: false, stale: true, shape: "", marks: {} });
    this.title = make("button", { type: "button", class: "name" });
    this.note = make("span", { class: "note" });
    this.frame = make("div", { class: "frame" });
    this.profile = draw("svg", {
      class: "profile", viewBox: `0 0 1 ${atlas.layers}`, preserveAspectRatio: "none", "aria-hidden": "true",
    });
    const plot = make("div", { class: "plot" },
      this.axis("y", "layers", "Layer"), this.frame, this.profile, this.axis("x", "heads", "Head"), this.note);
    this.element = make("article", { class: large ? "map large" : "map", "data-atlas": atlas.index },
      make("header", {}, make("h3", {}, this.title)), plot);
    plot.style.setProperty("--height", `${large ? largeHeight : smallHeight}px`);
    Panel.byElement.set(this.element, this);
    this.rename();
  }

  axis(side, counted, word) {
    const ticks = [];
    const count = this.atlas[counted];
    for (let i = 0; i < count; i += this.atlas.model.tick_step[counted]) {
      const tick = make("span", {}, String(i));
      tick.style[side === "y" ? "top" : "left"] = `${((i + 0.5) / count) * 100}%`;
      ticks.push(tick);
    }
    return make("div", { class: `axis ${side}`, "aria-hidden": "true" }, ticks, make("b", {}, word));
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

  /** Many cells are coloured as the pixels of a picture below them: repainting thousands of elements is slow. */
  get dense() {
    return this.atlas.size > SPACED;
  }

  build() {
    const { layers, heads } = this.atlas;
    this.svg = draw("svg", {
      class: `cells${this.dense ? "" : " spaced"}`, viewBox: `0 0 ${heads} ${layers}`, preserveAspectRatio: "none",
      role: "grid", tabindex: "0", onfocus: () => this.fill(),
    });
    this.svg.innerHTML = '<g class="marks" aria-hidden="true"><path class="halo"/><path class="chosen"/>' +
      '<path class="halo cursor"/><path class="cursor"/><path class="drag"/></g>';
    this.codes = new Uint16Array(this.atlas.size).fill(65535);
    this.built = true;
    if (this.dense) {
      this.canvas = make("canvas", { width: heads, height: layers, "aria-hidden": "true" });
      idle(() => this.fill(), true);
    } else this.fill();
  }

  /** Make the cells, once; afterwards only their colours change. */
  fill() {
    if (this.cells) return;
    const { layers, heads } = this.atlas;
    const rows = [];
    for (let layer = 0; layer < layers; layer++) {
      const cells = [];
      for (let head = 0; head < heads; head++) {
        cells.push(`<rect id="c${this.number}-${layer * heads + head}" class="cell" role="gridcell" x="${head}" ` +
          `y="${layer}" width="1" height="1" data-layer="${layer}" data-head="${head}"/>`);
      }
      rows.push(`<g role="row">${cells.join("")}</g>`);
    }
    this.svg.insertAdjacentHTML("afterbegin", rows.join(""));
    this.cells = [...this.svg.querySelectorAll(".cell")];
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

  mark(name, indices) {
    const heads = this.atlas.heads;
    const path = indices.map((i) => `M${i % heads} ${Math.floor(i / heads)}h1v1h-1z`).join("");
    if (this.marks[name] === path) return; // a changed outline makes the browser lay out all cells again
    this.marks[name] = path;
    for (const node of this.svg.querySelectorAll(`.${name}`)) node.setAttribute("d", path);
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
    this.drawProfile(map, kind);
    this.describe(map, scale);
    this.outline();
    this.labelled = null;
    return undefined;
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
    this.svg.setAttribute("aria-label", `${this.task}, ${this.atlas.label}: ${this.atlas.layers} layers by ` +
      `${this.atlas.heads} heads. Arrow keys move, Enter selects.`);
  }

  /** The mean size of each layer's heads, as bars; of roles one bar each. */
  drawProfile(map, kind) {
    const bars = kind === "roles" ? [["first-role", map], ["second-role", map.second]] : [["", map]];
    const most = Math.max(...bars.flatMap(([, barMap]) => [...barMap.layerMeans])) || 1;
    const thick = 0.76 / bars.length;
    this.profile.replaceChildren(...bars.map(([name, barMap], n) => draw("path", {
      class: `bar ${name}`,
      d: Array.from(barMap.layerMeans, (mean, layer) =>
        `M0 ${(layer + 0.12 + n * thick).toFixed(3)}h${(mean / most).toFixed(4)}v${thick}H0z`).join(""),
    })));
  }

  outline() {
    if (this.shape !== "map") return;
    const chosen = state.group === this.atlas.group ? [...state.selected].filter((i) => i < this.atlas.size) : [];
    this.mark("halo:not(.cursor)", chosen);
    this.mark("chosen", chosen);
    const here = state.cell !== null && (state.atlas === this.atlas.index || ATLASES[state.atlas].group === this.atlas.group);
    this.mark("cursor", here ? [state.cell] : []);
    if (here) this.svg.setAttribute("aria-activedescendant", `c${this.number}-${state.cell}`);
    else this.svg.removeAttribute("aria-activedescendant");
  }

  /** Names for those who listen; written when there is time. */
  label() {
    const map = this.map;
    if (!this.cells || !map || this.labelled === map) return;
    this.labelled = map;
    const { ranking } = this;
    this.cells.forEach((cell, i) => cell.setAttribute("aria-label", spoken(this.atlas, map, i, ranking)));
  }

  /** Where a head is on the screen. */
  box(i) {
    const box = this.svg.getBoundingClientRect();
    const [width, height] = [box.width / this.atlas.heads, box.height / this.atlas.layers];
    return new DOMRect(box.left + (i % this.atlas.heads) * width, box.top + this.atlas.layerOf(i) * height, width, height);
  }

  /** The head under a point of the screen. */
  at(x, y) {
    const box = this.svg.getBoundingClientRect();
    const inside = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value * most)));
    return inside((y - box.top) / box.height, this.atlas.layers) * this.atlas.heads +
      inside((x - box.left) / box.width, this.atlas.heads);
  }
}
Panel.byElement = new WeakMap();

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

function spoken(atlas, map, index, ranking) {
  const rest = facts(map, index, ranking).map(([word, text]) => `${word} ${text}`.trim()).join(", ");
  return `layer ${atlas.layerOf(index)} head ${index % atlas.heads}, ${rest}`;
}
