// Pointing, brushing and keys on the scatter, and its section.

const scatters = [];
const NEAR = 12; // pixels from the pointer within which a head counts as pointed at
const MOVED = 4; // pixels after which a press is a brush and no click

byId("scatter").hidden = !ATLASES.some((atlas) => atlas.axes.length);

class BrushedScatter extends Scatter {
  constructor(atlas) {
    super(atlas);
    this.shape = "map";
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => event.button === 0 && this.press(event));
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => this.drop());
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  point({ clientX, clientY }) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  /** The number of the head nearest to a point; -1 where none is near. */
  nearest([px, py]) {
    let [best, least] = [-1, NEAR ** 2];
    for (let n = 0; n < this.heads.length; n++) {
      const away = (this.scale.x.at(this.x[n]) - px) ** 2 + (this.scale.y.at(this.y[n]) - py) ** 2;
      if (away < least) [best, least] = [n, away];
    }
    return best;
  }

  press(event) {
    event.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.from = this.to = this.point(event);
  }

  hover(event) {
    event.stopPropagation(); // outside maps the page would hide what is said of the head
    const at = this.point(event);
    if (this.from) {
      this.to = at;
      hideTip();
      requestAnimationFrame(() => this.paint());
      return;
    }
    const n = this.nearest(at);
    this.canvas.classList.toggle("near", n >= 0);
    if (n >= 0) showTip(this, this.heads[n], event.clientX, event.clientY);
    else hideTip();
  }

  release(event) {
    if (!this.from) return;
    this.to = this.point(event);
    const [left, top, width, height] = this.box();
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    const near = this.nearest(this.from);
    this.drop();
    if (Math.max(width, height) >= MOVED) {
      const inside = (value, from, size) => value >= from && value <= from + size;
      const brushed = this.heads.filter((_, n) => inside(this.scale.x.at(this.x[n]), left, width) && inside(this.scale.y.at(this.y[n]), top, height));
      select(this.atlas, brushed, add, brushed.includes(state.cell) ? state.cell : brushed[0] ?? null);
    } else if (near >= 0) select(this.atlas, [this.heads[near]], add, this.heads[near]);
    else select(this.atlas, [], add, null);
  }

  drop() {
    this.from = null;
    this.paint();
  }

  /** Left and right go by x, up and down by y. */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.heads.length) return;
    const steps = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] };
    const here = this.heads.indexOf(state.cell);
    if (event.key in steps) {
      const [axis, by] = steps[event.key];
      const order = this.along(axis);
      const n = here < 0 ? order.at(-1) : order[Math.min(order.length - 1, Math.max(0, order.indexOf(here) + by))];
      change({ cell: this.heads[n], atlas: this.atlas.index });
      this.say(n);
    } else if ((event.key === "Enter" || event.key === " ") && here >= 0) select(this.atlas, [state.cell], true, state.cell);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  say(n) {
    const { left, top } = this.canvas.getBoundingClientRect();
    showTip(this, this.heads[n], left + this.scale.x.at(this.x[n]), top + this.scale.y.at(this.y[n]));
    const name = this.atlas.name(this.heads[n]);
    byId("live").textContent = `${name}: ${this.facts(this.heads[n]).map(([word, text]) => `${word} ${text}`).join(", ")}`;
  }

  facts(index) {
    const n = this.heads.indexOf(index);
    return ["x", "y"].map((axis) => {
      const [method, measure] = axisChoice[axis];
      return [`${method}, ${spaced(measure)}${axisTask.x === axisTask.y ? "" : `, ${taskOf(axis)}`}`, show(this[axis][n], 3)];
    });
  }

  get whose() {
    const tasks = [...new Set([taskOf("x"), taskOf("y")])];
    return tasks.length === 1 ? tasks[0] : "";
  }

  get footer() {
    return "click selects, drag brushes";
  }
}

function drawScatters() {
  const first = ATLASES.find((atlas) => atlas.axes.length);
  [axisChoice.x, axisChoice.y] = first.axes;
  section("scatter", "Any two measures", "Every head is a dot. Drag over dots to select heads here and in every map; drag over a map to see its heads among the dots. " +
    "Shift adds. Coloured dots have a function in the atlas picture.", (atlas) => {
    const scatter = new BrushedScatter(atlas);
    scatters.push(scatter);
    return scatter.element;
  });
  byId("scatter").querySelector(".section-head").after(make("div", { class: "axes" }, axisTools("y", "Upwards"), axisTools("x", "To the right"),
    make("button", { type: "button", class: "back", id: "swap-axes", title: "Exchange the axes", onclick: swapAxes }, "⇄ exchange")));
  updateScatters();
}

function axisTools(axis, name) {
  const options = METHODS.filter((method) => tasksOf(method).length).map((method) => make("optgroup", { label: methodInfo(method).title },
    methodInfo(method).measures.map(({ name: measure }) => make("option", { value: JSON.stringify([method, measure]) }, `${method}: ${spaced(measure)}`))));
  const measure = make("select", { id: `axis-${axis}`, "aria-label": `${name}: measure`, onchange: ({ target }) => {
    axisChoice[axis] = JSON.parse(target.value);
    updateScatters();
  } }, options);
  const task = make("select", { id: `axis-${axis}-task`, "aria-label": `${name}: task`, onchange: ({ target }) => {
    axisTask[axis] = target.value;
    updateScatters();
  } }, make("option", { value: "" }), MAPPED.map((one) => make("option", { value: one }, one)));
  return make("div", { class: "tool" }, make("span", { class: "tool-name" }, name), measure, task);
}

function swapAxes() {
  [axisChoice.x, axisChoice.y, axisTask.x, axisTask.y] = [axisChoice.y, axisChoice.x, axisTask.y, axisTask.x];
  updateScatters();
}

function updateScatters() {
  if (!scatters.length) return; // they are drawn when there is time
  for (const axis of ["x", "y"]) {
    byId(`axis-${axis}`).value = JSON.stringify(axisChoice[axis]);
    byId(`axis-${axis}-task`).options[0].textContent = `task of the maps: ${state.task}`;
    byId(`axis-${axis}-task`).value = axisTask[axis];
  }
  scatters.forEach((scatter) => scatter.update());
}

/** The maps beside the scatters. */
const linkedPanels = () => scatters.map(({ panel }) => panel);
const paintScatters = () => scatters.forEach((scatter) => scatter.paint());
