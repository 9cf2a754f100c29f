// What is being looked at. It lives in the address, so that any view can be linked to.

const state = {
  view: "grid", task: null, method: null, measure: null, seed: null, scale: "shared", sign: "magnitude", fade: false,
  theme: "auto", section: null, k: 10, group: 0, selected: new Set(), cell: null, atlas: 0,
};
const listeners = [];
const onChange = (listener) => listeners.push(listener);
const announce = (...changed) => listeners.forEach((listener) => listener(new Set(changed)));

const methodsWith = (method) => ATLASES.filter((atlas) => atlas.methods.some((known) => known.name === method));
const measuresOf = (method) => [...new Set(methodsWith(method).flatMap((atlas) => atlas.measures(method)))];
const seedsOf = (method, measure) =>
  [...new Set(methodsWith(method).flatMap((atlas) => atlas.seeds(method, measure)))].sort((a, b) => a - b);

/** The tasks that the method has a map of. */
const tasksOf = (method) => MAPPED.filter((task) => ATLASES.some((atlas) => atlas.measured(task, method)));

/** The last method that measures importance of every head; else the first there is. */
function usualMethod() {
  const atlas = ATLASES[0];
  const whole = atlas.methods.filter(({ name, primary }) => primary === "importance" && atlas.maps
    .filter((map) => map.method === name && map.measure === primary).slice(0, 1)
    .every((map) => !decode(map.value).some(Number.isNaN)));
  return (whole.at(-1) ?? atlas.methods[0]).name;
}

/** Replace what does not exist by what does. */
function settle() {
  if (!METHODS.includes(state.method)) state.method = usualMethod();
  const measures = measuresOf(state.method);
  if (!measures.includes(state.measure)) {
    state.measure = measures.includes(ROLES) ? ROLES : methodsWith(state.method)[0].primary(state.method);
  }
  const seeds = seedsOf(state.method, state.measure);
  const choices = seeds.length > 1 ? ["mean", "always", "any", ...seeds.map(String)] : ["mean"];
  if (!choices.includes(state.seed)) state.seed = "mean";
  if (!TASKS.includes(state.task)) state.task = MAPPED[0] ?? TASKS[0];
  for (const [name, words] of Object.entries({
    view: ["grid", "focus"], scale: ["shared", "own"], sign: ["magnitude", "signed"], theme: ["auto", "light", "dark"],
  })) {
    if (!words.includes(state[name])) state[name] = words[0];
  }
  const tasks = tasksOf(state.method);
  if (state.view === "grid" && !tasks.includes(state.task)) state.task = tasks[0] ?? state.task;
  const most = Math.max(...ATLASES.map((atlas) => atlas.size));
  state.k = Math.min(Math.max(1, Math.round(state.k) || 10), most);
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

const selectedNames = () => [...state.selected].sort((a, b) => a - b).map((i) => ATLASES[state.group].name(i));

function writeAddress() {
  const words = new URLSearchParams();
  for (const name of ["view", "task", "method", "measure", "seed", "scale", "sign", "theme", "k"]) {
    if (state[name] !== usual[name]) words.set(name, state[name]);
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
  const section = SECTIONS.map(([id]) => id).find((id) => words.has(id)) ?? null;
  const found = { ...usual, section, fade: words.get("fade") === "1" };
  for (const name of ["view", "task", "method", "measure", "seed", "scale", "sign", "theme", "k"]) {
    if (words.has(name)) found[name] = name === "k" ? +words.get(name) : words.get(name);
  }
  if (words.has("method") && !words.has("measure")) found.measure = null;
  found.atlas = ATLASES[+words.get("atlas")] ? +words.get("atlas") : 0;
  found.group = ATLASES[+words.get("group")] ? +words.get("group") : 0;
  const places = (words.get("heads") ?? "").split(",").map((name) => ATLASES[found.group].place(name));
  found.selected = new Set(places.filter((place) => place !== null));
  found.cell = ATLASES[found.atlas].place(words.get("cell") ?? "");
  return found;
}

settle();
const usual = { ...state };
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let onPaper = false; // paper is light
const theme = () => (onPaper ? "light" : state.theme === "auto" ? (prefersDark.matches ? "dark" : "light") : state.theme);

/** How the chosen maps are coloured: roles, signed or by size. */
const kindOf = () => (state.measure === ROLES ? "roles" : BOUNDED.has(state.measure) ? "magnitude" : state.sign);
const chosenMap = (atlas, task) => atlas.map(task, state.method, state.measure, state.seed);

const scales = new Map();
function scaleOf(task) {
  if (BOUNDED.has(state.measure)) return { top: 1, clipped: false };
  const key = [state.method, state.measure, state.seed, state.scale === "own" ? task : ""].join("\u0001");
  if (!scales.has(key)) {
    const tasks = state.scale === "own" ? [task] : MAPPED;
    scales.set(key, scaleTop(ATLASES.flatMap((atlas) => tasks.map((own) => chosenMap(atlas, own))).filter(Boolean)));
  }
  return scales.get(key);
}
