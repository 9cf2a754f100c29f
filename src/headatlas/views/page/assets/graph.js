// The graph of a function: its strongest heads from early to late layers, above them who stands in for whom, below them
// who supplies whom. Colours are attributes, so that the saved picture looks like this one.

const graphChoice = { task: null, all: false };
const GRAPH_INK = {
  light: { ink: "#1c2128", soft: "#56606c", surface: "#ffffff", node: "#2a788e", hinders: "#c2560f", backup: "#b3400a", supply: "#1f5fbf", faint: "#b4bcc5" },
  dark: { ink: "#e8ebef", soft: "#9da7b3", surface: "#161b22", node: "#3d9fb8", hinders: "#e08a4a", backup: "#ff9a5c", supply: "#79b0ff", faint: "#4b5663" },
};
const STEP = 74; // pixels between two heads
byId("graph").hidden = !ATLASES.some((atlas) => atlas.graphs.length);

const graphTasks = () => [...new Set(ATLASES.flatMap((atlas) => atlas.graphs.map(({ task }) => task)))];
const isSure = ({ q }) => finite(q) && q < LEVEL;

function drawGraphs() {
  if (byId("graph").hidden) return;
  const tasks = graphTasks();
  const task = [graphChoice.task, state.task].find((one) => tasks.includes(one)) ?? tasks[0];
  section("graph", "How the heads of a function depend on each other", "Larger: the head matters more. A dashed line above: the two stand in for each other, each matters more without the other. " +
    `An arrow below: without the first the second matters less. Drawn strongly where q is below ${LEVEL}.`, (atlas) => {
    const graph = atlas.graphs.find((one) => one.task === task);
    return graph ? graphBody(atlas, graph) : empty(`There is no graph of ${task}. Make one with `, `headatlas head ${atlas.folder}`);
  });
  byId("graph").querySelector(".section-head").after(make("div", { class: "axes" },
    make("div", { class: "tool" }, make("span", { class: "tool-name" }, "Task"), chooser("Task of the graph", tasks.map((name) => [name, name]), task, (name) => {
      graphChoice.task = name;
      redrawGraphs();
    })),
    make("button", { type: "button", class: "toggle", "aria-pressed": String(graphChoice.all), id: "all-pairs", onclick: () => {
      graphChoice.all = !graphChoice.all;
      redrawGraphs();
    } }, make("i", { "aria-hidden": "true" }), "pairs that cannot be told from none, too")));
}

const redrawGraphs = () => keepingFocus(byId("graph"), drawGraphs);

function graphBody(atlas, graph) {
  const svg = graphPicture(atlas, graph);
  const keep = (kind) => offer(kind === "SVG" ? new Blob([standAlone(svg)], { type: "image/svg+xml" }) : new Blob([JSON.stringify(graph, null, 1)], { type: "application/json" }),
    `${fileName("graph", graph.task)}.${kind.toLowerCase()}`);
  return make("div", { class: "graph-one", "data-atlas": atlas.index }, make("div", { class: "scroll" }, svg),
    make("div", { class: "block-head" }, make("p", {}, `${graph.unit}; ${plural(graph.nodes.length, "head")}, all pairs measured exactly on ${plural(graph.examples, "held-out example")}.${graph.nodes.some(({ total }) => total.value < 0) ? " Orange: the task gains without the head." : ""}`),
      make("div", { class: "tool side-by-side" }, make("span", { class: "tool-name" }, "Save"), make("span", { class: "segmented" }, ["SVG", "JSON"].map((kind) =>
        make("button", { type: "button", "data-save-graph": kind.toLowerCase(), onclick: () => keep(kind) }, kind))))),
    pairTable(graph));
}

const nameOf = ([layer, head]) => `L${layer}H${head}`;
/** Heads in the order of layers, with where they stand and how large they are. */
function placeNodes(nodes) {
  const most = Math.max(...nodes.map(({ total }) => Math.abs(total.value)), 1e-9);
  const sorted = [...nodes].sort((a, b) => a.layer - b.layer || a.head - b.head);
  return new Map(sorted.map((node, n) => [nameOf([node.layer, node.head]), { ...node, x: (n + 0.75) * STEP, r: 6 + 16 * Math.sqrt(Math.abs(node.total.value) / most) }]));
}

function graphPicture(atlas, { task, nodes, edges }) {
  const pens = GRAPH_INK[theme()];
  const places = placeNodes(nodes);
  const drawn = edges.filter((edge) => graphChoice.all || isSure(edge)).map((edge) => ({ ...edge, from: places.get(nameOf(edge.first)), to: places.get(nameOf(edge.second)) }))
    .filter(({ from, to }) => from && to).sort((a, b) => isSure(a) - isSure(b));
  const reach = (above) => Math.max(26, ...drawn.filter((edge) => edge.interaction.value > 0 === above).map(({ from, to }) => bow(from, to) + 6));
  const [width, line] = [(nodes.length + 0.5) * STEP, reach(true) + 26];
  const height = line + reach(false) + 62;
  const most = Math.max(...edges.map(({ interaction }) => Math.abs(interaction.value)), 1e-9);
  const svg = draw("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `${task}: ${plural(nodes.length, "head")} and how they depend on each other`, "font-family": "Helvetica, Arial, sans-serif" });
  svg.style.minWidth = `${width * 0.65}px`; // smaller names could not be read
  for (const edge of drawn) svg.append(edgePath(edge, line, most, pens));
  for (const [name, node] of places) svg.append(nodeMark(atlas, name, node, line, pens));
  svg.append(draw("text", { x: 8, y: height - 8, "font-size": 11, fill: pens.soft }, "earlier layers"),
    draw("text", { x: width - 8, y: height - 8, "font-size": 11, fill: pens.soft, "text-anchor": "end" }, "later layers →"));
  return svg;
}

const bow = (from, to) => Math.min(150, 22 + Math.abs(to.x - from.x) * 0.3);

/** A curve between two heads: above the line for backups, below it with an arrow for suppliers. */
function edgePath({ from, to, first, second, interaction, q }, line, most, pens) {
  const backup = interaction.value > 0;
  const sure = isSure({ q });
  const colour = sure ? (backup ? pens.backup : pens.supply) : pens.faint;
  const side = backup ? -1 : 1;
  const begin = backup ? from.r : Math.max(from.r, 8) + 20; // names stand below the heads
  const end = backup ? to.r : Math.max(to.r, 8) + 20;
  const [y1, y2, high] = [line + side * begin, line + side * (end + (backup ? 0 : 5)), bow(from, to) * 1.3];
  const [c1, c2] = [y1 + side * high * 0.9, y2 + side * high * 0.9];
  const group = draw("g", { class: "edge", "data-edge": `${nameOf(first)} ${nameOf(second)}` });
  const wide = (0.8 + 4 * (Math.abs(interaction.value) / most)).toFixed(1);
  group.append(draw("path", { d: `M${from.x} ${y1}C${from.x} ${c1} ${to.x} ${c2} ${to.x} ${y2}`, fill: "none", stroke: colour, "stroke-width": sure ? wide : 1, "stroke-dasharray": backup ? "5 4" : null, "stroke-opacity": sure ? 0.85 : 0.6 }));
  if (!backup) group.append(draw("path", { d: `M${to.x} ${y2 - 5}l-4.5 8h9z`, fill: colour }));
  group.append(draw("path", { class: "feel", d: `M${from.x} ${y1}C${from.x} ${c1} ${to.x} ${c2} ${to.x} ${y2}`, fill: "none", stroke: "#000", "stroke-opacity": 0, "stroke-width": 12 }));
  const words = backup ? "stand in for each other" : "the first supplies the second";
  group.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    placeTip(`${nameOf(first)} ${backup ? "⇄" : "→"} ${nameOf(second)}`, "", [["interaction", `${show(interaction.value, 3)} nats`],
      ["95 % interval", `${show(interaction.low, 2)} to ${show(interaction.high, 2)}`], ["q", pValue(q)]], sure ? words : "cannot be told from none", event.clientX, event.clientY);
  });
  return group;
}

function nodeMark(atlas, name, { x, r, layer, head, total }, line, pens) {
  const index = layer * atlas.heads + head;
  const choose = () => select(atlas, [index], false, index);
  const node = draw("g", {
    class: "node", role: "button", tabindex: "0", "data-node": index, "aria-label": `${name}: effect ${show(total.value, 3)} nats`, onclick: choose,
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      choose();
    },
    onpointermove: (event) => {
      event.stopPropagation();
      placeTip(name, "", [["effect", `${show(total.value, 3)} nats`], ["95 % interval", `${show(total.low, 2)} to ${show(total.high, 2)}`]], "click: choose this head", event.clientX, event.clientY);
    },
  }, draw("circle", { cx: x, cy: line, r, fill: total.value < 0 ? pens.hinders : pens.node, stroke: pens.ink, "stroke-width": state.cell === index && state.atlas === atlas.index ? 2.5 : 0 }),
  draw("text", { x, y: line + Math.max(r, 8) + 14, "font-size": 12, "font-weight": 600, "text-anchor": "middle", fill: pens.ink }, name));
  return node;
}

/** The chosen head has an outline. */
function markNodes() {
  for (const node of byId("graph").querySelectorAll(".node")) {
    const isChosen = +node.dataset.node === state.cell && +node.closest(".graph-one").dataset.atlas === state.atlas;
    node.firstChild.setAttribute("stroke-width", isChosen ? 2.5 : 0);
  }
}

/** The picture as a file of its own. */
function standAlone(svg) {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll(".feel").forEach((path) => path.remove());
  copy.prepend(draw("rect", { width: "100%", height: "100%", fill: GRAPH_INK[theme()].surface }));
  return new XMLSerializer().serializeToString(copy);
}

function pairTable({ edges }) {
  const rows = [...edges].sort((a, b) => (a.q ?? 2) - (b.q ?? 2)).filter((edge) => graphChoice.all || isSure(edge)).map(({ first, second, interaction, q }) => [`${nameOf(first)}, ${nameOf(second)}`,
    interaction.value > 0 ? "stand in for each other" : "the first supplies the second", show(interaction.value, 3), `${show(interaction.low, 2)} to ${show(interaction.high, 2)}`, pValue(q)]);
  if (!rows.length) return empty("No pair interacts so that it can be told from none.");
  return make("details", {}, make("summary", {}, `${plural(rows.length, "pair")} as a table`), plainTable(["heads", "", "interaction (nats)", "95 % interval", "q"], rows));
}
