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

/** Four significant digits, as plain as they can be. */
function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-4) return minus(value.toExponential(Math.max(0, digits - 2)));
  if (size >= 10 ** digits) return minus(Math.round(value).toLocaleString("en"));
  return minus(String(Number(value.toPrecision(digits))));
}

/** A share as a whole percentage. */
const percent = (value) => (value === null || value === undefined ? "–" : `${minus(String(Math.round(value * 100)))} %`);

/** A probability: exact down to 0.001. */
function chance(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return value < 0.001 ? "< 0.001" : show(value, 2);
}

const signed = (value, digits = 3) => (value > 0 ? "+" : "") + show(value, digits);
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** "a, b and c" */
function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** What a control is called, so that it is known again when it has been made anew. */
const controlName = (node) => [node.closest("[role=group]")?.getAttribute("aria-label"), node.getAttribute("aria-label"), node.id, node.dataset.value, node.dataset.step].join("\n");

/** Draw parts of a node anew and give the focus back to the control that had it. */
function keepingFocus(node, redraw) {
  const active = document.activeElement;
  if (!node.contains(active)) return redraw();
  const name = controlName(active);
  const alike = () => [...node.querySelectorAll("button, select, input")].filter((one) => controlName(one) === name);
  const at = alike().indexOf(active);
  redraw();
  return alike()[at]?.focus({ preventScroll: true });
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

/** Run small pieces of work while nothing else is to be done; later pieces wait for earlier ones unless they are urgent. */
const idle = (() => {
  const queue = [];
  let asked = false;
  const ask = globalThis.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => 8 }), 16));
  const turn = (deadline) => {
    asked = false;
    do queue.shift()?.(); while (queue.length && deadline.timeRemaining() > 4);
    if (queue.length) wake();
  };
  const wake = () => {
    if (!asked) ask(turn, { timeout: 500 });
    asked = true;
  };
  return (work, urgent = false) => {
    if (urgent) queue.unshift(work);
    else queue.push(work);
    wake();
  };
})();
