// Saving what is shown: numbers as CSV, the picture as PNG or SVG.

const shownTasks = () => (state.view === "focus" ? [state.task] : TASKS);
const INK = { light: "#1c2128", dark: "#e8ebef" };

function save(kind) {
  const name = ["headatlas", ATLASES[0].model.name, state.view === "focus" ? state.task : "all", state.method, state.measure]
    .join("-").replace(/[^\p{L}\p{N}-]+/gu, "_").slice(0, 120);
  if (kind === "CSV") return offer(new Blob([asCsv()], { type: "text/csv" }), `${name}.csv`);
  if (kind === "SVG") return offer(new Blob([asSvg()], { type: "image/svg+xml" }), `${name}.svg`);
  return asCanvas().toBlob((blob) => offer(blob, `${name}.png`), "image/png");
}

function offer(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function asCsv() {
  const field = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const number = (value) => (finite(value) ? String(Number(value.toPrecision(7))) : "");
  const lines = ["model,task,method,measure,seed,layer,head,value,low,high,q_value,rank"];
  for (const atlas of ATLASES) {
    for (const task of shownTasks()) {
      const map = chosenMap(atlas, task);
      if (!map) continue;
      const ranking = atlas.ranking(task, state.method);
      const seeds = atlas.seeds(state.method, state.measure);
      const measures = map.second ? methodInfo(state.method).roles.map((role, n) => [role, n ? map.second : map]) : [[state.measure, map]];
      for (const [measure, measureMap] of measures) {
        measureMap.value.forEach((value, index) => Number.isNaN(value) || lines.push([field(atlas.label), field(task), state.method, measure,
          seeds.length < 2 ? seeds[0] : state.seed, atlas.layerOf(index), index % atlas.heads, number(value), number(measureMap.low?.[index]),
          number(measureMap.high?.[index]), number(measureMap.q?.[index]), ranking.rank(index) ?? ""].join(",")));
      }
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** Draw the shown maps with a pen that knows rectangles and texts; returns the size of the sheet. */
function drawSheet(pen) {
  const tasks = shownTasks();
  const columns = PAIR ? 2 : Math.min(4, tasks.length);
  const large = state.view === "focus" ? 2 : 1;
  const kind = colouring();
  const fills = colours(kind, theme());
  const plot = { width: 190 * large, height: smallHeight * large };
  const step = { x: plot.width + 62, y: plot.height + 66 };
  const items = tasks.flatMap((task) => ATLASES.map((atlas) => ({ task, atlas })));
  const size = { width: columns * step.x + 24, height: Math.ceil(items.length / columns) * step.y + 74 };
  pen.start(size, `#${SURFACE[theme()]}`);
  pen.text(20, 26, `${listed(ATLASES.map((atlas) => atlas.label))}: ${spaced(state.measure)} by ${state.method}`, { size: 14, weight: 600 });
  items.forEach(({ task, atlas }, n) => {
    const left = 44 + (n % columns) * step.x;
    const top = 62 + Math.floor(n / columns) * step.y;
    const map = chosenMap(atlas, task);
    const tickSteps = atlas.model.tick_step;
    pen.text(left, top - 8, PAIR ? `${task} · ${atlas.label}` : task, { size: 12, weight: 600 });
    const [w, h] = [plot.width / atlas.heads, plot.height / atlas.layers];
    if (map) {
      const scale = scaleOf(task);
      for (let i = 0; i < atlas.size; i++) {
        pen.rect(left + (i % atlas.heads) * w, top + atlas.layerOf(i) * h, w, h, fills[colourCode(map, i, kind, scale.top, state.fade)]);
      }
    } else {
      pen.rect(left, top, plot.width, plot.height, fills[MISSING]);
      pen.text(left + plot.width / 2, top + plot.height / 2, whyNoMap(atlas, task), { size: 11, anchor: "middle" });
    }
    for (let i = 0; i < atlas.layers; i += tickSteps.layers) pen.text(left - 5, top + (i + 0.5) * h + 3, String(i), { size: 9, anchor: "end" });
    for (let i = 0; i < atlas.heads; i += tickSteps.heads) pen.text(left + (i + 0.5) * w, top + plot.height + 12, String(i), { size: 9, anchor: "middle" });
    pen.text(left + plot.width / 2, top + plot.height + 25, "Head", { size: 9, anchor: "middle" });
    pen.text(left - 30, top + plot.height / 2, "Layer", { size: 9, anchor: "middle", turned: true });
  });
  drawKey(pen, size, kind, fills);
}

function drawKey(pen, size, kind, fills) {
  const top = size.height - 40;
  if (kind === "roles") {
    PAGE.role_colours.forEach(([name, colour], n) => {
      pen.rect(44 + n * 110, top, 12, 12, colour);
      pen.text(62 + n * 110, top + 10, name, { size: 10 });
    });
    return;
  }
  const width = Math.min(320, size.width - 90);
  for (let i = 0; i < 64; i++) pen.rect(44 + (i * width) / 64, top, width / 64 + 0.5, 10, fills[Math.round((i / 63) * 255)]);
  const { top: scaleEnd, ticks } = legendTicks(kind);
  for (const [value, text] of ticks) {
    pen.text(44 + (kind === "signed" ? value / scaleEnd / 2 + 0.5 : value / scaleEnd) * width, top + 23, text, { size: 9, anchor: "middle" });
  }
}

function asSvg() {
  // eslint-disable-next-line no-control-regex -- XML may not hold them
  const clean = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const out = [];
  const round = (value) => Number(value.toFixed(2));
  drawSheet({
    start: ({ width, height }, colour) => out.push(`<svg xmlns="${SVG_NAMESPACE}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif">`,
      `<rect width="100%" height="100%" fill="${colour}"/><g shape-rendering="crispEdges">`),
    rect: (x, y, width, height, colour) => out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`),
    text: (x, y, text, { size, weight = 400, anchor = "start", turned = false }) => out.push(`<text transform="translate(${round(x)} ${round(y)})${turned ? " rotate(-90)" : ""}" ` +
      `font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${INK[theme()]}">${clean(text)}</text>`),
  });
  return `${out.join("\n")}\n</g></svg>\n`;
}

function asCanvas() {
  const canvas = make("canvas");
  const sharp = 2;
  const pen = canvas.getContext("2d");
  drawSheet({
    start: ({ width, height }, colour) => {
      [canvas.width, canvas.height] = [width * sharp, height * sharp];
      pen.scale(sharp, sharp);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, width, height);
    },
    rect: (x, y, width, height, colour) => {
      const [left, top, right, bottom] = [x, y, x + width, y + height].map((value) => Math.round(value * sharp) / sharp);
      pen.fillStyle = colour;
      pen.fillRect(left, top, right - left, bottom - top);
    },
    text: (x, y, text, { size, weight = 400, anchor = "start", turned = false }) => {
      pen.save();
      pen.translate(x, y);
      if (turned) pen.rotate(-Math.PI / 2);
      pen.fillStyle = INK[theme()];
      pen.font = `${weight} ${size}px Helvetica, Arial, sans-serif`;
      pen.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
      pen.fillText(text, 0, 0);
      pen.restore();
    },
  });
  return canvas;
}
