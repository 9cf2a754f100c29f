// The side panel: choosing the strongest heads, the card of one head, the selection in every task.

const MOST_EVIDENCE = 6;
const WORTH_NAMING = 0.1; // a smaller share of a description is not named

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

/** Offer the tasks that the method has maps of; say by what rule heads are ranked, or why there is no map. */
function drawPickTasks() {
  const [tasks, node] = [tasksOf(state.method), byId("pick-task")];
  if (tasks.join("\n") !== [...node.options].map((option) => option.value).join("\n")) {
    node.replaceChildren(...tasks.map((task) => make("option", { value: task }, task)));
  }
  node.value = state.task;
  byId("pick-note").textContent = tasks.includes(state.task) ? `Ranked by ${state.method}: ${rankingRule()}.`
    : `${state.task}: ${whyNoMap(ATLASES[state.atlas], state.task)}.`;
}

/** Select the strongest k heads of the task, in the atlas that was looked at last if it has a map. */
function pickTop(patch = {}) {
  change(patch);
  const atlas = [ATLASES[state.atlas], ...ATLASES].find((candidate) => candidate.ranking(state.task, state.method));
  if (!atlas) return;
  const heads = atlas.ranking(state.task, state.method).first(state.k);
  select(atlas, heads, false, heads[0]);
}

function drawCard() {
  const card = byId("card");
  const atlas = ATLASES[state.atlas];
  const index = state.cell;
  card.classList.toggle("bare", index === null);
  if (index === null) {
    card.replaceChildren(make("h3", {}, "One head"),
      empty("Click a head, drag over several, or pick the strongest above. They are outlined in every task."));
    return;
  }
  const groups = atlas.model.kv_group;
  const group = groups[index % atlas.heads];
  const others = groups.flatMap((other, head) => (other === group && head !== index % atlas.heads ? [`H${head}`] : []));
  const kv = `kv group ${group}${others.length ? `, shared with ${listed(others)}` : ", not shared"}`;
  card.replaceChildren(
    make("h3", { class: "card-name" }, make("span", {}, atlas.name(index)), PAIR ? make("small", {}, atlas.label) : null),
    make("p", { class: "quiet" }, `layer ${atlas.layerOf(index)} of ${atlas.layers}, ${kv}`),
    functionLines(atlas, index), portraitLine(atlas, index), valuesInTasks(atlas, index), make("div", { id: "card-rest" }));
  later(drawCardRest);
}

/** What the head is specifically for. */
function functionLines(atlas, index) {
  if (!atlas.functions) return null;
  const list = functionsAt(atlas, index);
  if (!list?.length) return make("p", { class: "for quiet" }, list ? "Not shown to be for one task more than for the others." : `Not measured by ${atlas.functions.method}.`);
  return make("ul", { class: "for" }, list.map(({ task, share, low, high, specific, q }) => make("li", {}, functionChip(task),
    make("span", {}, make("b", {}, `For ${FUNCTIONS[task].task}: `), `${sharePercent(share)} of its positive effects (${sharePercent(low)} to ${sharePercent(high)}), ` +
      `${sharePercent(specific)} more than of the other tasks; q ${pValue(q)}`))));
}

/** What needs the maps of all methods; drawn when there is time. */
function drawCardRest() {
  const atlas = ATLASES[state.atlas];
  if (state.cell === null) return;
  const rest = [descriptionLines(atlas, state.cell), ranksByMethod(atlas, state.cell), testsWith(atlas, state.cell)];
  byId("card-rest")?.replaceChildren(...rest.filter(Boolean));
}

/** What a description says of a head, from the largest number down. */
function described({ common, measures }, index) {
  const known = measures.map(({ words, share, values }) => [words, share, decodeNumbers(values)?.[index]]).filter(([, , value]) => finite(value));
  if (!known.length) return "not measured";
  const named = known.filter(([, share, value]) => !share || value >= WORTH_NAMING).sort((a, b) => b[2] - a[2]);
  const texts = named.map(([words, share, value]) => `${words} (${share ? percent(value) : show(value, 3)})`);
  return texts.length ? [common, texts.join(", ")].filter(Boolean).join(" ") : "nothing in particular";
}

/** What methods that describe heads say of it, and its role in every task. */
function descriptionLines(atlas, index) {
  const lines = atlas.descriptions.map((description) => [description.title, described(description, index), description.meaning]);
  for (const method of atlas.methods.filter(({ roles }) => roles)) {
    const tasksByRole = {};
    for (const task of MAPPED) {
      const map = atlas.map(task, method.name, ROLES, "mean");
      if (map) (tasksByRole[roleName(map.value[index], map.second.value[index])] ??= []).push(task);
    }
    const [neither] = PAGE.role_colours[0];
    const words = Object.entries(tasksByRole).filter(([role]) => role !== neither).map(([role, tasks]) => `${role} in ${listed(tasks)}`);
    lines.push([method.title, words.join("; ") || "no role in any task", method.meaning]);
  }
  return make("dl", { class: "roles" }, lines.map(([word, text, title]) => [make("dt", {}, word), make("dd", { title }, text)]));
}

function valuesInTasks(atlas, index) {
  const maps = MAPPED.map((task) => [task, chosenMap(atlas, task)]).filter(([, map]) => map && !Number.isNaN(map.value[index]));
  if (!maps.length) return empty(`Not measured by ${state.method}.`);
  const ends = maps.flatMap(([, map]) => [map.value[index], map.low?.[index] ?? 0, map.high?.[index] ?? 0]).filter(finite);
  const [from, to] = isBounded() ? [0, 1] : [Math.min(0, ...ends), Math.max(0, ...ends) || 1];
  const measure = plainMeasure(state.method, state.measure);
  return make("table", { class: "tiny" }, make("caption", {}, `${measureLabel(state.method, measure)} by ${state.method}`),
    make("tbody", {}, maps.map(([task, map]) => make("tr", { class: map.distinct(index) === false ? "faint" : null, "data-task": task },
      make("th", { scope: "row", title: measureLabel(state.method, measure, task) }, task),
      make("td", {}, bar(map.value[index], { low: map.low?.[index], high: map.high?.[index], from, to, kind: map.value[index] < 0 ? "negative" : "" })),
      make("td", { class: "number" }, show(map.value[index], 3))))));
}

function ranksByMethod(atlas, index) {
  const { methods } = atlas;
  const rules = methods.map(({ name, ranking }) => `${name}: ${ranking}`).join("; ");
  return make("div", { class: "scroll" }, make("table", { class: "tiny ranks" }, make("caption", {}, `rank by method, of ${atlas.size} heads`),
    make("thead", {}, make("tr", {}, make("th"), methods.map(({ name, ranking }) => make("th", { scope: "col", title: ranking }, name)))),
    make("tbody", {}, MAPPED.map((task) => make("tr", {}, make("th", { scope: "row" }, task), methods.map(({ name, primary }) => {
      const ranking = atlas.ranking(task, name);
      const rank = ranking?.rank(index);
      if (!rank) return make("td", { class: "number quiet" }, "–");
      const value = atlas.map(task, name, primary, "mean").value[index];
      return make("td", { class: `number${rank / ranking.measured <= 0.05 ? " high" : ""}`, title: `${show(value, 3)}, rank ${rank} of ${ranking.measured}` }, String(rank));
    }))))), make("p", { class: "quiet" }, rules));
}

/** Tests in which this head took part, by its rank in the map that chose the heads: one line per test and task. */
function testsWith(atlas, index) {
  if (!atlas.evidence.length) return make("p", { class: "quiet" }, "No intervention has tested these maps yet.");
  const entries = atlas.evidence.flatMap(({ method, test, heads }) => heads.flatMap(({ task, k, outcomes }) => {
    const rank = atlas.ranking(task, method)?.rank(index);
    const smallest = rank ? k.findIndex((count) => count >= rank) : -1;
    return smallest < 0 ? [] : [{ rank, text: `${test} with the top ${k[smallest]} of ${task}`, rest: ` (${method}, rank ${rank}): ${outcomes[smallest]}` }];
  }));
  if (!entries.length) return make("p", { class: "quiet" }, "No test includes this head.");
  entries.sort((a, b) => a.rank - b.rank);
  const lines = entries.map(({ text, rest }) => make("li", {}, make("b", {}, text), rest));
  const more = lines.splice(MOST_EVIDENCE);
  return make("div", { class: "includes" }, make("h4", {}, "Tests that include it"), make("ul", {}, lines),
    more.length ? make("details", {}, make("summary", {}, `${more.length} more`), make("ul", {}, more)) : null);
}

function drawSelection() {
  const node = byId("selection");
  const names = selectedNames();
  node.hidden = !names.length;
  if (!names.length) return;
  const atlas = ATLASES[state.atlas].group === state.group ? ATLASES[state.atlas] : ATLASES[state.group];
  const indices = [...state.selected];
  const shares = MAPPED.map((task) => [task, chosenMap(atlas, task)]).filter(([, map]) => map?.summary.total)
    .map(([task, map]) => [task, indices.reduce((sum, index) => sum + (Math.abs(map.value[index]) || 0), 0) / map.summary.total]);
  const most = Math.max(...shares.map(([, share]) => share), 0.01);
  const expected = indices.length / atlas.size;
  node.replaceChildren(
    make("h3", {}, `${plural(names.length, "head")} selected`),
    make("p", { class: "names", id: "names" }, names.join(",")),
    make("div", { class: "buttons" }, make("button", { type: "button", id: "copy", title: "Copy the names (c)", onclick: copySelection }, "Copy"),
      make("button", { type: "button", id: "clear", title: "Select nothing (Esc)", onclick: () => change({ selected: new Set(), cell: null }) }, "Clear")),
    make("table", { class: "tiny" }, make("caption", {}, `share of the sum of sizes of each map (by chance ${percent(expected)})`),
      make("tbody", {}, shares.map(([task, share]) => make("tr", {}, make("th", { scope: "row" }, task),
        make("td", {}, bar(share, { to: most, mark: expected })), make("td", { class: "number" }, percent(share)))))));
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
