// The side panel: choosing the strongest heads, the card of one head, the selection in every task.

const MOST_EVIDENCE = 6;

function drawSide() {
  const side = byId("side");
  if (!side.firstChild) side.append(picker(), make("div", { id: "card", class: "box" }), make("div", { id: "selection", class: "box" }));
  byId("pick-k").value = state.k;
  byId("pick-text").textContent = String(state.k);
  drawPickTasks();
  drawCard();
  drawSelection();
}

function picker() {
  const most = Math.min(Math.max(...ATLASES.map((atlas) => atlas.size)), 128);
  return make("div", { class: "box pick" },
    make("label", { for: "pick-k" }, "Strongest ", make("output", { id: "pick-text" }), " heads of"),
    make("select", { id: "pick-task", "aria-label": "Task", onchange: (event) => pickTop({ task: event.target.value }) }),
    make("input", { id: "pick-k", type: "range", min: 1, max: most, value: state.k, oninput: (event) => pickTop({ k: +event.target.value }) }),
    make("p", { id: "pick-note", class: "quiet" }));
}

/** Offer the tasks that the method has maps of; say so where the task in view is not one of them. */
function drawPickTasks() {
  const [tasks, node] = [tasksOf(state.method), byId("pick-task")];
  if (tasks.join("\n") !== [...node.options].map((option) => option.value).join("\n")) {
    node.replaceChildren(...tasks.map((task) => make("option", { value: task }, task)));
  }
  node.value = state.task;
  byId("pick-note").textContent = tasks.includes(state.task) ? "" : `${state.task}: ${whyNoMap(ATLASES[state.atlas], state.task)}.`;
}

/** Select the strongest k heads of the task, in the atlas that was looked at last if it has a map. */
function pickTop(patch = {}) {
  change(patch);
  const atlas = [ATLASES[state.atlas], ...ATLASES].find((own) => chosenMap(own, state.task));
  if (!atlas) return;
  const heads = chosenMap(atlas, state.task).strongest(state.k);
  select(atlas, heads, false, heads[0]);
}

function drawCard() {
  const card = byId("card");
  const atlas = ATLASES[state.atlas];
  const i = state.cell;
  card.classList.toggle("bare", i === null);
  if (i === null) {
    card.replaceChildren(make("h3", {}, "A head’s own card"),
      empty("Click a head, drag over several, or pick the strongest above. They are outlined in every task."));
    return;
  }
  const group = atlas.kvGroup(i);
  const shared = group.filter((other) => other !== i).map((other) => `H${other % atlas.heads}`);
  const kv = `kv group ${Math.floor((i % atlas.heads) / group.length)}${shared.length ? `, shared with ${listed(shared)}` : ", of its own"}`;
  card.replaceChildren(
    make("h3", { class: "card-name" }, make("span", {}, atlas.name(i)), PAIR ? make("small", {}, atlas.label) : null),
    make("p", { class: "quiet" }, `layer ${atlas.layerOf(i)} of ${atlas.layers}, ${kv}`),
    valuesInTasks(atlas, i), make("div", { id: "card-rest" }));
  later(drawCardRest);
}

/** What needs the maps of all methods; drawn when there is time. */
function drawCardRest() {
  const atlas = ATLASES[state.atlas];
  if (state.cell === null) return;
  const parts = [roleLines(atlas, state.cell), ranksByMethod(atlas, state.cell), including(atlas, state.cell)];
  byId("card-rest")?.replaceChildren(...parts.filter(Boolean));
}

const LOOKS = { first: "the first token", previous: "the previous token", current: "its own token",
  same: "an earlier copy of its token", after_same: "what followed an earlier copy (induction)" };
const LOOKED = "First, previous and own token: shares on the texts of the tasks. Copies: shares on random tokens that are repeated.";

/** Where attention goes, from the largest share down; what gets less than a tenth is not named. */
function looksAt(atlas, i) {
  const shares = Object.entries(atlas.attention).map(([look, values]) => [look, values[i]]).filter(([, share]) => finite(share));
  if (!shares.length) return "not measured";
  const large = shares.filter(([, share]) => share >= 0.1).sort((a, b) => b[1] - a[1]);
  return large.map(([look, share]) => `${LOOKS[look] ?? look} ${Math.round(100 * share)} %`).join(", ") || "nothing in particular";
}

/** What the head looks at, and what gates say of it. */
function roleLines(atlas, i) {
  const lines = [];
  lines.push(["looks at", looksAt(atlas, i)]);
  for (const { name } of atlas.methods.filter((method) => atlas.measures(method.name).includes(ROLES))) {
    const found = {};
    for (const task of MAPPED) {
      const map = atlas.map(task, name, ROLES, "mean");
      if (map) (found[roleName(map.value[i], map.second.value[i])] ??= []).push(task);
    }
    const words = Object.entries(found).filter(([role]) => role !== "neither").map(([role, tasks]) => `${role} in ${listed(tasks)}`);
    lines.push([name, words.join("; ") || "neither helps nor hurts in any task"]);
  }
  return make("dl", { class: "roles" }, lines.map(([word, text]) => [make("dt", {}, word), make("dd", word === "looks at" ? { title: LOOKED } : {}, text)]));
}

function valuesInTasks(atlas, i) {
  const maps = MAPPED.map((task) => [task, chosenMap(atlas, task)]).filter(([, map]) => map && !Number.isNaN(map.value[i]));
  if (!maps.length) return empty(`Not measured by ${state.method}.`);
  const ends = maps.flatMap(([, map]) => [map.value[i], map.low?.[i] ?? 0, map.high?.[i] ?? 0]).filter(finite);
  const [from, to] = BOUNDED.has(state.measure) ? [0, 1] : [Math.min(0, ...ends), Math.max(0, ...ends) || 1];
  return make("table", { class: "tiny" }, make("caption", {}, `${state.measure === ROLES ? "facilitation" : state.measure.replaceAll("_", " ")} by ${state.method}`),
    make("tbody", {}, maps.map(([task, map]) => make("tr", { class: map.distinct(i) === false ? "faint" : null, "data-task": task },
      make("th", { scope: "row" }, task),
      make("td", {}, bar(map.value[i], { low: map.low?.[i], high: map.high?.[i], from, to, kind: map.value[i] < 0 ? "negative" : "" })),
      make("td", { class: "number" }, show(map.value[i], 3))))));
}

function ranksByMethod(atlas, i) {
  if (atlas.methods.length < 2) return null;
  const names = atlas.methods.map((method) => method.name);
  return make("div", { class: "scroll" }, make("table", { class: "tiny ranks" }, make("caption", {}, `rank by method, of ${atlas.size}`),
    make("thead", {}, make("tr", {}, make("th"), names.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, MAPPED.map((task) => make("tr", {}, make("th", { scope: "row" }, task), names.map((name) => {
      const map = atlas.ranking(task, name);
      const rank = map?.rank(i);
      if (!rank) return make("td", { class: "number quiet" }, "–");
      const share = rank / map.count;
      return make("td", { class: `number${share <= 0.05 ? " high" : ""}`, title: `${show(map.value[i], 3)}, rank ${rank} of ${map.count}` }, String(rank));
    }))))));
}

/** Tests whose k heads include this one, by its place in the map that chose them: one line a test and task. */
function including(atlas, i) {
  if (!atlas.evidence.length) return make("p", { class: "quiet" }, "No intervention has tested these maps yet.");
  const found = [];
  for (const rows of tested(atlas)) {
    const [{ method, test, task, k }] = rows;
    const place = atlas.ranking(task, method)?.helping(i);
    const at = place ? k.findIndex((size) => size !== null && size >= place) : -1;
    if (at >= 0) found.push({ method, test, task, k: k[at], place, told: outcome(rows, at) });
  }
  if (!found.length) return make("p", { class: "quiet" }, "No test includes this head.");
  found.sort((a, b) => a.place - b.place);
  const lines = found.map((one) => make("li", {}, make("b", {}, `${one.test} top ${one.k} of ${one.task}`), ` (${one.method}, place ${one.place}): ${one.told}`));
  const more = lines.splice(MOST_EVIDENCE);
  return make("div", { class: "includes" }, make("h4", {}, "Tests that include it"), make("ul", {}, lines),
    more.length ? make("details", {}, make("summary", {}, `${more.length} more`), make("ul", {}, more)) : null);
}

const CHOSEN = { mask: "top", keep: "top", specificity: "top", hierarchy: "top", steer: "steer" }; // the control that takes the heads of the map

/** The rows of each test of a task by one metric: the log-probability where it was measured. */
function tested(atlas) {
  const groups = new Map();
  for (const row of atlas.evidence.filter(({ test, control, metric }) => CHOSEN[test] === control && !HIDDEN.has(metric))) {
    const key = atlas.key(row.method, row.test, row.task);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((rows) => {
    const { metric } = rows.find((row) => row.metric === "logprob") ?? rows[0];
    return rows.filter((row) => row.metric === metric);
  });
}

/** What came of a test, on the task itself where it was measured there. */
function outcome(rows, at) {
  const own = rows.find((row) => row.eval_task === row.task) ?? (rows.length === 1 ? rows[0] : null);
  if (own) return `${own.metric} ${finite(own.baseline[at]) && own.metric !== "fraction" ? `${show(own.baseline[at], 3)} → ` : ""}${show(own.value[at], 3)}`;
  const shifts = rows.map((row) => row.value[at] - row.baseline[at]).filter(finite);
  return `${rows[0].metric} ${signed(Math.min(...shifts), 2)} to ${signed(Math.max(...shifts), 2)} in ${plural(shifts.length, "later step")}`;
}

function drawSelection() {
  const node = byId("selection");
  const names = selectedNames();
  node.hidden = !names.length;
  if (!names.length) return;
  const atlas = ATLASES[state.atlas].group === state.group ? ATLASES[state.atlas] : ATLASES[state.group];
  const places = [...state.selected];
  const shares = MAPPED.map((task) => [task, chosenMap(atlas, task)]).filter(([, map]) => map?.mass)
    .map(([task, map]) => [task, places.reduce((sum, i) => sum + (Math.abs(map.value[i]) || 0), 0) / map.mass]);
  const most = Math.max(...shares.map(([, share]) => share), 0.01);
  node.replaceChildren(
    make("h3", {}, `${plural(names.length, "head")} selected`),
    make("p", { class: "names", id: "names" }, names.join(",")),
    make("div", { class: "buttons" }, make("button", { type: "button", id: "copy", title: "Copy the names (c)", onclick: copySelection }, "Copy"),
      make("button", { type: "button", id: "clear", title: "Select nothing (Esc)", onclick: () => change({ selected: new Set(), cell: null }) }, "Clear")),
    make("table", { class: "tiny" }, make("caption", {}, `their share of each map’s sum (by chance ${percent(places.length / atlas.size)})`),
      make("tbody", {}, shares.map(([task, share]) => make("tr", {}, make("th", { scope: "row" }, task),
        make("td", {}, bar(share, { to: most, mark: places.length / atlas.size })), make("td", { class: "number" }, percent(share)))))));
}

async function copySelection() {
  const text = selectedNames().join(",");
  if (!text) return;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page that may not use the clipboard can still copy what is marked
    getSelection().selectAllChildren(byId("names"));
    document.execCommand("copy");
    getSelection().removeAllRanges();
  }
  byId("live").textContent = `Copied ${plural(state.selected.size, "head")}.`;
  const button = byId("copy");
  if (button) button.textContent = "Copied";
}
