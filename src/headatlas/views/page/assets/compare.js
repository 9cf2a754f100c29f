// Two maps compared: a table of tasks, every head's two values, and the heads that differ beyond noise.

byId("compare").hidden = !PAGE.comparison;

function drawComparison() {
  const { comparison } = PAGE;
  if (!comparison) return;
  const { labels, what, by, columns, rows, tasks, remarks } = comparison;
  const sides = labels.map((label, n) => `${label} (${what[n]})`);
  byId("compare").replaceChildren(make("header", { class: "section-head" }, make("h2", {}, "How alike are the two?"),
    make("p", {}, `${sides.join(" and ")}, by ${by}. Intervals say where a correlation would lie with other examples, as many as these.`)),
  make("div", { class: "comparison" }, plainTable(["", ...columns], rows), pointKey(comparison), make("div", { class: "charts" }, tasks.map(pairChart)),
    tasks.some((task) => task.differing?.length) ? differingHeads(tasks) : null,
    remarks.length ? make("ul", { class: "remarks" }, remarks.map((remark) => make("li", {}, remark))) : null));
}

/** A table whose first column holds names and all others numbers, or words. */
function plainTable(columns, rows, kind = "number") {
  const cells = ([name, ...texts]) => make("tr", {}, make("th", { scope: "row" }, name), texts.map((text) => make("td", { class: kind }, text)));
  return make("div", { class: "scroll" }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, columns.map((name, n) => make("th", { class: n ? kind : null }, name)))), make("tbody", {}, rows.map(cells))));
}

function pointKey({ by, k, tasks }) {
  if (by !== "heads") return null;
  const entries = [["shared", `among the first ${k} of both`], ...(tasks.some(({ differing }) => differing.length) ? [["differs", "differs beyond noise"]] : [])];
  return make("div", { class: "key" }, entries.map(([kind, text]) => make("span", {},
    draw("svg", { width: 10, height: 10, "aria-hidden": "true" }, draw("circle", { class: `head-point ${kind}`, cx: 5, cy: 5, r: 3 })), text)));
}

function pairChart(task) {
  const { labels } = PAGE.comparison;
  const chart = task.profiles
    ? lineChart({ label: `${task.task}: share of the mass over depth`, xLabel: "depth", yLabel: "% of the mass", zero: true,
      series: labels.map((name, n) => ({ name, line: n ? "chosen-0" : "other-0", x: task.depth, y: task.profiles[n] })) })
    : scatterChart(task);
  return make("figure", {}, make("figcaption", {}, make("b", {}, task.task)), chart,
    task.profiles ? lineKey(labels.map((name, n) => [n ? "chosen-0" : "other-0", name])) : null);
}

/** Every head as a point: its value on the first side and on the second. */
function scatterChart({ task, names, first, second, kinds, same_unit: sameUnit }) {
  const { labels } = PAGE.comparison;
  const [width, height, edge] = [300, 230, { left: 46, right: 12, top: 10, bottom: 36 }];
  const reach = (values) => {
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    return [low - (high - low) * 0.05, high + (high - low) * 0.05];
  };
  const [[x0, x1], [y0, y1]] = [reach(first), reach(second)];
  const px = (x) => edge.left + ((x - x0) / (x1 - x0 || 1)) * (width - edge.left - edge.right);
  const py = (y) => height - edge.bottom - ((y - y0) / (y1 - y0 || 1)) * (height - edge.top - edge.bottom);
  const svg = draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${task}: the values of every head on both sides` });
  for (const tick of roundTicks(y0, y1)) {
    svg.append(draw("line", { class: "rule", x1: edge.left, x2: width - edge.right, y1: py(tick), y2: py(tick) }),
      draw("text", { class: "tick", x: edge.left - 6, y: py(tick) + 3.5, "text-anchor": "end" }, minus(String(tick))));
  }
  for (const tick of roundTicks(x0, x1)) svg.append(draw("text", { class: "tick", x: px(tick), y: height - edge.bottom + 14, "text-anchor": "middle" }, minus(String(tick))));
  if (sameUnit) {
    const [from, to] = [Math.max(x0, y0), Math.min(x1, y1)];
    svg.append(draw("line", { class: "level", x1: px(from), y1: py(from), x2: px(to), y2: py(to) }));
  }
  for (const marked of [false, true]) {
    names.forEach((name, n) => Boolean(kinds[n]) === marked && svg.append(draw("circle", { class: `head-point ${kinds[n]}`, cx: px(first[n]), cy: py(second[n]), r: marked ? 3 : 1.8 },
      draw("title", {}, `${name}: ${show(first[n])} and ${show(second[n])}`))));
  }
  svg.append(draw("text", { class: "word", x: (edge.left + width - edge.right) / 2, y: height - 4, "text-anchor": "middle" }, labels[0]),
    draw("text", { class: "word", transform: `translate(10 ${(edge.top + height - edge.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, labels[1]));
  return svg;
}

function differingHeads(tasks) {
  const { labels } = PAGE.comparison;
  const columns = ["", "head", ...labels, "difference", "95 % interval", "q"];
  const rows = tasks.flatMap(({ task, differing = [], more }) => [...differing.map((cells) => [task, ...cells]),
    ...(more ? [[task, `and ${plural(more, "head")} more`, "", "", "", "", ""]] : [])]);
  return make("details", {}, make("summary", {}, "Heads that differ beyond noise"), plainTable(columns, rows));
}
