// Can the model do the tasks, do methods and seeds agree, and what do methods report about themselves?

function drawCompetence() {
  section("competence", "Can the model do the tasks?", "Accuracy of the intact model with its 95 % interval; the mark is chance. " +
    "A map of a task that the model cannot do would mean nothing.", (atlas) => make("div", {}, competenceTable(atlas), auditIn(atlas)));
}

function competenceTable(atlas) {
  const rows = atlas.competence.map(({ task, accuracy, low, high, chance, texts, verdict, competent }) =>
    make("tr", { "data-task": task }, make("th", { scope: "row" }, task),
      make("td", { class: "wide" }, bar(accuracy, { low, high, mark: chance })),
      texts.map((text) => make("td", { class: "number" }, text)),
      make("td", {}, make("span", { class: `verdict ${competent ? "good" : "bad"}` }, verdict))));
  const words = ["", "accuracy", "", "chance", "log-prob. (nats)", "margin (nats)", "items mapped", "verdict"];
  return make("div", { class: "scroll" }, make("table", { class: "plain competence" },
    make("thead", {}, make("tr", {}, words.map((word, n) => make("th", { class: n > 1 && n < 7 ? "number" : null }, word)))), make("tbody", {}, rows)));
}

/** What the texts of the suite give away, where the run checked them. */
function auditIn({ audit }) {
  if (!audit.length) return null;
  const line = ({ verdict, text }) => make("li", {}, make("span", { class: `verdict ${verdict}` }, verdict), make("span", {}, ` ${text}`));
  const [open, good] = [audit.filter(({ verdict }) => verdict !== "good"), audit.filter(({ verdict }) => verdict === "good")];
  const counts = ["bad", "warning", "good"].map((word) => `${audit.filter(({ verdict }) => verdict === word).length} ${word}`);
  return titled("What do the texts of the suite give away?", `${plural(audit.length, "check")}: ${listed(counts)}`, make("div", { class: "audit" },
    make("ul", {}, open.map(line)),
    good.length ? make("details", {}, make("summary", {}, `Show ${plural(good.length, "check")} without a complaint`), make("ul", {}, good.map(line))) : null));
}

function drawAgreement() {
  section("agreement", "Do methods and seeds agree?", "How alike the maps of two methods, two seeds or two halves of the examples are.",
    (atlas) => make("div", {}, consensusIn(atlas), foundAgain(atlas), agreementTables(atlas), notesOn(atlas), reportedBy(atlas)));
}

/** The heads that several causal methods support, with each method's rule and its record where the truth is known. */
function consensusIn({ consensus }) {
  if (!consensus) return null;
  const { columns, rows, methods } = consensus;
  return titled("Heads that at least two independent causal methods support", "heads of each method by its own rule", make("div", { class: "consensus" },
    plainTable(["", ...columns], rows),
    make("dl", { class: "facts" }, methods.map(({ name, rule, record }) => [make("dt", {}, name), make("dd", {}, `${rule}. ${record}`)]))));
}

/** One sentence per map: would its first heads be found again? */
function foundAgain({ found_again: sentences, default_method: usual }) {
  if (!sentences.length) return null;
  const [open, folded] = [sentences.filter(([method]) => method === usual), sentences.filter(([method]) => method !== usual)];
  const table = (rows) => (rows.length ? plainTable(["", "task", ""], rows, "words") : null);
  return titled("Would the first heads be found again?", "by halves of the examples, wordings, seeds or standard errors", make("div", {}, table(open),
    folded.length ? make("details", {}, make("summary", {}, open.length ? "Other methods" : "All methods"), table(folded)) : null));
}

function agreementTables({ agreement, methods }) {
  if (!agreement.length) return empty(methods.length < 2 ? "Only one method was run, with one seed: there is nothing to compare." : "The maps have too few heads in common to be compared.");
  return agreement.map(({ title, note, rows, columns, cells }) => titled(title, note, matrix({ rows, columns, cells, most: 1, label: title })));
}

const titled = (title, note, body) => make("div", { class: "block" }, make("div", { class: "block-head" }, make("h3", {}, title), make("p", {}, note)), body);

/** What is worth saying about each method beside its maps: heads that are settled, backups, circuits. */
function notesOn({ notes }) {
  return notes.map(({ title, columns, rows, sentences }) => titled(title, "", make("div", { class: "notes" },
    rows.length ? plainTable(columns, rows) : null,
    sentences.length ? make("ul", {}, sentences.map((sentence) => make("li", {}, sentence))) : null)));
}

/** Single numbers that methods report: accuracies, controls, stability. */
function reportedBy({ reported: { overall, by_task: byTask } }) {
  if (!overall.length && !byTask.length) return null;
  const lines = overall.map(({ name, value, text, low, high, range }) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", { class: "wide" }, Math.abs(value) <= 1 ? bar(value, { low, high, from: Math.min(0, value), to: 1 }) : null),
    make("td", { class: "number" }, text), make("td", { class: "number quiet" }, range)));
  const table = ({ columns, rows }) => make("div", { class: "scroll" }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, make("th"), columns.map((task) => make("th", { class: "number" }, task)))),
    make("tbody", {}, rows.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name),
      cells.map(([text, title]) => make("td", { class: "number", title: title || null }, text)))))));
  return titled("What the methods report about themselves", "accuracies, controls and stability; by task, means over seeds", make("div", { class: "reported" },
    overall.length ? make("div", { class: "scroll" }, make("table", { class: "plain narrow" }, make("tbody", {}, lines))) : null,
    byTask.length ? make("details", {}, make("summary", {}, "All numbers by task"), byTask.map(table)) : null));
}
