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

/** The sorted sizes, with the band of the null where the method drew one. */
function fallOff(atlas, map) {
  const sizes = [...map.sizes];
  const label = measureLabel(state.method, plainMeasure(state.method, state.measure), state.task);
  const isPrimary = state.measure === methodInfo(state.method).primary;
  const band = isPrimary ? atlas.nulls.find((entry) => entry.method === state.method && entry.task === state.task) : null;
  const steps = sizes.map((_, n) => n).filter((n) => n < 60 || n % Math.ceil(sizes.length / 150) === 0);
  const series = [{ name: "size", line: "chosen-0", x: steps.map((n) => n + 1), y: steps.map((n) => sizes[n]) }];
  if (band) {
    series.unshift({ name: "null", line: "reference", x: band.rank, y: band.rank.map(() => null), low: band.null_low, high: band.null_high });
  }
  const words = [`${plural(map.summary.half, "head")} of ${map.summary.measured} hold half of the sum`,
    finite(band?.elbow) ? `elbow at ${band.elbow}` : null, band ? "grey: what the null gives" : null].filter(Boolean);
  return make("figure", {}, make("figcaption", {}, make("b", {}, "Sizes, sorted"), make("span", {}, words.join(" · "))),
    lineChart({ series, xLabel: "heads by size", yLabel: label, label: `Sorted sizes of ${state.task}: ${words.join(", ")}`, width: 420, height: 180, zero: true }));
}

function strongest(atlas, map) {
  const first = atlas.ranking(state.task, state.method).first(Math.min(state.k, MOST_ROWS));
  const rows = first.map((index, n) => make("tr", {
    class: map.distinct(index) === false ? "faint" : null, "data-head": index,
    onclick: (event) => select(atlas, [index], event.shiftKey, index),
  }, make("td", {}, String(n + 1)), make("td", {}, make("button", { type: "button", class: "head" }, atlas.name(index))),
  make("td", { class: "number" }, show(map.value[index])),
  make("td", { class: "number" }, map.low ? `${show(map.low[index], 3)} to ${show(map.high[index], 3)}` : "–"),
  make("td", { class: "number" }, map.q ? pValue(map.q[index]) : "–")));
  const heads = ["rank", "head", measureLabel(state.method, plainMeasure(state.method, state.measure), state.task), map.spread ?? "interval", "q"];
  return make("figure", {}, make("figcaption", {}, make("b", {}, `Strongest ${rows.length}`),
    make("span", {}, `${rankingRule()}${map.spread ? "" : "; no error is known"}`)),
  make("table", { class: "plain" }, make("thead", {}, make("tr", {}, heads.map((word, n) => make("th", { class: n > 1 ? "number" : null }, word)))),
    make("tbody", {}, rows)));
}
