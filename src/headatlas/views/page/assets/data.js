// The atlases behind the page. Numbers come ready from Python; maps are decoded when first needed.

const PAGE = JSON.parse(byId("data").textContent);
const LEVEL = PAGE.level; // a head whose q is at or above it is not distinguishable from zero
const ROLES = "roles"; // the two measures of a method of roles in one picture
const SEED_VIEWS = { mean: "mean over seeds", always: "Always: what every seed agrees on", any: "Any: what some seed says" };
const [UNMEASURED_SEED, DISAGREEMENT] = [255, 254]; // instead of the index of a seed

function decodeBytes(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** The value of a half float from its 16 bits. */
function halfValue(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/** Numbers of heads: half floats where there is a scale, else single floats; null where nothing is known. */
let halfValues = null;
function decodeNumbers(packed) {
  if (packed === null) return null;
  if (!packed.scale) return new Float32Array(decodeBytes(packed.bytes).buffer);
  halfValues ??= Float32Array.from({ length: 65536 }, (_, bits) => halfValue(bits));
  return Float32Array.from(new Uint16Array(decodeBytes(packed.bytes).buffer), (bits) => halfValues[bits] * packed.scale);
}

/** One value per head of a map, with what is known about its error and about the map as a whole. */
class HeadMap {
  constructor(fields) {
    Object.assign(this, { q: null, spread: null, distinctCount: null, second: null, readRange: () => [null, null] }, fields);
  }

  /** The interval of every head, or its range over seeds: decoded when first asked for. */
  get range() {
    this.decodedRange ??= this.readRange();
    return this.decodedRange;
  }

  get low() {
    return this.range[0];
  }

  get high() {
    return this.range[1];
  }

  /** Sizes of the measured heads, largest first: the curve that is drawn beside a large map. */
  get sizes() {
    this.sortedSizes ??= this.value.filter((value) => !Number.isNaN(value)).map(Math.abs).sort().reverse();
    return this.sortedSizes;
  }

  /** Whether the head differs from zero; null where that was not tested. */
  distinct(index) {
    return this.q && !Number.isNaN(this.q[index]) ? this.q[index] < LEVEL : null;
  }

  /** The mean size of the heads of each layer. */
  get layerMeans() {
    this.decodedLayers ??= decodeNumbers(this.summary.layers);
    return this.decodedLayers ?? [];
  }
}

/** The order of heads of one task by one method. */
class Ranking {
  constructor({ bytes, width, measured }) {
    const buffer = decodeBytes(bytes).buffer;
    this.ranks = width === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
    this.measured = measured;
    this.order = [];
    this.ranks.forEach((rank, index) => rank && (this.order[rank - 1] = index));
  }

  /** 1 for the first head; null where it was not measured. */
  rank(index) {
    return this.ranks[index] || null;
  }

  /** The first k heads. */
  first(k) {
    return this.order.slice(0, k);
  }
}

class AtlasData {
  constructor(raw, index) {
    Object.assign(this, raw, { index, layers: raw.model.layers, heads: raw.model.heads });
    this.size = this.layers * this.heads;
    this.storedMaps = new Map(raw.maps.map((stored) => [this.key(stored.task, stored.method, stored.measure), stored]));
    this.storedRanks = new Map(raw.ranks.map((stored) => [this.key(stored.task, stored.method), stored]));
    this.mapped = new Set(raw.maps.map((stored) => this.key(stored.task, stored.method)));
    this.cache = new Map();
  }

  key(...parts) {
    return parts.join("\u0001");
  }

  cached(key, compute) {
    if (!this.cache.has(key)) this.cache.set(key, compute());
    return this.cache.get(key);
  }

  method(name) {
    return this.methods.find((method) => method.name === name);
  }

  /** The names of what a method measured, roles in one picture first. */
  measures(name) {
    const method = this.method(name);
    if (!method) return [];
    return [...(method.roles ? [ROLES] : []), ...method.measures.map((measure) => measure.name)];
  }

  seeds(name, measure) {
    const plain = measure === ROLES ? this.method(name)?.roles[0] : measure;
    return this.cached(this.key("seeds", name, plain), () => {
      const stored = this.maps.filter((map) => map.method === name && map.measure === plain);
      return [...new Set(stored.flatMap((map) => map.seeds.map(({ seed }) => seed)))].sort((a, b) => a - b);
    });
  }

  /** Whether the method has a map of the task. */
  isMapped(task, method) {
    return this.mapped.has(this.key(task, method));
  }

  /** The map of a task, or null where there is none. `view` is mean, always, any or a seed. */
  map(task, method, measure, view) {
    return this.cached(this.key(task, method, measure, view), () => this.readMap(task, method, measure, view));
  }

  readMap(task, method, measure, view) {
    if (measure === ROLES) {
      const [first, second] = this.method(method)?.roles?.map((role) => this.map(task, method, role, view)) ?? [];
      return first && second ? new HeadMap({ ...first, second }) : null;
    }
    const stored = this.storedMaps.get(this.key(task, method, measure));
    if (!stored) return null;
    if (view in SEED_VIEWS && stored.joined) return this.joinSeeds(stored, view);
    const position = view in SEED_VIEWS ? 0 : stored.seeds.findIndex(({ seed }) => String(seed) === view);
    if (position < 0) return null;
    const seed = stored.seeds[position];
    return new HeadMap({
      value: decodeNumbers(seed.value), q: decodeNumbers(seed.q), distinctCount: seed.q ? seed.distinct : null,
      readRange: () => [seed.low, seed.high].map(decodeNumbers), spread: seed.low ? "95 % interval" : null,
      summary: stored.views[stored.joined ? view : "mean"],
    });
  }

  /** Several seeds as one map; which seed gives which value was decided in Python. */
  joinSeeds(stored, view) {
    const { joined } = stored;
    const take = (name) => {
      const seeds = stored.seeds.map(({ seed }) => this.map(stored.task, stored.method, stored.measure, String(seed)).value);
      return Float32Array.from(decodeBytes(joined.choices[joined[name]]), (seed, index) =>
        (seed === UNMEASURED_SEED ? NaN : seed === DISAGREEMENT ? 0 : seeds[seed][index]));
    };
    return new HeadMap({
      value: view === "mean" ? decodeNumbers(stored.mean) : take(view), readRange: () => [take("least"), take("most")],
      spread: "range over seeds", summary: stored.views[view],
    });
  }

  /** The order of the heads of a task by a method; null where it has no map. */
  ranking(task, method) {
    return this.cached(this.key("ranking", task, method), () => {
      const stored = this.storedRanks.get(this.key(task, method));
      return stored ? new Ranking(stored) : null;
    });
  }

  layerOf(index) {
    return Math.floor(index / this.heads);
  }

  name(index) {
    return `L${this.layerOf(index)}H${index % this.heads}`;
  }

  /** The index of a head by its name; null where the model has no such head. */
  indexOf(name) {
    const match = /^L(\d+)H(\d+)$/i.exec(name);
    if (!match || +match[1] >= this.layers || +match[2] >= this.heads) return null;
    return +match[1] * this.heads + +match[2];
  }
}

const ATLASES = PAGE.atlases.map((raw, index) => new AtlasData(raw, index));
const PAIR = ATLASES.length > 1;
// Heads selected in one atlas are the same heads in another only where the model is the same.
for (const atlas of ATLASES) {
  atlas.group = ATLASES.find((other) => other.model.fingerprint === atlas.model.fingerprint).index;
  const sameName = PAIR && new Set(ATLASES.map((other) => other.model.name)).size === 1;
  atlas.label = sameName ? `${atlas.model.name} (${atlas.folder})` : atlas.model.name;
}
const TASKS = [...new Set(ATLASES.flatMap((atlas) => atlas.tasks.map((task) => task.name)))];
const METHODS = [...new Set(ATLASES.flatMap((atlas) => atlas.methods.map((method) => method.name)))];
const MAPPED = TASKS.filter((name) => ATLASES.some((atlas) => atlas.tasks.some((task) => task.name === name && task.mapped)));

const HAS_MAPS = METHODS.length > 0; // none while the first method is at work

const atlasesWith = (method) => ATLASES.filter((atlas) => atlas.method(method));
/** What a method declares about itself. */
const methodInfo = (method) => atlasesWith(method)[0].method(method);
const measureInfo = (method, measure) => atlasesWith(method).flatMap((atlas) => atlas.method(method).measures)
  .find((declared) => declared.name === measure);
/** A measure with its unit, the metric and the baseline: of one task, or of all. Two atlases may differ. */
function measureLabel(method, measure, task = null) {
  const labels = atlasesWith(method).flatMap((atlas) => atlas.method(method).measures.filter(({ name }) => name === measure))
    .map((declared) => declared.labels[task] ?? declared.label);
  return labels.length ? [...new Set(labels)].join(" or ") : spaced(measure);
}
const measuresOf = (method) => [...new Set(atlasesWith(method).flatMap((atlas) => atlas.measures(method)))];
const seedsOf = (method, measure) =>
  [...new Set(atlasesWith(method).flatMap((atlas) => atlas.seeds(method, measure)))].sort((a, b) => a - b);
/** The tasks that the method has a map of. */
const tasksOf = (method) => MAPPED.filter((task) => ATLASES.some((atlas) => atlas.isMapped(task, method)));
/** The measure whose numbers stand in tables: of roles the first. */
const plainMeasure = (method, measure) => (measure === ROLES ? methodInfo(method).roles[0] : measure);
