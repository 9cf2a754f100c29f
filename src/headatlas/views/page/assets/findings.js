// What the maps show beyond chance, and what they do not.

const FIRST_FINDINGS = 10; // supported ones that are not folded; parts.css goes on counting from there

function drawFindings() {
  section("findings", "What the maps show", "Each statement comes from a statistic with a null. Only those that survive correction for the " +
    "number of questions asked are listed as supported.", findingsIn);
}

function findingsIn(atlas) {
  if (!atlas.findings.length) return empty(atlas.headline.pending || "No patterns were searched for in this atlas.");
  const supported = atlas.findings.filter((finding) => finding.supported);
  const rest = atlas.findings.filter((finding) => !finding.supported);
  return make("div", {},
    supported.length ? numbered(atlas, supported.slice(0, FIRST_FINDINGS)) : empty("No pattern survives correction."),
    supported.length > FIRST_FINDINGS ? moreSupported(atlas, supported.slice(FIRST_FINDINGS)) : null,
    rest.length ? unsupported(atlas, rest) : null);
}

function numbered(atlas, findings) {
  return make("ol", { class: "supported" }, findings.map((finding) => findingLine(atlas, finding)));
}

function moreSupported(atlas, findings) {
  return make("details", { class: "more" }, make("summary", {}, `${plural(findings.length, "more pattern")} that the null does not explain`),
    numbered(atlas, findings));
}

/** What is not supported, folded by kind; what came nearest stands first. */
function unsupported(atlas, rest) {
  const nearest = [...rest].sort((a, b) => (a.p_adjusted ?? 2) - (b.p_adjusted ?? 2) || (a.p ?? 2) - (b.p ?? 2));
  const kinds = [...new Set(nearest.map(({ kind }) => kind))].map((kind) => {
    const ofKind = nearest.filter((finding) => finding.kind === kind);
    return make("details", { "data-kind": kind }, make("summary", {}, `${kind}: ${ofKind.length}`),
      make("ul", {}, ofKind.map((finding) => findingLine(atlas, finding))));
  });
  return make("details", { class: "unsupported" }, make("summary", {}, `Not supported: ${plural(rest.length, "pattern")} that the null explains as well`), kinds);
}

function findingLine(atlas, finding) {
  const heads = finding.heads.map(([layer, head]) => layer * atlas.heads + head);
  const numbers = ["value", "effect"].filter((word) => finite(finding[word])).map((word) => `${word} ${show(finding[word], 3)}`);
  numbers.push(`p ${pValue(finding.p)}`, `corrected ${pValue(finding.p_adjusted)}`);
  return make("li", { "data-kind": finding.kind }, make("span", { class: "statement" }, finding.statement),
    make("span", { class: "numbers" }, [finding.method, ...numbers].filter(Boolean).join(" · ")),
    finding.null ? make("span", { class: "against" }, `against: ${finding.null}`) : null,
    heads.length ? make("button", { type: "button", class: "head", onclick: () => showHeads(atlas, finding, heads) }, `show ${plural(heads.length, "head")}`) : null);
}

/** Select the heads of a finding on the maps that it is about. */
function showHeads(atlas, { method, tasks }, heads) {
  if (atlas.method(method)) change({ method, measure: state.method === method ? state.measure : null });
  const mapped = tasks.filter((task) => atlas.isMapped(task, state.method));
  if (mapped.length && !mapped.includes(state.task)) change({ task: mapped[0] });
  select(atlas, heads, false, heads[0]);
  goTo("maps");
}
