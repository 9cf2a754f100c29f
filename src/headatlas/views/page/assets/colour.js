// Colours: viridis for sizes, a diverging scale for signs, and the roles of gated heads (Okabe and Ito's colours).

const VIRIDIS = ["440154", "481a6c", "472f7d", "414487", "39568c", "31688e", "2a788e", "23888e", "1f988b", "22a884",
  "35b779", "54c568", "7ad151", "a5db36", "d2e21b", "fde725"];
const DIVERGING = {
  light: ["7f2704", "b3400a", "d9682b", "f0a070", "f9d9c3", "f5f6f7", "d1e3f0", "92c0de", "4a90c4", "2166ac", "0a3566"],
  dark: ["ffc9a3", "f0955c", "c96a38", "8a4527", "4d2a1c", "1c2128", "1b3854", "285b8f", "3f83c9", "6aa9ee", "9ecbff"],
};
const AMOUNT = { light: ["f1f4f6", "b5dcd6", "5bb5ab", "21918c", "0f6360"], dark: ["1f262e", "164744", "1b6f6b", "2fa79f", "7fdccf"] };
const ROLE_COLOURS = { neither: "111316", facilitating: "009e73", interfering: "d55e00", both: "f0e442" };
const SURFACE = { light: "ffffff", dark: "161b22" };
const FADED = { light: ["e6e9ec", "bcc4cc"], dark: ["262d36", "48525e"] };
const UNMEASURED = { light: "#f6f7f8", dark: "#1a2027" };
const CODES = 256;
const MISSING = 2 * CODES;

const parts = (hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
const blend = (a, b, share) => a.map((v, i) => v + (b[i] - v) * share);
const css = (rgb) => `#${rgb.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;

function along(anchors, share) {
  const at = Math.min(Math.max(share, 0), 1) * (anchors.length - 1);
  const low = Math.min(Math.floor(at), anchors.length - 2);
  return blend(parts(anchors[low]), parts(anchors[low + 1]), at - low);
}

function roleColour(helps, hurts) {
  const [none, good, bad, both] = Object.values(ROLE_COLOURS).map(parts);
  return blend(blend(none, good, helps), blend(bad, both, helps), hurts);
}

/** Colours by code: 256 plain ones, the same faded, and one for heads that were not measured. */
function palette(kind, theme) {
  const plain = Array.from({ length: CODES }, (_, code) =>
    kind === "roles" ? roleColour((code >> 4) / 15, (code & 15) / 15)
      : along(kind === "signed" ? DIVERGING[theme] : VIRIDIS, code / (CODES - 1)));
  const faded = plain.map((_, code) => along(FADED[theme], kind === "signed" ? Math.abs(code / (CODES - 1) - 0.5) * 2 : code / (CODES - 1)));
  return [...plain, ...faded].map(css).concat(UNMEASURED[theme]);
}

const palettes = new Map();
function colours(kind, theme) {
  const key = `${kind} ${theme}`;
  if (!palettes.has(key)) palettes.set(key, palette(kind, theme));
  return palettes.get(key);
}

/** The same colours as the bytes of pixels. */
const pixels = new Map();
function pixelColours(fills) {
  if (!pixels.has(fills)) {
    pixels.set(fills, Uint32Array.from(fills, (colour) => {
      const [r, g, b] = parts(colour.slice(1));
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    }));
  }
  return pixels.get(fills);
}

/** The code of a head's colour. */
function code(map, i, kind, top, fade) {
  const value = map.value[i];
  if (Number.isNaN(value)) return MISSING;
  if (kind === "roles") return (Math.round(value * 15) << 4) | Math.round((map.second.value[i] || 0) * 15);
  const share = kind === "signed" ? value / top / 2 + 0.5 : Math.abs(value) / top;
  const place = Math.min(CODES - 1, Math.max(0, Math.round(share * (CODES - 1))));
  return fade && map.distinct(i) === false ? place + CODES : place;
}

/** The top of a colour scale, a round number just above the 99th percentile, and whether anything lies above it. */
function scaleTop(maps) {
  const sorted = new Float32Array(maps.reduce((sum, map) => sum + map.count, 0));
  maps.reduce((at, map) => {
    sorted.set(map.sizes, at);
    return at + map.count;
  }, 0);
  sorted.sort();
  const most = sorted.at(-1) ?? 0;
  const at = 0.99 * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  const high = below + ((sorted[Math.ceil(at)] ?? 0) - below) * (at % 1) || most;
  if (!high) return { top: 1, clipped: false };
  const power = 10 ** Math.floor(Math.log10(high));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((s) => s * power >= high * (1 - 1e-6));
  const top = Number((step * power).toPrecision(2));
  return { top, clipped: most > top * (1 + 1e-6) };
}

/** From 0 to the top in 3 to 5 round steps, as numbers and as texts; the last carries a plus where values lie above. */
function scaleTicks({ top, clipped }, kind) {
  const lead = Math.round((top / 10 ** Math.floor(Math.log10(top) + 1e-9)) * 10) / 10;
  const count = { 1.5: 3, 3: 3, 6: 3, 2: 4, 4: 4, 8: 4 }[lead] ?? 5;
  const decimals = Math.max(1, 1 - Math.floor(Math.log10(top) + 1e-9));
  const text = (value) => minus(value.toFixed(decimals)) + (clipped && Math.abs(value) === top ? "+" : "");
  const up = Array.from({ length: count + 1 }, (_, i) => (i === count ? top : (top * i) / count));
  const values = kind === "signed" ? [-top, -top / 2, 0, top / 2, top] : up;
  return values.map((value) => ({ value, text: text(value) }));
}

/** Black or white, whichever reads better on a colour. */
function ink(rgb) {
  const light = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.19 ? "#10141a" : "#ffffff";
}
