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

  /** Measured heads, strongest first. */
  get order() {
    if (!this.sorted) {
      const places = [];
      this.value.forEach((value, i) => Number.isNaN(value) || places.push(i));
      this.sorted = places.sort((a, b) => Math.abs(this.value[b]) - Math.abs(this.value[a]) || a - b);
    }
    return this.sorted;
  }

  rank(i) {
    if (!this.ranks) {
      this.ranks = new Int32Array(this.value.length);
      this.order.forEach((place, n) => (this.ranks[place] = n + 1));
    }
    return this.ranks[i] || null;
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

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** Several seeds as one map. Always and Any are the values nearest to and farthest from zero; seeds that disagree in
 * sign make Always zero. */
function combine(maps, how) {
  const size = maps[0].value.length;
  const [value, low, high, q] = [0, 1, 2, 3].map(() => new Float32Array(size).fill(NaN));
  for (let i = 0; i < size; i++) {
    const own = maps.map((map) => map.value[i]).filter((v) => !Number.isNaN(v));
    if (!own.length) continue;
    low[i] = Math.min(...own);
    high[i] = Math.max(...own);
    const far = Math.abs(low[i]) > Math.abs(high[i]) ? low[i] : high[i];
    const near = low[i] > 0 ? low[i] : high[i] < 0 ? high[i] : 0;
    value[i] = how === "always" ? near : how === "any" ? far : own.reduce((a, b) => a + b, 0) / own.length;
    const known = maps.filter((map) => map.q && !Number.isNaN(map.q[i])).map((map) => map.q[i]);
    if (known.length) {
      q[i] = how === "always" ? Math.max(...known) : how === "any" ? Math.min(...known) : median(known);
    }
  }
  return new HeadMap(value, { low, high, q: maps.some((map) => map.q) ? q : null, spread: "range over seeds" });
}

class AtlasData {
  constructor(raw, index) {
    Object.assign(this, raw, { index });
    ({ layers: this.layers, heads: this.heads, kv_heads: this.kvHeads } = raw.model);
    this.size = this.layers * this.heads;
    this.stored = new Map(raw.maps.map((map) => [this.key(map.task, map.method, map.measure, map.seed), map]));
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
