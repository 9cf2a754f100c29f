// Colours: viridis for sizes, a diverging scale for signs, and the roles of heads. What figures share comes from Python.

const DIVERGING = {
  light: ["7f2704", "b3400a", "d9682b", "f0a070", "f9d9c3", "f5f6f7", "d1e3f0", "92c0de", "4a90c4", "2166ac", "0a3566"],
  dark: ["ffc9a3", "f0955c", "c96a38", "8a4527", "4d2a1c", "1c2128", "1b3854", "285b8f", "3f83c9", "6aa9ee", "9ecbff"],
};
const AMOUNT = { light: ["f1f4f6", "b5dcd6", "5bb5ab", "21918c", "0f6360"], dark: ["1f262e", "164744", "1b6f6b", "2fa79f", "7fdccf"] };
const SURFACE = { light: "ffffff", dark: "161b22" };
const FADED = { light: ["e6e9ec", "bcc4cc"], dark: ["262d36", "48525e"] };
const UNMEASURED = { light: "#f6f7f8", dark: "#1a2027" };
const CODES = 256;
const MISSING = 2 * CODES;

const parts = (hex) => [-6, -4, -2].map((from) => parseInt(hex.slice(from, from + 2 || undefined), 16));
const blend = (a, b, share) => a.map((v, i) => v + (b[i] - v) * share);
const css = (rgb) => `#${rgb.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;

function along(anchors, share) {
  const at = Math.min(Math.max(share, 0), 1) * (anchors.length - 1);
  const low = Math.min(Math.floor(at), anchors.length - 2);
  return blend(parts(anchors[low]), parts(anchors[low + 1]), at - low);
}

/** From how far a head has the first role, and how far the second. */
function roleColour(first, second) {
  const [neither, onlyFirst, onlySecond, both] = PAGE.role_colours.map(([, colour]) => parts(colour));
  return blend(blend(neither, onlyFirst, first), blend(onlySecond, both, first), second);
}

/** Colours by code: 256 plain ones, the same faded, and one for heads that were not measured. */
function palette(kind, theme) {
  const plain = Array.from({ length: CODES }, (_, code) =>
    kind === "roles" ? roleColour((code >> 4) / 15, (code & 15) / 15)
      : along(kind === "signed" ? DIVERGING[theme] : PAGE.viridis, code / (CODES - 1)));
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
function colourCode(map, index, kind, top, fade) {
  const value = map.value[index];
  if (Number.isNaN(value)) return MISSING;
  if (kind === "roles") return (Math.round(value * 15) << 4) | Math.round((map.second.value[index] || 0) * 15);
  const share = kind === "signed" ? value / top / 2 + 0.5 : Math.abs(value) / top;
  const plain = Math.min(CODES - 1, Math.max(0, Math.round(share * (CODES - 1))));
  return fade && map.distinct(index) === false ? plain + CODES : plain;
}

/** Black or white, whichever reads better on a colour. */
function ink(rgb) {
  const light = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.19 ? "#10141a" : "#ffffff";
}
