// The headline, and how the run was made.

function drawHeadline() {
  byId("headline").replaceChildren(...ATLASES.map((atlas) => {
    const { sentence, small, pending } = atlas.headline;
    const supported = atlas.findings.filter((finding) => finding.supported).slice(0, PAIR ? 0 : 3);
    return make("div", { class: "headline-one" },
      make("div", { class: "headline-text" }, make("h1", {}, make("span", {}, atlas.label), make("small", {}, `${atlas.layers} layers × ${atlas.heads} heads`)),
        make("p", { class: "lead" }, sentence, " ", pending ? make("b", { class: "pending" }, `${pending} `) : null, make("span", { class: "quiet" }, small))),
      supported.length ? make("ul", { class: "glance" }, supported.map(({ statement }) => make("li", {}, statement))) : null);
  }));
}

function drawRun() {
  section("run", "How the run was made", "What is needed to repeat it.", (atlas) => make("div", {},
    make("dl", { class: "facts" }, atlas.run.map(([word, text]) => [make("dt", {}, word), make("dd", {}, word === "command" ? make("code", {}, text) : text)])),
    filesOf(atlas)));
}

/** Files that the server offers beside the page. */
function filesOf(atlas) {
  if (!atlas.files.length) return null;
  return make("p", { class: "files" }, make("b", {}, "Files: "), atlas.files.map((name) =>
    make("a", { href: `/atlas/${atlas.index}/${name.split("/").map(encodeURIComponent).join("/")}`, download: "" }, name)));
}
