// What the maps show beyond chance, and what they do not.

function drawFindings() {
  section("findings", "What the maps show", "Each statement comes from a statistic with a null; only those that survive correction for the " +
    "number of questions asked are listed as found.", findingsOf);
}

function findingsOf(atlas) {
  if (!atlas.findings.length) return empty("No patterns were looked for in this atlas.");
  const found = atlas.findings.filter((one) => one.supported);
  const rest = atlas.findings.filter((one) => !one.supported);
  return make("div", {},
    found.length ? make("ol", { class: "found" }, found.map((one) => finding(atlas, one))) : empty("No pattern survives correction."),
    rest.length ? unsupported(atlas, rest) : null);
}

/** What was not found, folded by kind; what came nearest to being found stands first. */
function unsupported(atlas, rest) {
  const near = [...rest].sort((a, b) => (a.p_adjusted ?? 2) - (b.p_adjusted ?? 2) || (a.p ?? 2) - (b.p ?? 2));
  const kinds = [...new Set(near.map((one) => one.kind))].map((kind) => {
    const own = near.filter((one) => one.kind === kind);
    return make("details", { "data-kind": kind }, make("summary", {}, `${kind}: ${own.length}`), make("ul", {}, own.map((one) => finding(atlas, one))));
  });
  return make("details", { class: "unsupported" }, make("summary", {}, `Not supported: ${plural(rest.length, "pattern")} that the null explains as well`), kinds);
}

function finding(atlas, one) {
  const heads = one.heads.map(([layer, head]) => layer * atlas.heads + head);
  const numbers = [["value", one.value], ["effect", one.effect]].filter(([, value]) => finite(value)).map(([word, value]) => `${word} ${show(value, 3)}`);
  numbers.push(`p ${chance(one.p)}`, `corrected ${chance(one.p_adjusted)}`);
  return make("li", { "data-kind": one.kind }, make("span", { class: "statement" }, one.statement),
    make("span", { class: "numbers" }, `${one.method ? `${one.method} · ` : ""}${numbers.join(" · ")}`),
    one.null ? make("span", { class: "against" }, `against: ${one.null}`) : null,
    heads.length ? make("button", { type: "button", class: "head", onclick: () => showHeads(atlas, one, heads) }, `show ${plural(heads.length, "head")}`) : null);
}

/** Select the heads of a finding on the maps that it speaks of. */
function showHeads(atlas, { method, tasks }, heads) {
  if (atlas.primary(method)) change({ method, measure: state.method === method ? state.measure : null });
  const tell = tasks.filter((task) => atlas.measured(task, state.method));
  if (tell.length && !tell.includes(state.task)) change({ task: tell[0] });
  select(atlas, heads, false, heads[0]);
  goTo("maps");
}
