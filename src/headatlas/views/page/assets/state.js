// What is being looked at. It lives in the address, so that any view can be linked to.

const state = {
  view: "grid", task: null, method: null, measure: null, seed: null, scale: "shared", sign: "size", fade: false,
  theme: "auto", section: null, k: 10, group: 0, selected: new Set(), cell: null, atlas: 0,
};
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const announce = (...changed) => listeners.forEach((listener) => listener(new Set(changed)));

/** Replace what does not exist by what does. */
function settle() {
  settleWords();
  if (HAS_MAPS) settleMaps();
}

function settleMaps() {
  if (!METHODS.includes(state.method)) state.method = ATLASES.find((atlas) => atlas.default_method).default_method;
  const measures = measuresOf(state.method);
  if (!measures.includes(state.measure)) state.measure = measures.includes(ROLES) ? ROLES : methodInfo(state.method).primary;
  if (!seedViews().includes(state.seed)) state.seed = "mean";
  if (!TASKS.includes(state.task)) state.task = MAPPED[0] ?? TASKS[0];
  const tasks = tasksOf(state.method);
  if (state.view === "grid" && !tasks.includes(state.task)) state.task = tasks[0] ?? state.task;
}

function settleWords() {
  for (const [name, words] of Object.entries({
    view: ["grid", "focus"], scale: ["shared", "task"], sign: ["size", "signed"], theme: ["auto", "light", "dark"],
  })) {
    if (!words.includes(state[name])) state[name] = words[0];
  }
  const most = Math.max(...ATLASES.map((atlas) => atlas.size));
  state.k = Math.min(Math.max(1, Math.round(state.k) || 10), most);
}

/** The ways to look at the seeds of the chosen maps. */
function seedViews() {
  const seeds = seedsOf(state.method, state.measure);
  return seeds.length > 1 ? [...Object.keys(SEED_VIEWS), ...seeds.map(String)] : ["mean"];
}

/** Change the view; listeners hear which names changed. */
function change(patch) {
  const before = { ...state };
  Object.assign(state, patch);
  settle();
  const changed = new Set(Object.keys(state).filter((name) => state[name] !== before[name]));
  if (!changed.size) return;
  writeAddress();
  announce(...changed);
}

/** Another method, with the same measure where it has that too. */
const changeMethod = (method) => change({ method, measure: measuresOf(method).includes(state.measure) ? state.measure : null });

const selectedNames = () => [...state.selected].sort((a, b) => a - b).map((index) => ATLASES[state.group].name(index));

const IN_ADDRESS = ["view", "task", "method", "measure", "seed", "scale", "sign", "theme", "k"];

function writeAddress() {
  const words = new URLSearchParams();
  for (const name of IN_ADDRESS) {
    if (state[name] !== initial[name]) words.set(name, state[name]);
  }
  if (state.view === "focus") words.set("task", state.task);
  if (state.fade) words.set("fade", "1");
  if (state.selected.size) words.set("heads", selectedNames().join(","));
  if (state.group) words.set("group", state.group);
  if (state.atlas) words.set("atlas", state.atlas);
  if (state.cell !== null) words.set("cell", ATLASES[state.atlas].name(state.cell));
  const text = [state.section, words.toString().replaceAll("%2C", ",")].filter(Boolean).join("&");
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const sectionId = SECTIONS.map(([id]) => id).find((id) => words.has(id)) ?? null;
  const asked = { ...initial, section: sectionId, fade: words.get("fade") === "1" };
  for (const name of IN_ADDRESS) {
    if (words.has(name)) asked[name] = name === "k" ? +words.get(name) : words.get(name);
  }
  if (words.has("method") && !words.has("measure")) asked.measure = null;
  asked.atlas = ATLASES[+words.get("atlas")] ? +words.get("atlas") : 0;
  asked.group = ATLASES[+words.get("group")] ? +words.get("group") : 0;
  const indices = (words.get("heads") ?? "").split(",").map((name) => ATLASES[asked.group].indexOf(name));
  asked.selected = new Set(indices.filter((index) => index !== null));
  asked.cell = ATLASES[asked.atlas].indexOf(words.get("cell") ?? "");
  return asked;
}

settle();
const initial = { ...state };
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let onPaper = false; // paper is light
const theme = () => (onPaper ? "light" : state.theme === "auto" ? (prefersDark.matches ? "dark" : "light") : state.theme);

/** Whether the values lie between 0 and 1 by what they are. */
const isBounded = () => state.measure === ROLES || measureInfo(state.method, state.measure).zero_to_one;
/** How the chosen maps are coloured: roles, signed or by size. */
const colouring = () => (state.measure === ROLES ? "roles" : isBounded() ? "size" : state.sign);
const chosenMap = (atlas, task) => atlas.map(task, state.method, state.measure, state.seed);
/** The rule by which the chosen method ranks heads, in words. */
const rankingRule = () => methodInfo(state.method).ranking;

/** The colour scale of a task's map: one for all tasks, or its own. */
function scaleOf(task) {
  const views = PAGE.table[state.method][plainMeasure(state.method, state.measure)];
  const { shared, tasks } = views[state.seed];
  return PAGE.scales[state.scale === "task" ? tasks[task] ?? shared : shared];
}
