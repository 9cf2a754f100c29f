// Saving what is shown: numbers as CSV, the picture as PNG or SVG.

const shownTasks = () => (state.view === "focus" ? [state.task] : TASKS);
const INK = { light: "#1c2128", dark: "#e8ebef" };

function save(kind) {
  const name = fileName(state.view === "focus" ? state.task : "all", state.method, state.measure);
  if (kind === "CSV") return offer(new Blob([asCsv()], { type: "text/csv" }), `${name}.csv`);
  return savePicture(kind, name, drawSheet);
}

/** The atlas picture, or its numbers. */
function saveFunctions(kind) {
  const name = fileName("functions");
  if (kind === "CSV") return offer(new Blob([functionsAsCsv()], { type: "text/csv" }), `${name}.csv`);
  return savePicture(kind, name, drawPictures);
}

const fileName = (...words) => ["headatlas", ATLASES[0].model.name, ...words].join("-").replace(/[^\p{L}\p{N}-]+/gu, "_").slice(0, 120);

function savePicture(kind, name, drawing) {
  if (kind === "SVG") return offer(new Blob([asSvg(drawing)], { type: "image/svg+xml" }), `${name}.svg`);
  return asCanvas(drawing).toBlob((blob) => offer(blob, `${name}.png`), "image/png");
}

function offer(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const field = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const csvNumber = (value) => (finite(value) ? String(Number(value.toPrecision(7))) : "");

function functionsAsCsv() {
  const lines = ["model,method,layer,head,task,share,low,high,specific,q_value"];
  for (const atlas of ATLASES) {
    for (const [index, list] of atlas.functionsByHead) {
      for (const { task, share, low, high, specific, q } of list) {
        lines.push([field(atlas.label), atlas.functions.method, atlas.layerOf(index), index % atlas.heads, field(FUNCTIONS[task].task),
          ...[share, low, high, specific, q].map(csvNumber)].join(","));
      }
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}

function asCsv() {
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
          seeds.length < 2 ? seeds[0] : state.seed, atlas.layerOf(index), index % atlas.heads, csvNumber(value), csvNumber(measureMap.low?.[index]),
          csvNumber(measureMap.high?.[index]), csvNumber(measureMap.q?.[index]), ranking.rank(index) ?? ""].join(",")));
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
  pen.text(20, 26, `${listed(ATLASES.map((atlas) => atlas.label))}: ${measureLabel(state.method, state.measure, state.view === "focus" ? state.task : null)} by ${state.method}`, { size: 14, weight: 600 });
  items.forEach(({ task, atlas }, n) => {
    const left = 44 + (n % columns) * step.x;
    const top = 62 + Math.floor(n / columns) * step.y;
    const map = chosenMap(atlas, task);
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
    drawAxes(pen, atlas, left, top, w, h);
  });
  drawKey(pen, size, kind, fills);
}

function drawAxes(pen, { layers, heads, model: { tick_step: steps } }, left, top, w, h) {
  for (let i = 0; i < layers; i += steps.layers) pen.text(left - 5, top + (i + 0.5) * h + 3, String(i), { size: 9, anchor: "end" });
  for (let i = 0; i < heads; i += steps.heads) pen.text(left + (i + 0.5) * w, top + layers * h + 12, String(i), { size: 9, anchor: "middle" });
  pen.text(left + (heads * w) / 2, top + layers * h + 25, "Head", { size: 9, anchor: "middle" });
  pen.text(left - 30, top + (layers * h) / 2, "Layer", { size: 9, anchor: "middle", turned: true });
}

/** The atlas picture of every atlas that has one, each with the key of its functions. */
function drawPictures(pen) {
  const shown = ATLASES.filter((atlas) => atlas.functions);
  const [cell, key] = [24, 250];
  const width = (atlas) => atlas.heads * cell + key + 90;
  pen.start({
    width: shown.reduce((sum, atlas) => sum + width(atlas), 0),
    height: Math.max(...shown.map((atlas) => Math.max(atlas.layers * cell, atlas.functions.counts.length * 22 + 60))) + 110,
  }, `#${SURFACE[theme()]}`);
  let left = 44;
  for (const atlas of shown) {
    pen.text(left, 26, `${atlas.label}: what each head is for`, { size: 14, weight: 600 });
    drawPicture(pen, atlas, left, 56, cell);
    drawFunctionKey(pen, atlas, left + atlas.heads * cell + 26, 56);
    left += width(atlas);
  }
}

function drawPicture(pen, atlas, left, top, cell) {
  for (let index = 0; index < atlas.size; index++) {
    const [x, y] = [left + (index % atlas.heads) * cell, top + atlas.layerOf(index) * cell];
    const list = functionsAt(atlas, index);
    if (!list?.length) pen.rect(x, y, cell - 1, cell - 1, list ? NO_FUNCTION[theme()] : UNMEASURED[theme()]);
    list?.forEach(({ task, depth }, part) => {
      const colour = functionColour(task, depth);
      const wide = cell / list.length;
      pen.rect(x + part * wide, y, wide - 1, cell - 1, css(colour));
      if (wide > 10) pen.text(x + (part + 0.5) * wide, y + cell / 2 + 3, FUNCTIONS[task].letters, { size: list.length > 1 ? 8 : 10, weight: 600, anchor: "middle", colour: ink(colour) });
    });
  }
  drawAxes(pen, atlas, left, top, cell, cell);
}

function drawFunctionKey(pen, { functions }, left, top) {
  const { counts, nothing, unmeasured, method, share } = functions;
  counts.forEach(([task, count], n) => {
    const colour = functionColour(task, 1);
    pen.rect(left, top + n * 22, 24, 17, css(colour));
    pen.text(left + 12, top + n * 22 + 12, FUNCTIONS[task].letters, { size: 10, weight: 600, anchor: "middle", colour: ink(colour) });
    pen.text(left + 32, top + n * 22 + 12, `${FUNCTIONS[task].task}: ${count}`, { size: 11 });
  });
  const rest = [[NO_FUNCTION, `nothing shown: ${nothing}`], [UNMEASURED, `not measured: ${unmeasured.length}`]].slice(0, unmeasured.length ? 2 : 1);
  rest.forEach(([grey, text], n) => {
    pen.rect(left, top + (counts.length + n) * 22, 24, 17, grey[theme()]);
    pen.text(left + 32, top + (counts.length + n) * 22 + 12, text, { size: 11 });
  });
  [`by ${method}; q < ${LEVEL}. Colour: ${share.split(" (")[0]}`, `(${share.split(" (").slice(1).join(" (")}`].forEach((text, n) =>
    pen.text(left, top + (counts.length + rest.length) * 22 + 16 + n * 13, text, { size: 9 }));
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

function asSvg(drawing) {
  // eslint-disable-next-line no-control-regex -- XML may not hold them
  const clean = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const out = [];
  const round = (value) => Number(value.toFixed(2));
  drawing({
    start: ({ width, height }, colour) => out.push(`<svg xmlns="${SVG_NAMESPACE}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif">`,
      `<rect width="100%" height="100%" fill="${colour}"/><g shape-rendering="crispEdges">`),
    rect: (x, y, width, height, colour) => out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`),
    text: (x, y, text, { size, weight = 400, anchor = "start", turned = false, colour = INK[theme()] }) => out.push(`<text transform="translate(${round(x)} ${round(y)})${turned ? " rotate(-90)" : ""}" ` +
      `font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${colour}">${clean(text)}</text>`),
  });
  return `${out.join("\n")}\n</g></svg>\n`;
}

function asCanvas(drawing) {
  const canvas = make("canvas");
  const sharp = 2;
  const pen = canvas.getContext("2d");
  drawing({
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
    text: (x, y, text, { size, weight = 400, anchor = "start", turned = false, colour = INK[theme()] }) => {
      pen.save();
      pen.translate(x, y);
      if (turned) pen.rotate(-Math.PI / 2);
      pen.fillStyle = colour;
      pen.font = `${weight} ${size}px Helvetica, Arial, sans-serif`;
      pen.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
      pen.fillText(text, 0, 0);
      pen.restore();
    },
  });
  return canvas;
}
