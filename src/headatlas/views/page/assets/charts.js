// Small drawings shared by the sections: lines with bands, matrices, bars with intervals.

/** Round numbers for the ticks of an axis. */
function roundTicks(low, high, count = 4) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((s) => s * power >= rough * 0.999) * power;
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) ticks.push(Number(tick.toPrecision(10)));
  return ticks;
}

/** Lines over x. A series is {name, line, x, y, low, high}; `line` names its style. `log` spaces x by ratios. */
function lineChart({ series, level = null, xLabel, yLabel, label, log = false, width = 300, height = 190, zero = false }) {
  const edge = { left: 46, right: 12, top: 10, bottom: 36 };
  const xs = series.flatMap((one) => one.x).filter(finite);
  const ys = series.flatMap((one) => [...one.y, ...(one.low ?? []), ...(one.high ?? [])]).concat(level ?? []).filter(finite);
  if (zero) ys.push(0);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const bend = (x) => (log ? Math.log2(x + 1) : x);
  const room = (y1 - y0) * 0.06 || 0.1;
  const [low, high] = [zero && y0 >= 0 ? 0 : y0 - room, y1 + room];
  const px = (x) => edge.left + ((bend(x) - bend(x0)) / (bend(x1) - bend(x0) || 1)) * (width - edge.left - edge.right);
  const py = (y) => height - edge.bottom - ((y - low) / (high - low)) * (height - edge.top - edge.bottom);
  const xTicks = log ? thinned([...new Set(xs)].sort((a, b) => a - b), px) : roundTicks(x0, x1);
  const path = (points) => points.filter(([, y]) => finite(y)).map(([x, y], n) => `${n ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
  const zip = (one, column) => one.x.map((x, i) => [x, column[i]]);
  const svg = draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const tick of roundTicks(low, high)) {
    svg.append(draw("line", { class: "rule", x1: edge.left, x2: width - edge.right, y1: py(tick), y2: py(tick) }),
      draw("text", { class: "tick", x: edge.left - 6, y: py(tick) + 3.5, "text-anchor": "end" }, minus(String(tick))));
  }
  for (const tick of xTicks) {
    svg.append(draw("text", { class: "tick", x: px(tick), y: height - edge.bottom + 14, "text-anchor": "middle" }, String(tick)));
  }
  if (finite(level)) svg.append(draw("line", { class: "level", x1: edge.left, x2: width - edge.right, y1: py(level), y2: py(level) }));
  for (const one of series) {
    if (one.low?.some(finite)) {
      const band = [...zip(one, one.high), ...zip(one, one.low).reverse()].filter(([, y]) => finite(y));
      svg.append(draw("path", { class: `band ${one.line}`, d: `${path(band)}Z` }));
    }
  }
  for (const one of series) {
    svg.append(draw("path", { class: `line ${one.line}`, d: path(zip(one, one.y)) }, draw("title", {}, one.name)));
    if (one.x.length > 12) continue;
    one.x.forEach((x, i) => finite(one.y[i]) && svg.append(draw("circle", { class: `dot ${one.line}`, cx: px(x), cy: py(one.y[i]), r: 2.6 },
      draw("title", {}, `${one.name}, ${xLabel} ${x}: ${show(one.y[i])}${finite(one.low?.[i]) ? ` (${show(one.low[i], 3)} to ${show(one.high[i], 3)})` : ""}`))));
  }
  svg.append(draw("text", { class: "word", x: (edge.left + width - edge.right) / 2, y: height - 4, "text-anchor": "middle" }, xLabel));
  if (yLabel) svg.append(draw("text", { class: "word", transform: `translate(10 ${(edge.top + height - edge.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yLabel));
  return svg;
}

/** Ticks whose labels do not touch. */
function thinned(ticks, px) {
  let last = -Infinity;
  return ticks.filter((tick) => {
    if (px(tick) - last < 22) return false;
    last = px(tick);
    return true;
  });
}

function lineKey(entries) {
  return make("div", { class: "key" }, entries.map(([line, text]) => make("span", {}, make("i", { class: line }), text)));
}

const COLUMN = 94; // pixels that a column needs so that long words such as "Understanding" are not broken

/** A table whose cells are coloured by their numbers: {text, small, value, title, outlined, sure} or null. */
function matrix({ rows, columns, cells, corner = "", most = null, kind = "signed", label }) {
  const top = most ?? Math.max(...cells.flat().map((one) => (finite(one?.value) ? Math.abs(one.value) : 0)), 1e-9);
  const anchors = (kind === "signed" ? DIVERGING : AMOUNT)[theme()];
  const body = rows.map((row, r) => make("tr", {}, make("th", { scope: "row" }, row), cells[r].map((one) => {
    if (!one || !finite(one.value)) return make("td", { class: "empty" }, one?.text ?? "");
    const rgb = along(anchors, kind === "signed" ? one.value / top / 2 + 0.5 : one.value / top);
    const td = make("td", { title: one.title, class: [one.outlined && "outlined", one.sure && "sure"].filter(Boolean).join(" ") || null },
      make("span", {}, one.text), one.small ? make("small", {}, one.small) : null);
    td.style.background = css(rgb);
    td.style.color = ink(rgb);
    return td;
  })));
  const table = make("table", { class: "matrix", "aria-label": label },
    make("thead", {}, make("tr", {}, make("th", {}, corner), columns.map((name) => make("th", { scope: "col", title: name }, name)))),
    make("tbody", {}, body));
  table.style.minWidth = `${172 + COLUMN * columns.length}px`;
  return make("div", { class: "scroll" }, table);
}

/** A bar from 0 with its interval and a mark, on a scale from `low` to `high`. */
function bar(value, { low = null, high = null, mark = null, from = 0, to = 1, kind = "" } = {}) {
  const at = (v) => (Math.min(Math.max((v - from) / (to - from), 0), 1) * 100).toFixed(2);
  const zero = Math.min(Math.max(0, from), to);
  const svg = draw("svg", { class: `bar ${kind}`, viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "track", x: 0, y: 4, width: 100, height: 4 }));
  if (finite(value)) svg.append(draw("rect", { class: "body", x: Math.min(at(value), at(zero)), y: 2, width: Math.abs(at(value) - at(zero)), height: 8 }));
  if (finite(low)) svg.append(draw("path", { class: "reach", d: `M${at(low)} 6H${at(high)}M${at(low)} 3V9M${at(high)} 3V9` }));
  if (finite(mark)) svg.append(draw("path", { class: "mark", d: `M${at(mark)} 0V12` }));
  return svg;
}

/** A section's heading with its one-sentence explanation, and a body for each atlas, side by side. */
function section(id, title, note, body) {
  const bodies = ATLASES.map((atlas) => {
    const content = body(atlas);
    return PAIR ? make("div", { class: "half" }, make("h4", { class: "whose" }, atlas.label), content) : content;
  });
  byId(id).replaceChildren(make("header", { class: "section-head" }, make("h2", {}, title), make("p", {}, note)),
    PAIR ? make("div", { class: "halves" }, bodies) : make("div", {}, bodies));
}

const empty = (text, command = null) => make("p", { class: "quiet" }, text, command ? make("code", {}, command) : null);
