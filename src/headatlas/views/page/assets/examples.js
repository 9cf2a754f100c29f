// The examples that a head decides, and those it does not: what is lost without it, its attention, what it writes.

const exampleChoice = { kind: "strongest", number: 0, view: "words" };

/** The examples of a head in a task: a list, and the chosen one beside it. */
function examplesBlock(seen) {
  const block = make("div", { class: "examples" });
  const redraw = () => {
    const list = seen[exampleChoice.kind];
    exampleChoice.number = Math.min(exampleChoice.number, Math.max(0, list.length - 1));
    const choose = (patch) => {
      Object.assign(exampleChoice, patch);
      keepingFocus(block, redraw);
    };
    block.replaceChildren(exampleList(seen, list, choose), list.length ? oneExample(list[exampleChoice.number], choose) : empty("There are none."));
  };
  redraw();
  return block;
}

function exampleList(seen, list, choose) {
  const ends = [...seen.strongest, ...seen.weakest].flatMap(({ margin, without }) => [margin, without]).filter(finite);
  const reach = { from: Math.min(0, ...ends), to: Math.max(0, ...ends) || 1 };
  const kinds = [["strongest", "lose most", "the examples that lose most without the head"], ["weakest", "lose least", "the examples that lose least, or gain"]];
  return make("div", { class: "example-list" }, segmented("Examples", kinds, exampleChoice.kind, (kind) => choose({ kind, number: 0 })),
    make("ol", {}, list.map((example, n) => make("li", {}, make("button", {
      type: "button", class: "example", "aria-pressed": String(n === exampleChoice.number), "data-value": n, onclick: () => choose({ number: n }),
    }, make("span", { class: "snippet" }, snippet(example)), changeOf(example, reach))))));
}

const snippet = ({ prompt, answer }) => `…${prompt.slice(-9).join("").replace(/\s+/g, " ")} → ${inText(answer)}`;

/** Margin of the intact model and without the head, as two bars on the scale of all examples. */
function changeOf({ margin, without }, reach) {
  const line = (word, value) => make("span", { class: "margin" }, make("small", {}, word), bar(value, { ...reach, kind: value < 0 ? "negative" : "" }), make("small", { class: "number" }, show(value, 2)));
  return make("span", { class: "margins" }, line("with", margin), line("without", without));
}

function oneExample(example, choose) {
  const { prompt, twin, answer, foil, margin, without } = example;
  const asMatrix = exampleChoice.view === "matrix";
  const texts = [new AttentionText({ name: "Prompt", tokens: prompt, changed: example.changed, packed: example.attention, after: answer, matrix: asMatrix })];
  if (twin) texts.push(new AttentionText({ name: "Twin", tokens: twin, changed: example.twin_changed, packed: example.twin_attention, after: foil, matrix: asMatrix }));
  return make("div", { class: "one-example" },
    make("div", { class: "block-head" },
      make("p", { class: "asked" }, "Answer ", make("code", {}, visible(answer)), foil ? [" rather than ", make("code", {}, visible(foil))] : null,
        `: margin ${show(margin, 3)}, `, make("b", {}, `without the head ${show(without, 3)}`), "."),
      segmented("Attention as", [["words", "words", "shades and arcs over the words"], ["matrix", "matrix", "all words at once, one row each"]], exampleChoice.view, (view) => choose({ view }))),
    make("div", { class: "texts" }, texts.map(({ element }) => element)),
    make("p", { class: "quiet" }, texts[0].weights ? "Shade and arcs: attention of the outlined word. Click a word, or use the arrow keys, to see where it looks. " : null,
      twin ? ["Words that differ are ", make("span", { class: "changed" }, "underlined"), "."] : null),
    written(example));
}

/** Tokens whose logits the head raises and lowers directly. */
function written({ promoted, suppressed }) {
  if (!promoted.length && !suppressed.length) return null;
  const most = Math.max(...[...promoted, ...suppressed].map(({ value }) => Math.abs(value)), 1e-9);
  return make("div", { class: "written" }, make("h4", {}, "What it writes at the answer"),
    make("div", { class: "lists" }, weightTable("raises directly", promoted, most, (value) => show(value, 2)), weightTable("lowers directly", suppressed, most, (value) => show(value, 2))),
    make("p", { class: "quiet" }, "Nats of logit, compared with the head on the twin or at its baseline. Direct only: through the final norm. What later layers make of it is not in it."));
}

/** Tokens or kinds of tokens with a bar each. */
function weightTable(caption, weights, most, text, word = visible) {
  return make("table", { class: "tiny" }, make("caption", {}, caption), make("tbody", {}, weights.map((weight) => make("tr", {},
    make("th", { scope: "row", title: weight.text }, word(weight.text)), make("td", {}, bar(Math.abs(weight.value), { to: most, kind: weight.value < 0 ? "negative" : "" })),
    make("td", { class: "number" }, text(weight.value))))));
}
