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
    rest.length ? make("details", { class: "unsupported" }, make("summary", {}, `Not supported: ${plural(rest.length, "pattern")} that the null explains as well`),
      make("ul", {}, rest.map((one) => finding(atlas, one)))) : null);
}

function finding(atlas, one) {
  const heads = one.heads.map(([layer, head]) => layer * atlas.heads + head);
  const numbers = [["value", one.value], ["effect", one.effect], ["null", one.null]].filter(([, value]) => finite(value)).map(([word, value]) => `${word} ${show(value, 3)}`);
  numbers.push(`p ${chance(one.p)}`, `corrected ${chance(one.p_adjusted)}`);
  return make("li", { "data-kind": one.kind }, make("span", { class: "statement" }, one.statement),
    make("span", { class: "numbers" }, `${one.method ? `${one.method} · ` : ""}${numbers.join(" · ")}`),
    heads.length ? make("button", { type: "button", class: "head", onclick: () => {
      select(atlas, heads, false, heads[0]);
      goTo("maps");
    } }, `show ${plural(heads.length, "head")}`) : null);
}
