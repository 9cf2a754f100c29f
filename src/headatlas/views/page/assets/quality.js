// Can the model do the tasks, what do the methods say of themselves, and do they agree?

function drawCompetence() {
  section("competence", "Can the model do the tasks?", "Accuracy of the intact model with its 95 % interval; the mark is chance. " +
    "A map of a task that the model cannot do would mean nothing.", (atlas) => make("div", {}, competenceTable(atlas), auditOf(atlas)));
}

function competenceTable(atlas) {
  const rows = atlas.competence.map((row) => make("tr", { "data-task": row.task }, make("th", { scope: "row" }, row.task),
    make("td", { class: "wide" }, bar(row.accuracy, { low: row.low, high: row.high, mark: row.chance })),
    make("td", { class: "number" }, percent(row.accuracy)), make("td", { class: "number quiet" }, percent(row.chance)),
    make("td", { class: "number" }, show(row.logprob, 3)), make("td", { class: "number" }, show(row.margin, 3)),
    make("td", { class: "number" }, `${row.kept} of ${row.items}`),
    make("td", {}, make("span", { class: `verdict ${row.verdict === "competent" ? "good" : "bad"}` }, row.verdict))));
  const words = ["", "accuracy", "", "chance", "log-prob.", "margin", "items mapped", "verdict"];
  return make("div", { class: "scroll" }, make("table", { class: "plain competence" },
    make("thead", {}, make("tr", {}, words.map((word, n) => make("th", { class: n > 1 && n < 7 ? "number" : null }, word)))), make("tbody", {}, rows)));
}

/** What the texts of the suite give away, where the run looked. */
function auditOf(atlas) {
  const checks = atlas.run.audit ?? [];
  if (!checks.length) return null;
  const order = { bad: 0, warning: 1, good: 2 };
  const sorted = [...checks].sort((a, b) => (order[a.verdict] ?? 3) - (order[b.verdict] ?? 3));
  const said = (check) => {
    if (!check.note) return `${check.name}${check.task && check.task !== "all" ? `, ${check.task}` : ""}: ${show(check.value, 3)}`;
    return checks.some((other) => other !== check && other.note === check.note) ? `${check.name}: ${check.note}` : check.note;
  };
  const line = (check) => make("li", {}, make("span", { class: `verdict ${check.verdict}` }, check.verdict), make("span", {}, ` ${said(check)}`));
  const [open, good] = [sorted.filter((check) => check.verdict !== "good"), sorted.filter((check) => check.verdict === "good")];
  const counts = Object.keys(order).map((word) => `${checks.filter((check) => check.verdict === word).length} ${word}`);
  return make("div", { class: "block audit" }, make("div", { class: "block-head" }, make("h3", {}, "What do the texts of the suite give away?"),
    make("p", {}, `${plural(checks.length, "check")}: ${listed(counts)}`)),
    make("ul", {}, open.map(line)),
    good.length ? make("details", {}, make("summary", {}, `Show ${plural(good.length, "check")} that found nothing`), make("ul", {}, good.map(line))) : null);
}

function drawAgreement() {
  section("agreement", "Do methods and seeds agree?", "Rank correlation of the heads, and how many of the strongest heads are the same " +
    "with the number that chance gives.", (atlas) => make("div", {}, betweenMethods(atlas), betweenSeeds(atlas), betweenHalves(atlas), reported(atlas)));
}

const two = (value) => (finite(value) ? minus(value.toFixed(2)) : "–");

function betweenMethods(atlas) {
  const rows = atlas.agreement.filter((row) => row.kind === "methods");
  if (!rows.length) return empty(atlas.methods.length < 2 ? "Only one method was run, so there is nothing to compare." : "The methods have too few heads in common to be compared.");
  const name = (row) => `${row.first} – ${row.second}`;
  const pairs = [...new Set(rows.map(name))];
  const tasks = [...new Set(rows.map((row) => row.task))];
  return titled("Method with method", "correlation, then shared of the strongest k (by chance)", matrix({
    rows: pairs, columns: tasks, most: 1, label: "Agreement of methods",
    cell: (pair, task) => agreementCell(rows.find((row) => name(row) === pair && row.task === task)),
  }));
}

function agreementCell(row) {
  if (!row) return null;
  return {
    value: row.correlation, text: two(row.correlation), small: `${row.shared}/${row.k} (${show(row.expected, 2)})`,
    title: `${row.heads} heads compared; ${row.shared} of the strongest ${row.k} shared, ${show(row.expected, 2)} by chance, p ${chance(row.p_value)}`,
  };
}

function betweenSeeds(atlas) {
  const rows = atlas.agreement.filter((row) => row.kind === "seeds");
  if (!rows.length) return null;
  const method = (row) => row.first.slice(0, row.first.lastIndexOf(" "));
  const methods = [...new Set(rows.map(method))];
  const tasks = [...new Set(rows.map((row) => row.task))];
  return titled("Seed with seed", "mean over pairs of seeds", matrix({
    rows: methods, columns: tasks, most: 1, label: "Stability over seeds",
    cell: (name, task) => {
      const own = rows.filter((row) => method(row) === name && row.task === task);
      if (!own.length) return null;
      const both = { correlation: mean(own.map((row) => row.correlation)), shared: mean(own.map((row) => row.shared)) };
      return {
        value: both.correlation, text: two(both.correlation), small: `${show(both.shared, 2)}/${own[0].k} (${show(own[0].expected, 2)})`,
        title: `${plural(own.length, "pair")} of seeds, ${own[0].heads} heads`,
      };
    },
  }));
}

/** Maps of one half of the examples against maps of the other, where a method made them. */
function betweenHalves(atlas) {
  const rows = atlas.diagnostics.numbers.filter((row) => row.task !== null && HALVES.includes(row.metric) && finite(row.value));
  if (!rows.length) return null;
  const [methods, tasks] = ["method", "task"].map((name) => [...new Set(rows.map((row) => row[name]))]);
  return titled("Half with half", "each map made twice, from halves of the examples: correlation, then the shared part of the strongest heads", matrix({
    rows: methods, columns: tasks, most: 1, label: "Stability over halves",
    cell: (method, task) => {
      const [both, shared] = HALVES.map((metric) => rows.find((row) => row.metric === metric && row.method === method && row.task === task)?.value);
      if (!finite(both) && !finite(shared)) return null;
      return { value: both ?? shared, text: two(both), small: finite(shared) ? percent(shared) : null, title: `${listed(HALVES)}: ${two(both)} and ${two(shared)}` };
    },
  }));
}

const HALVES = ["half correlation", "half overlap"];
const titled = (title, note, body) => make("div", { class: "block" }, make("div", { class: "block-head" }, make("h3", {}, title), make("p", {}, note)), body);

/** Single numbers that methods report: accuracies, controls, stability over halves. */
function reported(atlas) {
  const numbers = atlas.diagnostics.numbers;
  if (!numbers.length) return null;
  const whole = numbers.filter((row) => row.task === null && row.seed === 0);
  const perTask = numbers.filter((row) => row.task !== null && !HALVES.includes(row.metric));
  const shares = whole.filter((row) => Math.abs(row.value) <= 1);
  const spoken = (name) => name.replaceAll("_", " ").replace("nll", "NLL");
  const lines = whole.map((row) => make("tr", {}, make("th", { scope: "row" }, `${row.method}: ${spoken(row.metric)}`),
    make("td", { class: "wide" }, shares.includes(row) ? bar(row.value, { low: row.low, high: row.high, from: Math.min(0, row.value), to: 1 }) : null),
    make("td", { class: "number" }, show(row.value, 3)), make("td", { class: "number quiet" }, finite(row.low) ? `${show(row.low, 3)} to ${show(row.high, 3)}` : "")));
  const table = (method) => {
    const own = perTask.filter((row) => row.method === method);
    const [tasks, metrics] = ["task", "metric"].map((name) => [...new Set(own.map((row) => row[name]))]);
    const values = (metric, task) => own.filter((row) => row.metric === metric && row.task === task).map((row) => row.value).filter(finite);
    const cell = (found) => make("td", { class: "number", title: found.length > 1 ? `${show(Math.min(...found), 3)} to ${show(Math.max(...found), 3)} over ${found.length} seeds` : null },
      found.length ? show(mean(found), 3) : "–");
    return make("div", { class: "scroll" }, make("table", { class: "plain" }, make("thead", {}, make("tr", {}, make("th"), tasks.map((task) => make("th", { class: "number" }, task)))),
      make("tbody", {}, metrics.map((metric) => make("tr", {}, make("th", { scope: "row" }, `${method}: ${spoken(metric)}`), tasks.map((task) => cell(values(metric, task))))))));
  };
  return titled("What the methods say of themselves", "accuracies, controls and stability, as reported by each method; by task, means over seeds", make("div", { class: "reported" },
    whole.length ? make("div", { class: "scroll" }, make("table", { class: "plain narrow" }, make("tbody", {}, lines))) : null,
    perTask.length ? make("details", {}, make("summary", {}, "All numbers"), [...new Set(perTask.map((row) => row.method))].map(table)) : null));
}
