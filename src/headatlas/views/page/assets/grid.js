// A grid with one element per head, layer 0 on top, and bars of its layers beside it: what all maps have in common.

const SPACED = 1200; // with more cells than this there is no room for gaps between them
let gridCount = 0;
const mostLayers = Math.max(...ATLASES.map((atlas) => atlas.layers));

class HeadGrid {
  constructor(atlas, name, height) {
    Object.assign(this, { atlas, number: gridCount++, built: false, stale: true, shape: "", marks: {} });
    this.note = make("span", { class: "note" });
    this.frame = make("div", { class: "frame" });
    this.profile = draw("svg", {
      class: "profile", viewBox: `0 0 1 ${atlas.layers}`, preserveAspectRatio: "none", "aria-hidden": "true",
    });
    const plot = make("div", { class: "plot" },
      this.axis("y", "layers", "Layer"), this.frame, this.profile, this.axis("x", "heads", "Head"), this.note);
    this.element = make("article", { class: `map ${name}`, "data-atlas": atlas.index }, plot);
    plot.style.setProperty("--height", `${height}px`);
    HeadGrid.byElement.set(this.element, this);
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
    this.built = true;
    if (this.dense) idle(() => this.fill(), true);
    else this.fill();
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

  mark(name, indices) {
    const heads = this.atlas.heads;
    const path = indices.map((i) => `M${i % heads} ${Math.floor(i / heads)}h1v1h-1z`).join("");
    if (this.marks[name] === path) return; // a changed outline makes the browser lay out all cells again
    this.marks[name] = path;
    for (const node of this.svg.querySelectorAll(`.${name}`)) node.setAttribute("d", path);
  }

  /** What the keyboard does on the grid, for those who listen. */
  nameGrid(title) {
    this.svg.setAttribute("aria-label", `${title}, ${this.atlas.label}: ${this.atlas.layers} layers by ` +
      `${this.atlas.heads} heads. Arrow keys move, Enter selects.`);
  }

  /** Bars of the layers: pairs of a style and a number per layer. */
  drawBars(bars) {
    const most = Math.max(...bars.flatMap(([, sizes]) => [...sizes])) || 1;
    const thick = 0.76 / bars.length;
    this.profile.replaceChildren(...bars.map(([name, sizes], n) => draw("path", {
      class: `bar ${name}`,
      d: Array.from(sizes, (size, layer) =>
        `M0 ${(layer + 0.12 + n * thick).toFixed(3)}h${(size / most).toFixed(4)}v${thick}H0z`).join(""),
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

  /** What is said of a head. */
  spoken(index) {
    const rest = this.facts(index).map(([word, text]) => `${word} ${text}`.trim()).join(", ");
    return `layer ${this.atlas.layerOf(index)} head ${index % this.atlas.heads}, ${rest}`;
  }

  /** Names for those who listen; written when there is time. */
  label() {
    if (!this.cells || this.shape !== "map" || this.labelled === this.said) return;
    this.labelled = this.said;
    this.cells.forEach((cell, i) => cell.setAttribute("aria-label", this.spoken(i)));
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
HeadGrid.byElement = new WeakMap();
