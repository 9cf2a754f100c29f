// The parts of a portrait that are numbers: effects, where the head looks, its partners, its circuit, plain text.

/** The effect of a head, by what may react to its removal, each with its interval. */
function effectTable({ margin, total, held, direct, unit, examples, metric }) {
  const rows = [[`${spaced(metric)} of the intact model`, margin, "reference"], ["lost without the head", total, ""],
    ["lost while all other heads are held", held, ""], ["lost directly, through the final norm alone", direct, ""]].filter(([, number]) => number);
  const ends = rows.flatMap(([, { value, low, high }]) => [value, low, high]).filter(finite);
  const [from, to] = [Math.min(0, ...ends), Math.max(0, ...ends) || 1];
  return make("table", { class: "tiny effects" }, make("caption", {}, `${unit}; ${plural(examples, "held-out example")}`), make("tbody", {}, rows.map(([word, { value, low, high }, kind]) =>
    make("tr", {}, make("th", { scope: "row" }, word), make("td", {}, bar(value, { low, high, from, to, kind: kind || (value < 0 ? "negative" : "") })),
      make("td", { class: "number", title: finite(low) ? `95 % interval ${show(low, 3)} to ${show(high, 3)}` : null }, show(value, 3))))));
}

/** By which way the effect reaches the answer; the parts add up to it. */
function routeLine(routes) {
  return make("p", { class: "quiet" }, `Its ways to the answer: ${routes.map(([way, value]) => `${way} ${show(value, 2)}`).join(", ")}.`);
}

/** Shares of attention, the largest first; what rounds to nothing is left out. */
function looksTable(caption, looks) {
  if (!looks?.length) return null;
  return weightTable(caption, looks.filter(({ value }) => value >= 0.005).sort((a, b) => b.value - a.value), 1, percent, (text) => text);
}

/** Heads that stand in for it and heads that supply it, as buttons which choose them. */
function partners(atlas, { backups, suppliers, compared_with: compared }) {
  if (!compared.length) return null;
  const chip = (kind) => ({ layer, head, interaction, q }) => make("button", {
    type: "button", class: `chip ${kind}`, onclick: () => select(atlas, [layer * atlas.heads + head], false, layer * atlas.heads + head),
    title: `interaction ${show(interaction.value, 3)} nats (${show(interaction.low, 2)} to ${show(interaction.high, 2)}), q ${pValue(q)}`,
  }, `L${layer}H${head}`, make("small", {}, show(interaction.value, 2)));
  const row = (word, list, kind) => make("div", { class: "partners" }, make("span", {}, word), list.length ? list.map(chip(kind)) : make("span", { class: "quiet" }, "none that can be told"));
  return make("div", {}, make("h4", {}, "Together with other heads"),
    row("Stand in for it:", backups, "backup"), row("Supply it:", suppliers, "supply"),
    make("p", { class: "quiet", title: listed(compared) }, `Pairs measured exactly, with ${plural(compared.length, "other head")}. Nats of interaction: what is lost without both, less the sum of what is lost without each.`),
    atlas.graphs.length ? make("button", { type: "button", class: "head", onclick: () => goTo("graph") }, "the graph of the function ↓") : null);
}

/** What a head writes of what it reads, over the vocabulary. */
function circuitPart(circuit) {
  if (!circuit) return null;
  return make("div", {}, make("h4", {}, "Over the vocabulary"),
    make("ul", { class: "pairs" }, circuit.pairs.map(({ read, written: raised, value }) => make("li", {}, make("code", {}, visible(read)), " → ", make("code", {}, visible(raised)), make("span", { class: "quiet" }, show(value, 2))))),
    make("p", { class: "quiet" }, `What it reads and the token that it raises most, in standard deviations of what other tokens do to it; of random numbers the first pair would have about ${show(circuit.by_chance, 2)}. Copying score ${show(circuit.copying, 2)} (1: writes what it reads; −1: suppresses it). ` +
      `${percent(circuit.itself)} of ${plural(circuit.tokens, "token")} are among the ten that they raise most.`));
}

/** The same head away from the task. */
function neutralPart({ texts, lost, looks }) {
  const ends = finite(lost.low) ? ` (${show(lost.low, 2)} to ${show(lost.high, 2)})` : "";
  return make("div", {}, make("h4", {}, "On plain text"),
    make("p", {}, `A token loses ${show(lost.value, 2)} nats${ends} without it, over ${plural(texts, "text")}.`), looksTable("where it looks there", looks));
}
