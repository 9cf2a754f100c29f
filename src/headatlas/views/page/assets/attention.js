// Where a head looks: the words of a text, the weights of one of them as shades and arcs, or all weights as a matrix.

let attentionCount = 0;
const WORTH_AN_ARC = 0.03; // smaller weights are shades only
const VISIBLE = { " ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍" };

/** A token whose spaces and ends of lines can be seen. */
const visible = (token) => token.replace(/[ \n\t\r]/g, (letter) => VISIBLE[letter]) || "∅";
/** The same in running text, where words are set apart anyway. */
const inText = (token) => (token.trim() ? visible(token.replace(/^ /, "")) : visible(token));

/** Rows of attention weights, one per query, from the bytes of a lower triangle. */
function decodeAttention(packed) {
  const bytes = decodeBytes(packed);
  const rows = [];
  for (let from = 0, size = 1; from + size <= bytes.length; from += size, size++) rows.push(Array.from(bytes.subarray(from, from + size), (byte) => byte / 255));
  return rows;
}

const GAP = 13; // pixels between two lines of words

/** From one word to another: over the words of the same line, or between the lines and then straight up. */
function arc(from, to) {
  if (Math.abs(to.top - from.top) < 4) {
    const high = Math.min(18, 6 + Math.abs(to.x - from.x) / 14);
    return `M${from.x} ${from.top}C${from.x} ${from.top - high} ${to.x} ${to.top - high} ${to.x} ${to.top}`;
  }
  const above = Math.max(to.bottom, from.top - GAP);
  const middle = (from.top + above) / 2;
  return `M${from.x} ${from.top}C${from.x} ${middle - 3} ${to.x} ${middle + 3} ${to.x} ${above}V${to.bottom}`;
}

class AttentionText {
  /** `after` is what follows the text: the answer. */
  constructor({ name, tokens, changed, packed, after, matrix: asMatrix }) {
    Object.assign(this, { name, tokens, asMatrix });
    this.weights = packed === null ? null : decodeAttention(packed);
    this.query = tokens.length - 1;
    const number = attentionCount++;
    const differs = new Set(changed);
    this.words = tokens.map((token, i) => make("span", {
      role: "option", class: `word${differs.has(i) ? " changed" : ""}`, id: `w${number}-${i}`, "data-word": i,
    }, inText(token)));
    this.flow = make("div", {
      class: "flow", role: "listbox", tabindex: this.weights ? "0" : null, "aria-label": `${name}: choose the word that looks`,
      onkeydown: (event) => this.onKey(event), onclick: (event) => this.click(event), onpointermove: (event) => this.hover(event), onpointerleave: hideTip,
    }, tokens.flatMap((token, i) => [token.startsWith(" ") ? " " : null, this.words[i], token.includes("\n") ? make("br") : null]),
    after ? make("span", { class: "after", "aria-hidden": "true" }, `→ ${inText(after)}`) : null);
    this.arcs = draw("svg", { class: "arcs", "aria-hidden": "true" });
    this.note = make("p", { class: "quiet looks-at", "aria-live": "polite" });
    this.element = make("figure", { class: "attended", "data-text": name }, make("figcaption", {}, make("b", {}, name)),
      make("div", { class: "flow-box" }, this.arcs, this.flow), this.note);
    if (this.weights && asMatrix) this.addMatrix();
    new ResizeObserver(() => this.drawArcs()).observe(this.flow);
    this.look(this.query);
  }

  /** Another word looks. */
  look(query) {
    this.query = query;
    if (this.weights) this.flow.setAttribute("aria-activedescendant", this.words[query].id);
    this.words.forEach((word, i) => {
      word.setAttribute("aria-selected", String(i === query && Boolean(this.weights)));
      const weight = this.weights?.[query]?.[i] ?? 0;
      word.style.setProperty("--weight", `${Math.round(85 * weight ** 0.6)}%`);
    });
    this.note.textContent = this.weights ? this.sentence() : "Its attention was not measured here.";
    this.drawArcs();
    this.paintMatrix();
  }

  /** The largest weights of the query, in words. */
  sentence() {
    const row = this.weights[this.query];
    const largest = row.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 4).filter(([weight]) => weight >= 0.01);
    const from = this.query === this.tokens.length - 1 ? `${inText(this.tokens[this.query])}, where the answer is read,` : inText(this.tokens[this.query]);
    return `${from} looks at ${largest.map(([weight, i]) => `${inText(this.tokens[i])} (${percent(weight)})`).join(", ") || "nothing in particular"}.`;
  }

  /** Curves from the word that looks to those it looks at: over the line, or from line to line. */
  drawArcs() {
    if (!this.weights || this.asMatrix) return;
    const frame = this.flow.getBoundingClientRect();
    if (!frame.width) return;
    const at = (i) => {
      const box = this.words[i].getBoundingClientRect();
      return { x: box.left - frame.left + box.width / 2, top: box.top - frame.top, bottom: box.bottom - frame.top };
    };
    const from = at(this.query);
    this.arcs.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    this.arcs.setAttribute("width", frame.width);
    this.arcs.setAttribute("height", frame.height);
    const paths = this.weights[this.query].flatMap((weight, i) => {
      if (weight < WORTH_AN_ARC || i === this.query) return [];
      const to = at(i);
      const path = draw("path", { d: arc(from, to) });
      path.style.strokeWidth = (0.8 + 5 * weight).toFixed(2);
      path.style.opacity = (0.3 + 0.6 * weight).toFixed(2);
      return [path];
    });
    this.arcs.replaceChildren(...paths);
  }

  addMatrix() {
    this.canvas = make("canvas", {
      class: "weights", role: "img", "aria-label": `${this.name}: attention of every word, one row each`,
      onpointermove: (event) => this.hoverMatrix(event), onpointerleave: hideTip, onclick: (event) => this.look(this.cell(event)[0]),
    });
    this.canvas.width = this.canvas.height = this.tokens.length;
    this.element.append(this.canvas);
  }

  paintMatrix() {
    if (!this.canvas) return;
    const picture = new ImageData(this.tokens.length, this.tokens.length);
    const pixelValues = pixelColours(colours("size", theme()));
    const bytes = new Uint32Array(picture.data.buffer);
    this.weights.forEach((row, query) => row.forEach((weight, key) => {
      bytes[query * this.tokens.length + key] = pixelValues[Math.round(weight ** 0.6 * 255)];
    }));
    this.canvas.getContext("2d").putImageData(picture, 0, 0);
  }

  /** Query and key under the pointer. */
  cell(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = (share) => Math.min(this.tokens.length - 1, Math.max(0, Math.floor(share * this.tokens.length)));
    return [at((event.clientY - box.top) / box.height), at((event.clientX - box.left) / box.width)];
  }

  hoverMatrix(event) {
    event.stopPropagation();
    const [query, key] = this.cell(event);
    if (key > query) return hideTip();
    return placeTip(percent(this.weights[query][key]), "", [["from", inText(this.tokens[query])], ["to", inText(this.tokens[key])]], "click: show its words", event.clientX, event.clientY);
  }

  wordAt(event) {
    const word = event.target.closest("[data-word]");
    return word && this.weights ? +word.dataset.word : null;
  }

  click(event) {
    const word = this.wordAt(event);
    if (word !== null) this.look(word);
  }

  hover(event) {
    event.stopPropagation(); // outside maps the page would hide it
    const key = this.wordAt(event);
    if (key === null) return hideTip();
    const weight = this.weights[this.query][key];
    return placeTip(visible(this.tokens[key]), `token ${key + 1} of ${this.tokens.length}`,
      [[`attention from ${inText(this.tokens[this.query])}`, weight === undefined ? "none: it comes later" : percent(weight)]], "click: see where this word looks", event.clientX, event.clientY);
  }

  onKey(event) {
    const to = { ArrowLeft: this.query - 1, ArrowRight: this.query + 1, Home: 0, End: this.tokens.length - 1 }[event.key];
    if (!this.weights || to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.look(Math.min(this.tokens.length - 1, Math.max(0, to)));
  }
}
