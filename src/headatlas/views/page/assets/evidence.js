// What interventions on held-out examples say about the maps. Tests explain themselves; their layout decides the drawing.

const evidenceChoice = { method: null, followed: null, metrics: new Map() };
const LAYOUTS = { charts: drawCharts, matrix: drawMatrix, rows: drawRows };

function drawEvidence() {
  const methods = [...new Set(ATLASES.flatMap((atlas) => atlas.evidence.map((outcome) => outcome.method)))];
  if (evidenceChoice.followed !== state.method && methods.includes(state.method)) evidenceChoice.method = state.method;
  evidenceChoice.followed = state.method; // a choice made here stays until the toolbar makes another
  if (!methods.includes(evidenceChoice.method)) evidenceChoice.method = methods[0] ?? null;
  const rule = evidenceChoice.method ? ` Heads are those that ${evidenceChoice.method} ranks first: ${methodInfo(evidenceChoice.method).ranking}.` : "";
  section("evidence", "Do the maps hold?", `Interventions on examples that no map has seen: each tests the maps, none proves them.${rule} ` +
    "Bands of random heads hold 95 % of the draws, or all where there are few.", evidenceIn);
  if (methods.length > 1) {
    const buttons = methods.map((name) => [name, methodInfo(name).title]);
    byId("evidence").querySelector(".section-head").append(segmented("Heads chosen by", buttons, evidenceChoice.method, (method) => {
      evidenceChoice.method = method;
      redrawEvidence();
    }));
  }
}

const redrawEvidence = () => keepingFocus(byId("evidence"), drawEvidence);

function evidenceIn(atlas) {
  const outcomes = atlas.evidence.filter((outcome) => outcome.method === evidenceChoice.method);
  if (!outcomes.length) return empty("These maps have not been tested by intervention yet. Test them with ", `headatlas verify ${atlas.folder}`);
  return make("div", {}, outcomes.map(drawOutcome));
}

function drawOutcome(outcome) {
  const { test, metrics } = outcome;
  const shown = metrics.find(({ metric }) => metric === evidenceChoice.metrics.get(test)) ?? metrics[0];
  const buttons = metrics.length > 1 ? segmented("Metric", metrics.map(({ metric, label }) => [metric, label]), shown.metric, (metric) => {
    evidenceChoice.metrics.set(test, metric);
    redrawEvidence();
  }) : null;
  return make("div", { class: "block", "data-test": test },
    make("div", { class: "block-head" }, make("h3", {}, outcome.title), make("p", {}, outcome.question), buttons),
    ...(shown ? LAYOUTS[outcome.layout](outcome, shown) : [empty("It gave no outcome.")]), howItWasTested(outcome));
}

/** What the controls mean, and with what settings the test was run. */
function howItWasTested({ test, controls, settings }) {
  const pairs = (entries) => entries.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
  return make("details", { class: "how" }, make("summary", {}, `How ${test} was run`),
    controls.length ? make("dl", { class: "facts" }, pairs(controls.map(({ name, meaning }) => [name, meaning]))) : null,
    settings.length ? make("dl", { class: "facts settings" }, pairs(settings)) : empty("Its settings are not recorded."));
}

function drawCharts({ axis }, { value: words, charts, key }) {
  const lines = [...key, ...(charts.some(({ intact }) => finite(intact)) ? [["intact", "intact model"]] : [])];
  return [lineKey(lines), make("div", { class: "charts" }, charts.map(({ task, note, intact, series }) =>
    make("figure", { class: "small", "data-task": task }, make("figcaption", {}, make("b", {}, task), make("span", {}, note)),
      lineChart({
        series: series.map(({ control, line, k, value, low, high }) => ({ name: control, line, x: k, y: value, low, high })),
        level: intact, xLabel: axis, yLabel: words, log: true, label: `${task}: ${words} by number of heads. ${note}`,
      }))))];
}

function drawMatrix({ title }, { label, note, corner, rows, columns, cells }) {
  return [make("p", { class: "quiet note-line" }, note), matrix({ rows, columns, cells, corner, label: `${title}: ${label}` })];
}

/** A test whose shape the page does not know: its rows as they are. */
function drawRows(_, { columns, rows }) {
  return [make("div", { class: "scroll" }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, columns.map((name) => make("th", {}, name)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((text) => make("td", {}, text)))))))];
}
