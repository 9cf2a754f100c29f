// Which heads several tasks share: the strongest k of each, compared with what chance gives.

const MOST_SHARED = 24;

function drawOverlap() {
  section("overlap", "Heads that tasks share", `The strongest ${state.k} heads of each task by ${state.method}; ` +
    "the slider beside the maps changes how many.", overlapOf);
}

function overlapOf(atlas) {
  const tops = new Map(MAPPED.map((task) => [task, chosenMap(atlas, task)]).filter(([, map]) => map)
    .map(([task, map]) => [task, new Set(map.strongest(state.k))]));
  if (tops.size < 2) return empty("Only one task is mapped.");
  const tasks = [...tops.keys()];
  const expected = (state.k * state.k) / atlas.size;
  const table = matrix({
    rows: tasks, columns: tasks, kind: "amount", label: "Shared heads of pairs of tasks",
    cell: (a, b) => {
      if (a === b) return { text: "" };
      const shared = [...tops.get(a)].filter((i) => tops.get(b).has(i)).length;
      return { value: shared, text: String(shared), title: `${a} and ${b} share ${shared} of ${state.k}; chance gives ${show(expected, 2)}` };
    },
  });
  const counts = new Map();
  for (const top of tops.values()) for (const i of top) counts.set(i, (counts.get(i) ?? 0) + 1);
  const shared = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const alone = counts.size - shared.length;
  return make("div", { class: "overlap" },
    make("figure", {}, make("figcaption", {}, make("b", {}, "Heads in common"),
      make("span", {}, `chance gives ${show(expected, 2)} a pair`)), table),
    make("figure", {}, make("figcaption", {}, make("b", {}, `${plural(shared.length, "head")} in two or more tasks`),
      make("span", {}, `${alone} in one only`)), sharedTable(atlas, shared.slice(0, MOST_SHARED), tops)));
}

function sharedTable(atlas, shared, tops) {
  const dots = (i) => [...tops.keys()].map((task) => make("td", { class: tops.get(task).has(i) ? "on" : "off", title: task },
    make("i", { "aria-label": tops.get(task).has(i) ? `in ${task}` : null })));
  const rows = shared.map(([i, count]) => make("tr", { onclick: (event) => select(atlas, [i], event.shiftKey, i) },
    make("th", { scope: "row" }, make("button", { type: "button", class: "head" }, atlas.name(i))), dots(i), make("td", { class: "number" }, String(count))));
  const heads = [...tops.keys()].map((task) => make("th", { scope: "col" }, make("span", {}, task)));
  return make("div", { class: "scroll" }, make("table", { class: "dots" }, make("thead", {}, make("tr", {}, make("th"), heads, make("th"))), make("tbody", {}, rows)));
}
