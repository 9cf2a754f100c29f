// One task, large: its map, how fast importance falls off, and its strongest heads.

const focusPanels = [];
const MOST_ROWS = 20;

function drawFocus() {
  const focus = byId("focus");
  grid.hidden = state.view === "focus";
  focus.hidden = !grid.hidden;
  document.body.classList.toggle("focused", grid.hidden);
  if (focus.hidden) return;
  if (!focusPanels.length) {
    focusPanels.push(...ATLASES.map((atlas) => new Panel(atlas, state.task, true)));
    focus.append(make("nav", { class: "steps", "aria-label": "Tasks" }),
      make("div", { class: `focus-body${PAIR ? " two" : ""}` },
        focusPanels.map((panel) => make("div", { class: "focus-one" }, panel.element, make("div", { class: "details" })))));
  }
  focus.querySelector(".steps").replaceChildren(
    make("button", { type: "button", class: "back", onclick: () => change({ view: "grid" }) }, "← All tasks"),
    ...TASKS.map((task) => make("button", {
      type: "button", class: "step", "aria-current": task === state.task ? "true" : null,
      "data-step": task, onclick: () => change({ task }),
    }, task)));
  for (const panel of focusPanels) {
    panel.rename(state.task);
    panel.update();
    const map = panel.map;
    panel.element.nextSibling.replaceChildren(...(map ? [fallOff(panel.atlas, map), strongest(panel.atlas, map)] : []));
  }
}

/** The sorted sizes, with the null's band where the method drew one. */
function fallOff(atlas, map) {
  const sizes = [...map.sizes];
  const own = (curve) => curve.method === state.method && curve.task === state.task && curve.metric === "curve";
  const stored = state.measure === atlas.primary(state.method) ? atlas.diagnostics.curves.find(own) : null;
  const steps = sizes.map((_, n) => n).filter((n) => n < 60 || n % Math.ceil(sizes.length / 150) === 0);
  const series = [{ name: "size", kind: "top", x: steps.map((n) => n + 1), y: steps.map((n) => sizes[n]) }];
  if (stored?.low.some(finite)) {
    series.unshift({ name: "null", kind: "random", x: stored.place, y: stored.place.map(() => null), low: stored.low, high: stored.high });
  }
  const elbow = atlas.diagnostics.numbers.find((row) => row.metric === "elbow" && row.method === state.method && row.task === state.task);
  const half = heldBy(map, 0.5);
  const words = [`${plural(half, "head")} of ${sizes.length} hold half of the sum`,
    elbow ? `elbow at ${show(elbow.value)}` : null, stored ? "grey: what shuffled labels give" : null].filter(Boolean);
  return make("figure", {}, make("figcaption", {}, make("b", {}, "Sorted sizes"), make("span", {}, words.join(" · "))),
    lineChart({ series, xLabel: "rank", yLabel: "", label: `Sorted sizes of ${state.task}: ${words.join(", ")}`, width: 420, height: 180, zero: true }));
}

/** How many of the strongest heads hold a share of the sum of sizes. */
function heldBy(map, share) {
  let sum = 0;
  return map.sizes.findIndex((size) => (sum += size) >= share * map.mass * (1 - 1e-6)) + 1;
}

function strongest(atlas, map) {
  const rows = map.strongest(Math.min(state.k, MOST_ROWS)).map((i, n) => make("tr", {
    class: map.distinct(i) === false ? "faint" : null, "data-place": i,
    onclick: (event) => select(atlas, [i], event.shiftKey, i),
  }, make("td", {}, String(n + 1)), make("td", {}, make("button", { type: "button", class: "head" }, atlas.name(i))),
  make("td", { class: "number" }, show(map.value[i])),
  make("td", { class: "number" }, map.low ? `${show(map.low[i], 3)} to ${show(map.high[i], 3)}` : "–"),
  make("td", { class: "number" }, map.q ? chance(map.q[i]) : "–")));
  return make("figure", {}, make("figcaption", {}, make("b", {}, `Strongest ${rows.length}`),
    make("span", {}, map.spread ? `with the ${map.spread}` : "no error known")),
  make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ["", "head", state.measure === ROLES ? "facilitation" : state.measure, map.spread ?? "interval", "q"]
    .map((word, n) => make("th", { class: n > 1 ? "number" : null }, word.replaceAll("_", " "))))), make("tbody", {}, rows)));
}
