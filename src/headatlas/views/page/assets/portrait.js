// The portrait of a head: what it does in each task, on real examples. Portraits that are not in the page are fetched.

const portraitChoice = { task: null };
for (const atlas of ATLASES) atlas.portraitByHead = new Map(atlas.portraits.map((portrait) => [portrait.index, portrait]));
byId("portrait").hidden = !ATLASES.some((atlas) => atlas.portraits.length);

const lookCommand = (atlas, index) => make("code", { class: "command" }, `headatlas head ${atlas.folder} ${atlas.name(index)}`);
const portraitOf = (atlas, index) => (index === null ? null : atlas.portraitByHead.get(index) ?? null);

/** The task of a portrait that is shown: the chosen one, that of the maps, or the one in which the head ranks first. */
function taskShown(portrait) {
  const names = portrait.tasks.map(({ task }) => task);
  const wanted = [portraitChoice.task, state.task].find((task) => names.includes(task));
  return wanted ?? [...portrait.tasks].sort((a, b) => a.rank - b.rank)[0]?.task;
}

/** In the card: the sentence of the portrait and the way to it, or how to make one. */
function portraitLine(atlas, index) {
  const portrait = portraitOf(atlas, index);
  if (!portrait?.tasks.length) return make("p", { class: "portrait-line quiet" }, "See it on examples with ", lookCommand(atlas, index));
  const { sentence } = portrait.tasks.find(({ task }) => task === taskShown(portrait));
  return make("div", { class: "portrait-line" }, make("p", {}, sentence), make("button", { type: "button", class: "head", onclick: () => {
    change({ section: "portrait" });
    goTo("portrait");
  } }, "see it on examples ↓"));
}

function drawPortrait() {
  if (byId("portrait").hidden) return;
  const atlas = ATLASES[state.atlas];
  const portrait = portraitOf(atlas, state.cell);
  const title = portrait ? `${atlas.name(state.cell)} on examples` : "Heads on examples";
  const note = portrait ? "What one head does, measured on held-out examples." : "What single heads do, measured on held-out examples. Choose a head.";
  byId("portrait").replaceChildren(make("header", { class: "section-head" }, make("h2", {}, title), make("p", {}, PAIR ? `${atlas.label}. ${note}` : note)),
    portrait ? portraitBody(atlas, portrait) : portraitList(atlas));
}

const redrawPortrait = () => keepingFocus(byId("portrait"), drawPortrait);

/** The heads that have a portrait, by task, the strongest first. */
function portraitList(atlas) {
  const tasks = [...new Set(atlas.portraits.flatMap((portrait) => portrait.tasks.map(({ task }) => task)))];
  const headsOf = (task) => atlas.portraits.flatMap(({ index, tasks: seen }) => seen.filter((one) => one.task === task).map(({ rank }) => [rank, index])).sort((a, b) => a[0] - b[0]);
  const missing = state.cell === null ? null : make("p", {}, `${atlas.name(state.cell)} has no portrait yet. Make one with `, lookCommand(atlas, state.cell));
  return make("div", { class: "portrait-list" }, missing, tasks.map((task) => make("div", { class: "partners" }, make("span", {}, task),
    headsOf(task).slice(0, 12).map(([rank, index]) => make("button", { type: "button", class: "chip", title: `rank ${rank} in ${task}`, onclick: () => {
      portraitChoice.task = task;
      select(atlas, [index], false, index);
    } }, atlas.name(index))))));
}

function portraitBody(atlas, portrait) {
  const task = taskShown(portrait);
  const n = portrait.tasks.findIndex((one) => one.task === task);
  const tabs = portrait.tasks.length > 1 ? make("div", { class: "steps", role: "group", "aria-label": "Task of the portrait" }, portrait.tasks.map(({ task: name, rank }) => make("button", {
    type: "button", class: "step", "aria-current": name === task ? "true" : null, "data-step": name, title: `rank ${rank} in ${name}`, onclick: () => {
      portraitChoice.task = name;
      redrawPortrait();
    },
  }, name, make("small", {}, String(rank))))) : null;
  const seen = portrait.tasks[n];
  return make("div", { class: "portrait" }, tabs, seen ? make("p", { class: "sentence" }, seen.sentence) : empty("It was looked at in no task."),
    seen ? (seen.elsewhere ? fetchedLater(atlas, portrait) : inTask(atlas, portrait, seen)) : null);
}

/** Everything that is known of a head in a task. */
function inTask(atlas, portrait, seen) {
  return make("div", { class: "portrait-body" },
    make("div", { class: "thirds" }, make("div", {}, make("h4", {}, `Its effect in ${seen.task}`), effectTable(seen), routeLine(seen.routes)),
      make("div", {}, make("h4", {}, "Where it looks"), looksTable("share of attention, from where the answer is read", seen.looks) ?? empty("Its attention was not measured.")),
      partners(atlas, seen)),
    make("div", { class: "examples-box" }, make("h4", {}, "Examples"), examplesBlock(seen)),
    make("div", { class: "halves-or-one" }, circuitPart(portrait.circuit), neutralPart(portrait.neutral)),
    portrait.unavailable.map((reason) => make("p", { class: "quiet" }, reason)));
}

/** A portrait that is not in the page: a server has it, a file does not. */
function fetchedLater(atlas, portrait) {
  const name = atlas.name(portrait.index);
  if (!PAGE.live) {
    return make("p", { class: "elsewhere quiet" }, "Its examples are not in this file, which would be too large with those of all heads. Open it with ",
      make("code", { class: "command" }, `headatlas serve ${atlas.folder}`));
  }
  const note = make("p", { class: "elsewhere quiet" }, "Loading its examples …");
  fetch(`/atlas/${atlas.index}/heads/${name}.json`).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.statusText))).then((whole) => {
    const { circuit, neutral, unavailable } = whole;
    const tasks = portrait.tasks.map((outline) => ({ ...whole.tasks.find(({ task }) => task === outline.task), ...outline, elsewhere: false }));
    Object.assign(portrait, { circuit, neutral, unavailable, tasks });
    if (portraitOf(ATLASES[state.atlas], state.cell) === portrait) redrawPortrait();
  }).catch((reason) => (note.textContent = `Its examples could not be loaded: ${reason}. Reload the page.`));
  return note;
}
