// The atlases behind the page: maps are decoded when first looked at.

const PAGE = JSON.parse(byId("data").textContent);
const ROLES = "roles"; // facilitation and interference in one picture
const BOUNDED = new Set(["facilitation", "interference", "irrelevance", "gate_plus", "gate_minus", ROLES]);
const SEED_WORDS = { mean: "mean over seeds", always: "Always: the least over seeds", any: "Any: the most over seeds" };
const LEVEL = 0.05; // a head whose q is at or above it is not distinguishable from zero

function decode(text) {
  if (text === null) return null;
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

/** One value a head, with what is known about its error. `low` and `high` are absent where nothing is known. */
class HeadMap {
  constructor(value, { low = null, high = null, q = null, spread = null, second = null } = {}) {
    Object.assign(this, { value, low, high, q, spread, second });
  }

  /** Sizes of the measured heads, largest first. */
  get sizes() {
    this.sorted ??= this.value.filter((value) => !Number.isNaN(value)).map(Math.abs).sort().reverse();
    return this.sorted;
  }

  /** How many heads were measured. */
  get count() {
    return this.sizes.length;
  }

  /** The strongest k heads in order; equal ones by their place. */
  strongest(k) {
    const least = this.sizes[Math.min(k, this.count) - 1];
    const places = [];
    this.value.forEach((value, i) => Math.abs(value) >= least && places.push(i));
    return places.sort((a, b) => Math.abs(this.value[b]) - Math.abs(this.value[a]) || a - b).slice(0, k);
  }

  /** The place of a head among all, 1 for the strongest; null where it was not measured. */
  rank(i) {
    if (this.ranks) return this.ranks[i] || null;
    const own = Math.abs(this.value[i]);
    if (Number.isNaN(own)) return null;
    let rank = 1;
    for (let j = 0; j < this.value.length; j++) {
      const size = Math.abs(this.value[j]);
      if (size > own || (size === own && j < i)) rank++;
    }
    return rank;
  }

  /** The place of a head among those that help, 1 for the largest value: the order in which tests of a map take its heads. */
  helping(i) {
    const own = this.value[i];
    if (Number.isNaN(own)) return null;
    return 1 + this.value.reduce((sum, value, j) => sum + (value > own || (value === own && j < i)), 0);
  }

  /** Ranks of all heads at once, for those who need them all. */
  rankAll() {
    if (this.ranks) return;
    const ranks = new Int32Array(this.value.length);
    this.strongest(this.count).forEach((place, n) => (ranks[place] = n + 1));
    this.ranks = ranks;
  }

  /** How many heads differ from zero. */
  get found() {
    this.differing ??= this.q.reduce((sum, q) => sum + (q < LEVEL), 0);
    return this.differing;
  }

  /** Whether the head differs from zero; null where that was not tested. */
  distinct(i) {
    return this.q && !Number.isNaN(this.q[i]) ? this.q[i] < LEVEL : null;
  }

  get mass() {
    this.total ??= this.value.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : Math.abs(value)), 0);
    return this.total;
  }
}

function fromStored(stored) {
  const value = decode(stored.value);
  const stderr = decode(stored.stderr);
  const reach = stored.reach;
  const known = stderr && reach !== null;
  return new HeadMap(value, {
    low: known ? value.map((v, i) => v - reach * stderr[i]) : null,
    high: known ? value.map((v, i) => v + reach * stderr[i]) : null,
    q: decode(stored.q),
    spread: known ? "95 % interval" : null,
  });
}

/** Several seeds as one map. Always and Any are the values nearest to and farthest from zero; seeds that disagree in
 * sign make Always zero. A head's q is the worst of its seeds for Always, the best for Any, their mean otherwise. */
function combine(maps, how) {
  const size = maps[0].value.length;
  const [value, low, high, q] = [0, 1, 2, 3].map(() => new Float32Array(size).fill(NaN));
  const tested = maps.filter((map) => map.q);
  for (let i = 0; i < size; i++) {
    let [least, most, sum, count] = [Infinity, -Infinity, 0, 0];
    for (const map of maps) {
      const own = map.value[i];
      if (Number.isNaN(own)) continue;
      if (own < least) least = own;
      if (own > most) most = own;
      sum += own;
      count++;
    }
    if (!count) continue;
    low[i] = least;
    high[i] = most;
    if (how === "always") value[i] = least > 0 ? least : most < 0 ? most : 0;
    else value[i] = how === "any" ? (-least > most ? least : most) : sum / count;
    if (tested.length) q[i] = joined(tested, i, how);
  }
  return new HeadMap(value, { low, high, q: tested.length ? q : null, spread: "range over seeds" });
}

function joined(maps, i, how) {
  const known = maps.map((map) => map.q[i]).filter((own) => !Number.isNaN(own));
  if (!known.length) return NaN;
  if (how === "mean") return known.reduce((a, b) => a + b, 0) / known.length;
  return how === "always" ? Math.max(...known) : Math.min(...known);
}

class AtlasData {
  constructor(raw, index) {
    Object.assign(this, raw, { index });
    ({ layers: this.layers, heads: this.heads, kv_heads: this.kvHeads } = raw.model);
    this.size = this.layers * this.heads;
    this.stored = new Map(raw.maps.map((map) => [this.key(map.task, map.method, map.measure, map.seed), map]));
    this.attention = Object.fromEntries(Object.entries(raw.attention).map(([look, values]) => [look, decode(values)]));
    this.pairs = new Set(raw.maps.map((map) => this.key(map.task, map.method)));
    this.cache = new Map();
    this.seedLists = new Map();
    for (const map of raw.maps) {
      const list = this.seedLists.get(`${map.method}\n${map.measure}`) ?? new Set();
      this.seedLists.set(`${map.method}\n${map.measure}`, list.add(map.seed));
    }
  }

  key(...parts) {
    return parts.join("\u0001");
  }

  seeds(method, measure) {
    const own = measure === ROLES ? "facilitation" : measure;
    return [...(this.seedLists.get(`${method}\n${own}`) ?? [])].sort((a, b) => a - b);
  }

  measures(method) {
    const found = [...new Set(this.maps.filter((map) => map.method === method).map((map) => map.measure))];
    return found.includes("facilitation") && found.includes("interference") ? [ROLES, ...found] : found;
  }

  primary(method) {
    return this.methods.find((known) => known.name === method)?.primary;
  }

  /** Whether the method has a map of the task. */
  measured(task, method) {
    return this.pairs.has(this.key(task, method));
  }

  /** The map of a task, or null where there is none. `seed` is a number or mean, always, any. */
  map(task, method, measure, seed) {
    const key = this.key(task, method, measure, seed);
    if (!this.cache.has(key)) this.cache.set(key, this.build(task, method, measure, seed));
    return this.cache.get(key);
  }

  build(task, method, measure, seed) {
    if (measure === ROLES) {
      const [helps, hurts] = ["facilitation", "interference"].map((name) => this.map(task, method, name, seed));
      return helps && hurts ? new HeadMap(helps.value, { ...helps, second: hurts }) : null;
    }
    if (!(seed in SEED_WORDS)) {
      const stored = this.stored.get(this.key(task, method, measure, seed));
      return stored ? fromStored(stored) : null;
    }
    const maps = this.seeds(method, measure).map((own) => this.map(task, method, measure, own)).filter(Boolean);
    if (maps.length < 2) return maps[0] ?? null;
    return combine(maps, seed);
  }

  /** What ranks the heads of a method for a task: its first measure, over all seeds. */
  ranking(task, method) {
    return this.map(task, method, this.primary(method), "mean");
  }

  layerOf(i) {
    return Math.floor(i / this.heads);
  }

  name(i) {
    return `L${this.layerOf(i)}H${i % this.heads}`;
  }

  /** The place of a head by its name; null where the model has no such head. */
  place(name) {
    const found = /^L(\d+)H(\d+)$/i.exec(name);
    if (!found || +found[1] >= this.layers || +found[2] >= this.heads) return null;
    return +found[1] * this.heads + +found[2];
  }

  /** The query heads that share keys and values with this one, itself included. */
  kvGroup(i) {
    const width = Math.max(1, Math.floor(this.heads / (this.kvHeads || this.heads)));
    const first = i - (i % this.heads) + Math.floor((i % this.heads) / width) * width;
    return Array.from({ length: width }, (_, n) => first + n);
  }
}

const ATLASES = PAGE.atlases.map((raw, index) => new AtlasData(raw, index));
const PAIR = ATLASES.length > 1;
// Heads selected in one atlas are the same heads in another only where the model is the same.
for (const atlas of ATLASES) {
  atlas.group = ATLASES.find((other) => other.model.fingerprint === atlas.model.fingerprint).index;
  const alike = PAIR && new Set(ATLASES.map((other) => other.model.name)).size === 1;
  atlas.label = alike ? `${atlas.model.name} (${atlas.folder})` : atlas.model.name;
}
const TASKS = [...new Set(ATLASES.flatMap((atlas) => atlas.tasks.map((task) => task.name)))];
const METHODS = [...new Set(ATLASES.flatMap((atlas) => atlas.methods.map((method) => method.name)))];
const MAPPED = TASKS.filter((name) => ATLASES.some((atlas) => atlas.tasks.some((t) => t.name === name && t.mapped)));
