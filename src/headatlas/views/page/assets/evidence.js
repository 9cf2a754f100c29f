// What interventions on held-out examples say of the maps.

const wanted = { method: null, follow: null, mask: null, keep: null, specificity: null, hierarchy: null, steer: null };
const LINES = { top: "top", lowest: "lowest", random: "random", facilitation: "top", irrelevance: "lowest", interference: "third" };
const CONTRAST = "top minus random"; // a difference, not a level: said in words
const OWN = "own minus others";
const NONE = "none"; // no head kept: where the curves of kept heads begin
const ENOUGH_DRAWS = 20; // with fewer, a band is the range of the draws
const HIDDEN = new Set(["p_value", "cpr", "cmd", "alpha"]); // said in words beside a curve or a table

function drawEvidence() {
  const methods = [...new Set(ATLASES.flatMap((atlas) => atlas.evidence.map((row) => row.method)))];
  if (wanted.follow !== state.method && methods.includes(state.method)) wanted.method = state.method;
  wanted.follow = state.method; // a choice made here stays until the toolbar makes another
  if (!methods.includes(wanted.method)) wanted.method = methods[0] ?? null;
  section("evidence", "Do the maps hold?", `Heads chosen by ${methods.length === 1 ? `the maps of ${methods[0]}` : "a map"} are switched off, kept or pushed, and the model is ` +
    "scored on examples that no map has seen. Grey bands hold 95 % of random choices of as many heads, or all where there are few.", evidenceOf);
  if (methods.length > 1) {
    byId("evidence").querySelector(".section-head").append(segmented("Heads chosen by", methods.map((name) => [name, name]), wanted.method, (method) => {
      wanted.method = method;
      redrawEvidence();
    }));
  }
}

const redrawEvidence = () => keepingFocus(byId("evidence"), drawEvidence);

function evidenceOf(atlas) {
  const rows = atlas.evidence.filter((row) => row.method === wanted.method);
  if (!rows.length) return empty("These maps have not been tested by intervention yet. Test them with ", `headatlas verify ${atlas.folder}`);
  const tests = [...new Set(rows.map((row) => row.test))];
  return make("div", {}, tests.map((test) => {
    const own = rows.filter((row) => row.test === test);
    if (test === "specificity" || test === "hierarchy") return crossed(test, own);
    return test === "steer" ? changes(test, own) : curves(test, own);
  }));
}

const TEST_WORDS = {
  mask: ["Without the heads", "heads switched off"],
  keep: ["With these heads alone", "heads kept"],
  order: ["In the order of each score", "heads switched off"],
  specificity: ["Is the damage the task’s own?", ""],
  hierarchy: ["Do later steps need the heads of earlier ones?", ""],
  steer: ["Pushing the heads", ""],
};

/** The choice of a metric for one test; redraws the section. */
function metricChoice(test, rows) {
  const metrics = [...new Set(rows.map((row) => row.metric))].filter((name) => !HIDDEN.has(name));
  if (!metrics.includes(wanted[test])) wanted[test] = metrics.includes("logprob") ? "logprob" : metrics[0];
  const buttons = metrics.length > 1 ? segmented("Metric", metrics.map((name) => [name, name]), wanted[test], (name) => {
    wanted[test] = name;
    redrawEvidence();
  }) : null;
  return [wanted[test], buttons];
}

function block(test, words, buttons, body) {
  return make("div", { class: "block", "data-test": test }, make("div", { class: "block-head" },
    make("h3", {}, TEST_WORDS[test]?.[0] ?? test), make("p", {}, words), buttons), body);
}

function curves(test, rows) {
  const [metric, buttons] = metricChoice(test, rows);
  const own = rows.filter((row) => row.metric === metric && row.control !== CONTRAST);
  const shown = own.filter((row) => row.control !== NONE);
  const charts = [...new Set(own.map((row) => row.task))].map((task) => {
    const level = own.find((row) => row.task === task).baseline.find(finite) ?? null;
    const start = test === "mask" ? level : own.find((row) => row.task === task && row.control === NONE)?.value[0];
    const order = shown.filter((row) => row.task === task).sort((a, b) => (a.control === "top") - (b.control === "top"));
    const series = order.map((row) => ({ name: row.control, kind: LINES[row.control] ?? "third", ...fromZero(row, start) }));
    const note = aside(rows, task);
    return make("figure", { class: "small", "data-task": task }, make("figcaption", {}, make("b", {}, task), make("span", {}, note)),
      lineChart({ series, level, xLabel: TEST_WORDS[test]?.[1] ?? "heads", yLabel: metric, log: true,
        label: `${task}: ${metric} by number of heads. ${note}` }));
  });
  const draws = Math.max(...own.filter((row) => row.control === "random").flatMap((row) => row.draws), 0);
  const random = draws < ENOUGH_DRAWS ? `random (range of ${plural(draws, "draw")})` : `random (${plural(draws, "draw")})`;
  const names = [...new Set(shown.map((row) => row.control))].map((name) => [LINES[name] ?? "third", name === "random" ? random : name]);
  return block(test, "", make("div", { class: "side-by-side" }, key([...names, ["intact", "intact model"]]), buttons), make("div", { class: "charts" }, charts));
}

/** A series over k that begins with no head at all, where that value is known. */
function fromZero(row, start) {
  const series = { x: row.k, y: row.value, low: row.low, high: row.high };
  if (!finite(start) || row.k[0] === 0) return series;
  return Object.fromEntries(Object.entries(series).map(([name, values]) => [name, [name === "x" ? 0 : start, ...values]]));
}

/** What is said in words beside a curve: how far and from where on it is beyond chance, and areas under it. */
function aside(rows, task) {
  const words = [];
  const p = rows.find((row) => row.task === task && row.metric === "p_value" && row.control === "top");
  const at = p ? p.value.findIndex((value) => finite(value) && value < LEVEL) : -1;
  if (p) words.push(at >= 0 ? `beyond random from ${plural(p.k[at], "head")}` : "not beyond random");
  const contrast = rows.find((row) => row.task === task && row.metric === "logprob" && row.control === CONTRAST);
  if (contrast) {
    const [value, low, high] = ["value", "low", "high"].map((name) => signed(contrast[name].at(-1), 2));
    words.push(`${CONTRAST} ${value} (${low} to ${high}) nats with ${contrast.k.at(-1)}`);
  }
  for (const metric of ["cpr", "cmd"]) {
    const row = rows.find((one) => one.task === task && one.metric === metric && one.control === "top");
    if (row) words.push(`${metric.toUpperCase()} ${show(row.value[0], 2)}`);
  }
  return words.join(", ");
}

/** Heads of one task (rows) against the task that is measured (columns), as changes from the intact model. */
function crossed(test, rows) {
  const [metric, buttons] = metricChoice(test, rows);
  const own = rows.filter((row) => row.metric === metric);
  const measured = (row) => row.eval_task ?? "all tasks";
  const find = (task, other, control) => own.find((row) => row.task === task && measured(row) === other && row.control === control);
  const tasks = [...new Set(own.map((row) => row.task))];
  const others = [...new Set(own.filter((row) => row.control !== OWN).map(measured))];
  const contrasted = own.some((row) => row.control === CONTRAST);
  const table = matrix({
    rows: tasks, columns: own.some((row) => row.control === OWN) ? [...others, OWN] : others, corner: "heads ↓  measured →", label: `${test}: change of ${metric}`,
    cell: (task, other) => {
      if (other === OWN) return contrastCell(find(task, task, OWN));
      const [row, random] = ["top", "random"].map((control) => find(task, other, control));
      return contrastCell(find(task, other, CONTRAST), row, random) ?? changeCell(row, { random, strong: task === other });
    },
  });
  const words = test === "specificity" ? `Change of ${metric} when the heads of a row are switched off. A specific map hurts on its outlined diagonal only.`
    : `Change of ${metric} of a later step (column) when the heads of an earlier function (row) are switched off` +
      `${contrasted ? ", less that of as many random heads" : own.some((row) => row.control === "random") ? ", with as many random heads below" : ""}.`;
  return block(test, `${words} Bold: the 95 % interval excludes 0.`, buttons, table);
}

/** The last of a column less the intact model's; a contrast has no baseline: it is a change already. */
const shift = (row, name = "value") => (row && finite(row[name].at(-1)) ? row[name].at(-1) - (row.baseline.at(-1) ?? 0) : null);
const excludesZero = (low, high) => finite(low) && finite(high) && (low > 0 || high < 0);
const reach = (low, high) => (finite(low) && finite(high) ? `${signed(low, 2)} to ${signed(high, 2)}` : null);

/** A change from the intact model, with what random heads do or its interval below it. */
function changeCell(row, { random = null, strong = false, interval = false }) {
  const [value, low, high] = ["value", "low", "high"].map((name) => shift(row, name));
  if (value === null) return null;
  const small = random ? `random ${signed(shift(random), 2)}` : interval ? reach(low, high) : null;
  return {
    value, text: signed(value, 2), small, strong, sure: excludesZero(low, high),
    title: `${row.metric} ${show(row.baseline.at(-1), 3)} → ${show(row.value.at(-1), 3)}${reach(low, high) ? `, change ${reach(low, high)}` : ""}, ${plural(row.k.at(-1) ?? 0, "head")}`,
  };
}

/** A difference of two changes with its interval; both stand in the title where they are known. */
function contrastCell(row, top, random) {
  const [value, low, high] = ["value", "low", "high"].map((name) => shift(row, name));
  if (value === null) return null;
  const both = top && random ? `: top ${signed(shift(top), 2)}, random ${signed(shift(random), 2)}` : "";
  return { value, text: signed(value, 2), small: reach(low, high), sure: excludesZero(low, high), title: `${row.control}${both}, ${plural(row.k.at(-1) ?? 0, "head")}` };
}

/** Single interventions: heads of a task (rows), what was done and where it was measured (columns), as changes. */
function changes(test, rows) {
  const [metric, buttons] = metricChoice(test, rows);
  const own = rows.filter((row) => row.metric === metric && finite(row.value[0]) && finite(row.baseline[0]));
  const place = (row) => (row.eval_task && row.eval_task !== row.task ? `${row.control}, ${row.eval_task}` : row.control);
  const table = matrix({
    rows: [...new Set(own.map((row) => row.task))], columns: [...new Set(own.map(place))], corner: "heads ↓  what was done →", label: `${test}: change of ${metric}`,
    cell: (task, column) => changeCell(own.find((one) => one.task === task && place(one) === column), { interval: true }),
  });
  const strengths = rows.filter((row) => row.metric === "alpha").map((row) => `${row.task} ${show(row.value[0], 2)}`);
  const words = `Change of ${metric} from the intact model with its 95 % interval, on the task itself unless another is named. Bold: the interval excludes 0.` +
    (strengths.length ? ` Strength of steering, chosen on other examples: ${strengths.join(", ")}.` : "");
  return block(test, words, buttons, table);
}
