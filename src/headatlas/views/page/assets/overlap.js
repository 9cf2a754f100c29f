// Which heads several tasks share: the strongest k of each, compared with what chance gives.

const MOST_SHARED = 24;

function drawOverlap() {
  section("overlap", "Heads that tasks share", `The strongest ${state.k} heads of each task by ${state.method} (${rankingRule()}); ` +
    "the slider beside the maps changes how many.", overlapIn);
}

function overlapIn(atlas) {
  const rankings = new Map(MAPPED.map((task) => [task, atlas.ranking(task, state.method)]).filter(([, ranking]) => ranking));
  if (rankings.size < 2) return empty("Only one task is mapped.");
  const tops = new Map([...rankings].map(([task, ranking]) => [task, new Set(ranking.first(state.k))]));
  const tasks = [...tops.keys()];
  const expected = (a, b) => expectedOverlap(rankings.get(a), rankings.get(b), state.k);
  const table = matrix({
    rows: tasks, columns: tasks, kind: "amount", label: "Shared heads of pairs of tasks",
    cells: tasks.map((a) => tasks.map((b) => {
      if (a === b) return { text: "" };
      const shared = [...tops.get(a)].filter((index) => tops.get(b).has(index)).length;
      return { value: shared, text: String(shared), title: `${a} and ${b} share ${shared} of ${state.k}; chance gives ${show(expected(a, b), 2)}` };
    })),
  });
  const counts = new Map();
  for (const top of tops.values()) for (const index of top) counts.set(index, (counts.get(index) ?? 0) + 1);
  const shared = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return make("div", { class: "overlap" },
    make("figure", {}, make("figcaption", {}, make("b", {}, "Heads in common"),
      make("span", {}, `chance gives ${show(expected(tasks[0], tasks[1]), 2)} per pair`)), table),
    make("figure", {}, make("figcaption", {}, make("b", {}, `${plural(shared.length, "head")} in two or more tasks`),
      make("span", {}, `${counts.size - shared.length} in one only`)), sharedTable(atlas, shared.slice(0, MOST_SHARED), tops)));
}

/** How many heads two random choices of k among the measured heads have in common. */
function expectedOverlap(first, second, k) {
  const complete = first.measured === first.ranks.length;
  const common = complete ? second.measured : first.order.filter((index) => second.rank(index)).length;
  return (Math.min(k, first.measured) * Math.min(k, second.measured) * common) / (first.measured * second.measured);
}

function sharedTable(atlas, shared, tops) {
  const dots = (index) => [...tops].map(([task, top]) => make("td", { class: top.has(index) ? "on" : "off", title: task },
    make("i", { "aria-label": top.has(index) ? `in ${task}` : null })));
  const rows = shared.map(([index, count]) => make("tr", { onclick: (event) => select(atlas, [index], event.shiftKey, index) },
    make("th", { scope: "row" }, make("button", { type: "button", class: "head" }, atlas.name(index))), dots(index),
    make("td", { class: "number" }, String(count))));
  const heads = [...tops.keys()].map((task) => make("th", { scope: "col" }, make("span", {}, task)));
  return make("div", { class: "scroll" }, make("table", { class: "dots" },
    make("thead", {}, make("tr", {}, make("th"), heads, make("th"))), make("tbody", {}, rows)));
}
