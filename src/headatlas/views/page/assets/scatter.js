// Any two measures of all heads against each other, beside a map: what is selected in one is selected in the other.

const axisChoice = { x: null, y: null }; // [method, measure] each
const axisTask = { x: "", y: "" }; // empty: the task of the maps
const SCATTER = { height: 420, left: 62, right: 16, top: 12, bottom: 46 };
const CHOSEN = "#e3116c"; // as the outlines of selected heads in maps

const taskOf = (axis) => axisTask[axis] || state.task;
const axisMap = (atlas, axis) => atlas.map(taskOf(axis), ...axisChoice[axis], "mean");
/** What an axis shows; the task only where the axes differ in it. */
const axisLabel = (axis) => `${axisChoice[axis][0]}: ${measureLabel(...axisChoice[axis], taskOf(axis))}${taskOf("x") === taskOf("y") ? "" : `, ${taskOf(axis)}`}`;

/** Ranks from 1, ties at their mean. */
function ranksOf(values) {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  const ranks = new Float64Array(values.length);
  for (let from = 0, to; from < order.length; from = to) {
    for (to = from + 1; to < order.length && values[order[to]] === values[order[from]];) to++;
    for (let i = from; i < to; i++) ranks[order[i]] = (from + 1 + to) / 2;
  }
  return ranks;
}

/** Spearman's rank correlation; NaN where one side is constant. */
function rankCorrelation(first, second) {
  const [a, b] = [ranksOf(first), ranksOf(second)];
  const mean = (a.length + 1) / 2;
  let [both, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    both += (a[i] - mean) * (b[i] - mean);
    ofA += (a[i] - mean) ** 2;
    ofB += (b[i] - mean) ** 2;
  }
  return both / Math.sqrt(ofA * ofB);
}

/** The map beside the dots: one of those of the sheet once more, which has the names of its heads. */
class LinkedPanel extends Panel {
  rename(task) {
    super.rename(task);
    delete this.element.dataset.task;
  }

  label() {}
}

class Scatter {
  constructor(atlas) {
    this.atlas = atlas;
    this.canvas = make("canvas", { tabindex: "0", role: "img" });
    this.note = make("p", { class: "scatter-note" });
    this.panel = new LinkedPanel(atlas, state.task);
    this.element = make("div", { class: "scatter-one" }, make("div", { class: "scatter-plot" }, this.canvas), make("div", { class: "scatter-side" }, this.note, this.panel.element));
    new ResizeObserver(() => this.paint()).observe(this.canvas.parentNode);
  }

  /** Other axes, or another task. */
  update() {
    const maps = ["x", "y"].map((axis) => axisMap(this.atlas, axis));
    const [xs, ys] = maps.map((map) => map?.value ?? []);
    this.heads = Array.from(xs.keys()).filter((i) => Number.isFinite(xs[i]) && Number.isFinite(ys[i]));
    this.x = Float64Array.from(this.heads, (i) => xs[i]);
    this.y = Float64Array.from(this.heads, (i) => ys[i]);
    this.order = {};
    const count = this.heads.length;
    const rho = count > 2 ? rankCorrelation(this.x, this.y) : NaN;
    const missing = ["x", "y"].filter((_, n) => !maps[n]).map((axis) => `${axisChoice[axis][0]} has no map of ${taskOf(axis)}.`);
    this.note.textContent = missing.join(" ") || `${plural(count, "head")}${finite(rho) ? `; Spearman’s rank correlation ${show(rho, 2)}` : ""}.`;
    this.canvas.setAttribute("aria-label", `${axisLabel("x")}, against ${axisLabel("y")}. ${this.note.textContent} Arrow keys go from head to head, Enter selects.`);
    this.showMap();
    this.paint();
  }

  showMap() {
    if (this.panel.built && this.panel.task === state.task) return;
    this.panel.rename(state.task);
    this.panel.update();
  }

  /** The numbers of the heads in the order of an axis. */
  along(axis) {
    this.order[axis] ??= Array.from(this[axis].keys()).sort((a, b) => this[axis][a] - this[axis][b]);
    return this.order[axis];
  }

  scaleTo(values, from, to) {
    const [low, high] = values.length ? [Math.min(0, ...values), Math.max(0, ...values)] : [0, 1];
    const room = (high - low || 1) * 0.04;
    return { low: low - room, high: high + room, at: (value) => from + ((value - low + room) / (high - low + 2 * room)) * (to - from) };
  }

  paint() {
    if (!this.heads) return;
    const width = this.canvas.parentNode.clientWidth;
    const sharp = devicePixelRatio || 1;
    const { height, left, right, top, bottom } = SCATTER;
    [this.canvas.width, this.canvas.height] = [width * sharp, height * sharp];
    this.scale = { x: this.scaleTo(this.x, left, width - right), y: this.scaleTo(this.y, height - bottom, top) };
    const pen = this.canvas.getContext("2d");
    pen.scale(sharp, sharp);
    this.paintAxes(pen, width);
    this.paintHeads(pen);
    if (this.from) {
      pen.fillStyle = `${CHOSEN}26`;
      pen.strokeStyle = CHOSEN;
      pen.fillRect(...this.box());
      pen.strokeRect(...this.box());
    }
  }

  paintAxes(pen, width) {
    const { height, left, right, top, bottom } = SCATTER;
    const style = getComputedStyle(document.body);
    const [line, soft, strong] = ["--line", "--soft", "--ink"].map((name) => style.getPropertyValue(name));
    const { x, y } = this.scale;
    pen.font = `11px ${style.fontFamily}`;
    pen.lineWidth = 1;
    const rule = (x1, y1, x2, y2, colour) => {
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
      pen.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
      pen.stroke();
    };
    pen.fillStyle = soft;
    pen.textAlign = "center";
    for (const tick of roundTicks(x.low, x.high, width / 110)) {
      rule(x.at(tick), top, x.at(tick), height - bottom, tick === 0 ? soft : line);
      pen.fillText(minus(String(tick)), x.at(tick), height - bottom + 15);
    }
    pen.textAlign = "right";
    for (const tick of roundTicks(y.low, y.high, 6)) {
      rule(left, y.at(tick), width - right, y.at(tick), tick === 0 ? soft : line);
      pen.fillText(minus(String(tick)), left - 7, y.at(tick) + 4);
    }
    pen.fillStyle = strong;
    pen.textAlign = "center";
    pen.fillText(axisLabel("x"), (left + width - right) / 2, height - 8, width - left - right);
    pen.translate(14, (top + height - bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(axisLabel("y"), 0, 0, height - top - bottom);
    pen.rotate(Math.PI / 2);
    pen.translate(-14, -(top + height - bottom) / 2);
  }

  /** Heads without a function first, then those with one in its colour, then what is selected. */
  paintHeads(pen) {
    const { x, y } = this.scale;
    const radius = this.heads.length > 1200 ? 2.4 : 3.6;
    const dot = (n, size) => {
      pen.beginPath();
      pen.arc(x.at(this.x[n]), y.at(this.y[n]), size, 0, 7);
    };
    const paint = (heads, colour, size, alpha) => {
      pen.globalAlpha = alpha;
      pen.fillStyle = colour;
      for (const n of heads) {
        dot(n, size);
        pen.fill();
      }
      pen.globalAlpha = 1;
    };
    const groups = new Map([["", []]]);
    const chosen = [];
    const selected = state.group === this.atlas.group ? state.selected : new Set();
    this.heads.forEach((index, n) => {
      const task = this.atlas.functionsByHead.get(index)?.[0].task ?? "";
      if (!groups.has(task)) groups.set(task, []);
      groups.get(task).push(n);
      if (selected.has(index)) chosen.push(n);
    });
    for (const [task, heads] of groups) paint(heads, task === "" ? "#8b949e" : css(functionColour(task, 1)), radius, task === "" ? 0.5 : 0.9);
    paint(chosen, CHOSEN, radius + 1, 0.9);
    const cursor = state.atlas === this.atlas.index ? this.heads.indexOf(state.cell) : -1;
    if (cursor >= 0) {
      pen.strokeStyle = getComputedStyle(document.body).getPropertyValue("--ink");
      pen.lineWidth = 2;
      dot(cursor, radius + 4);
      pen.stroke();
    }
  }

  /** The brushed rectangle. */
  box() {
    const [[x1, y1], [x2, y2]] = [this.from, this.to];
    return [Math.min(x1, x2), Math.min(y1, y2), Math.abs(x2 - x1), Math.abs(y2 - y1)];
  }
}
