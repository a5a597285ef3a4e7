"use strict";
// The per-second series: the reader chooses metric, level and blocks; a panel per block.
const BLOCKS_AT_ONCE = 12;

function option(value, text) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = text;
  return made;
}

function addSelect(parent, name, label, options) {
  const holder = document.createElement("label");
  const select = document.createElement("select");
  select.name = name;
  select.append(...options);
  holder.append(label + " ", select);
  parent.append(holder);
  return select;
}

function secondsOf(samples) {
  return samples.at ?? samples.y.map((_, at) => samples.from + at * samples.step);
}

function chosenRows(data, column, level, blocks) {
  const rows = [];
  for (const trial of data.trials) {
    const samples = trial.v[column.name];
    if (trial.l !== level || !blocks.includes(trial.b) || !samples) continue;
    const seconds = secondsOf(samples);
    const name = trial.a > 1 ? trial.n + "/" + trial.a : String(trial.n);
    const panel = data.block.replace("{block}", trial.b);
    samples.y.forEach((value, at) => rows.push({
      panel, side: data.sides[trial.s], trial: name, counted: trial.o, second: seconds[at], value,
      order: trial.b,
    }));
  }
  return rows.sort((one, other) => one.order - other.order);
}

function pagesOf(blocks) {
  const pages = [];
  for (let at = 0; at < blocks.length; at += BLOCKS_AT_ONCE) {
    pages.push(blocks.slice(at, at + BLOCKS_AT_ONCE));
  }
  return pages;
}

function startChooser(figure, whole) {
  const data = whole.chooser;
  const blocks = [...new Set(data.trials.map((trial) => trial.b))].sort((a, b) => a - b);
  const pages = pagesOf(blocks);
  const box = figure.querySelector(".chooser");
  box.replaceChildren();
  const metric = addSelect(box, "metric", data.words.metric,
    data.columns.map((column, at) => option(at, column.title)));
  const level = addSelect(box, "level", data.words.level,
    data.levels.map((name, at) => option(at, name)));
  level.value = String(data.levels.length - 1);
  const page = addSelect(box, "blocks", data.words.blocks, pages.map((some, at) =>
    option(at, some.length > 1 ? some[0] + "–" + some[some.length - 1] : String(some[0]))));
  page.parentElement.hidden = pages.length < 2;
  const show = () => {
    const column = data.columns[Number(metric.value)];
    const spec = structuredClone(column.spec);
    const rows = chosenRows(data, column, Number(level.value), pages[Number(page.value)] ?? []);
    spec.facet.sort = [...new Set(rows.map((row) => row.panel))];
    return drawRows(figure, spec, whole.fit, rows);
  };
  box.addEventListener("change", show);
  return show();
}
