// The headline, and how the run was made.

function duration(seconds) {
  if (!finite(seconds)) return null;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
}

function drawHeadline() {
  byId("headline").replaceChildren(...ATLASES.map((atlas) => {
    const { run } = atlas;
    const mapped = atlas.tasks.filter((task) => task.mapped).length;
    const tests = [...new Set(atlas.evidence.map((row) => row.test))];
    const when = (run.finished ?? run.started ?? "").slice(0, 10);
    const what = `${mapped} of ${plural(atlas.tasks.length, "task")} of the suite ${run.suite?.name ?? ""} mapped by ` +
      `${listed(atlas.methods.map((method) => method.name))}; ${tests.length ? `tested by ${listed(tests)}` : "not yet tested by intervention"}.`;
    const small = [run.settings?.preset ? `${run.settings.preset} preset` : null, when, duration(run.seconds)].filter(Boolean).join(" · ");
    const found = atlas.findings.filter((one) => one.supported).slice(0, PAIR ? 0 : 3);
    return make("div", { class: "headline-one" },
      make("div", { class: "headline-text" }, make("h1", {}, make("span", {}, atlas.label), make("small", {}, `${atlas.layers} layers × ${atlas.heads} heads`)),
      make("p", { class: "lead" }, what, " ", make("span", { class: "quiet" }, small))),
      found.length ? make("ul", { class: "glance" }, found.map((one) => make("li", {}, one.statement))) : null);
  }));
}

function drawRun() {
  section("run", "How the run was made", "What is needed to repeat it.", (atlas) => {
    const { run, model } = atlas;
    const text = (value) => (value === null || value === undefined ? "–" : typeof value === "object"
      ? Object.entries(value).map(([word, own]) => `${word} ${typeof own === "object" && own !== null ? JSON.stringify(own) : own}`).join(", ") : String(value));
    const methods = Object.entries(run.settings?.methods ?? {}).map(([name, own]) => `${name}${Object.keys(own ?? {}).length ? ` (${text(own)})` : ""}`);
    const rest = Object.fromEntries(Object.entries(run.settings ?? {}).filter(([name]) => name !== "methods"));
    const lines = [
      ["command", run.asked?.command], ["folder", atlas.folder],
      ["model", `${model.name}: ${model.type}, ${model.layers} layers, ${model.heads} heads, ${model.kv_heads} kv heads, head_dim ${model.head_dim}, ${model.dtype} on ${model.device}`],
      ["model fingerprint", model.fingerprint], ["suite", `${run.suite?.name} (${run.suite?.fingerprint}), examples: ${text(run.suite?.examples)}`],
      ["methods", methods.join("; ")], ["settings", text(rest)], ["seeds", text(run.seeds)], ["versions", text(run.versions)],
      ["time", [run.started, duration(run.seconds)].filter(Boolean).join(", ")], ["cells", text(run.cells)],
    ];
    return make("div", {}, make("dl", { class: "facts" }, lines.map(([word, value]) => [make("dt", {}, word),
      make("dd", {}, word === "command" ? make("code", {}, text(value)) : text(value))])), filesOf(atlas));
  });
}

/** Files that the server offers beside the page. */
function filesOf(atlas) {
  if (!atlas.files.length) return null;
  return make("p", { class: "files" }, make("b", {}, "Files: "), atlas.files.map((name) =>
    make("a", { href: `/atlas/${atlas.index}/${name.split("/").map(encodeURIComponent).join("/")}`, download: "" }, name)));
}
