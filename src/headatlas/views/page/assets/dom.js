// Making elements and writing numbers. Every string becomes text, never markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
const byId = (id) => document.getElementById(id);

const minus = (text) => text.replace(/-/g, "−");
const finite = (value) => value !== null && value !== undefined && Number.isFinite(value);

/** A number with so many significant digits, as in the report; a dash where it is missing. */
function show(value, digits = 4) {
  if (!finite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4) return minus(value.toExponential(digits - 1).replace(/\.?0*e/, "e"));
  if (size >= 10 ** digits) return minus(Math.round(value).toLocaleString("en"));
  return minus(String(Number(value.toPrecision(digits))));
}

/** A share as a whole percentage. */
const percent = (value) => (finite(value) ? `${minus(String(Math.round(value * 100)))} %` : "–");

/** A share with one decimal below 10 %, as in the report. */
const sharePercent = (value) => (finite(value) ? `${minus((value * 100).toFixed(value === 0 || Math.abs(value) >= 0.1 ? 0 : 1))}\u00a0%` : "–");

/** A p-value or q-value. */
const pValue = (value) => show(value, 2);

const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const spaced = (name) => name.replaceAll("_", " ");

/** "a, b and c" */
function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** What identifies a control after it has been drawn again. */
const controlName = (node) => [node.closest("[role=group]")?.getAttribute("aria-label"), node.getAttribute("aria-label"),
  node.id, node.dataset.value, node.dataset.step].join("\n");

/** Redraw parts of a node and give the focus back to the control that had it. */
function keepingFocus(node, redraw) {
  const active = document.activeElement;
  if (!node.contains(active)) return redraw();
  const name = controlName(active);
  const sameName = () => [...node.querySelectorAll("button, select, input")].filter((control) => controlName(control) === name);
  const position = sameName().indexOf(active);
  redraw();
  return sameName()[position]?.focus({ preventScroll: true });
}

/** Buttons of which one is pressed. */
function segmented(label, options, chosen, choose) {
  const buttons = options.map(([value, text, title]) =>
    make("button", {
      type: "button", "aria-pressed": String(value === chosen), "data-value": value, title,
      onclick: () => choose(value),
    }, text));
  return make("div", { class: "segmented", role: "group", "aria-label": label }, buttons);
}

function chooser(label, options, chosen, choose) {
  return make("select", { "aria-label": label, onchange: (event) => choose(event.target.value) },
    options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
}

/** Run small pieces of work while the browser is idle, in order, urgent ones first. */
const idle = (() => {
  const queue = [];
  let requested = false;
  const request = globalThis.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => 8 }), 16));
  const turn = (deadline) => {
    requested = false;
    do queue.shift()?.(); while (queue.length && deadline.timeRemaining() > 4);
    if (queue.length) wake();
  };
  const wake = () => {
    if (!requested) request(turn, { timeout: 500 });
    requested = true;
  };
  return (work, urgent = false) => {
    if (urgent) queue.unshift(work);
    else queue.push(work);
    wake();
  };
})();
