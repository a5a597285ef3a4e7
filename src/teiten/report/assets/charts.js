"use strict";
// Charts are drawn when they come near the screen, and all of them before printing.
const MANY_MARKS = 2500; // above this a canvas is quicker than SVG
const OUTSIDE = 40;

function embedded(name) {
  return JSON.parse(document.getElementById("data-" + name).textContent);
}

function asRecords(columns) {
  const names = Object.keys(columns);
  const count = names.length ? columns[names[0]].length : 0;
  const records = new Array(count);
  for (let at = 0; at < count; at += 1) {
    const record = {};
    for (const name of names) record[name] = columns[name][at];
    records[at] = record;
  }
  return records;
}

// bare: the page shows the chart's figures, so that the chart itself needs none.
function fitted(spec, fit, room, bare) {
  if (!fit || room <= 0) return spec;
  const copy = structuredClone(spec);
  if (fit.path[0] === "columns") {
    copy.columns = Math.max(1, Math.min(copy.columns, Math.floor((room - OUTSIDE) / fit.beside)));
    for (const encoding of encodings(copy)) fitLegend(encoding.color, room - OUTSIDE);
    return copy;
  }
  const part = fit.path.reduce((inner, key) => inner[key], copy);
  let beside = fit.beside;
  if (bare && fit.figures) {
    beside -= fit.figures;
    part.layer = part.layer.filter((layer) => layer.mark.type !== "text");
  }
  beside -= fitLabels(part, room);
  const beyond = fit.figures && !bare ? 160 : 60; // to either side of the plot, for the title below
  part.width = Math.max(110, Math.min(part.width, room - beside));
  for (const encoding of encodings(part)) {
    fitLegend(encoding.color, part.width + 20);
    fitBelow(encoding.x, part.width, Math.min(room, part.width + beyond));
  }
  return copy;
}

function encodings(part) {
  if (typeof part !== "object" || part === null) return [];
  const within = Object.values(part).flatMap((inner) => encodings(inner));
  return part.encoding ? [part.encoding, ...within] : within;
}

const widthOf = (text) => Array.from(text, (letter) => (letter > "\u2fff" ? 12 : 7))
  .reduce((sum, width) => sum + width, 0);
const widest = (texts) => Math.max(0, ...texts.map((text) => widthOf(String(text))));

// A text in as few lines of so many pixels as possible, none much shorter than the others.
function inLines(text, room) {
  const fewest = broken(text, room);
  const tried = [0.5, 0.6, 0.7, 0.8, 0.9].map((share) => broken(text, share * room));
  return tried.find((lines) => lines.length === fewest.length) ?? fewest;
}

// Broken between words or Japanese letters.
function broken(text, room) {
  const lines = [""];
  for (const word of text.match(/[^\s\u3000-\uffef]+\s*|[\u3000-\uffef][、。ー）]*\s*/g) ?? []) {
    if (lines.at(-1) && widthOf(lines.at(-1) + word.trimEnd()) > room) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trimEnd());
}

function labelledInLines(axis, labels, room) {
  const lines = Object.fromEntries(labels.map((label) => [label, inLines(label, room)]));
  axis.labelExpr = `(${JSON.stringify(lines)})[datum.label] || datum.label`;
  return lines;
}

function fitLegend(colour, room) {
  const labels = colour?.scale?.domain;
  if (!Array.isArray(labels) || colour.legend === null) return;
  const each = widest(labels) + 28;
  if (labels.length * each > room) {
    colour.legend = { ...colour.legend, columns: Math.max(1, Math.floor(room / each)) };
  }
}

// Labels beside the plot that would take most of the room get lines, as many as their rows have
// room for. The pixels that this saves.
function fitLabels(part, room) {
  const named = encodings(part).map((encoding) => encoding.y)
    .filter((y) => Array.isArray(y?.scale?.domain) && y.axis && y.type === "nominal");
  if (!named.length || typeof part.height !== "number") return 0;
  const labels = named[0].scale.domain;
  const most = Math.max(1, Math.floor(part.height / labels.length / 14));
  const before = widest(labels);
  for (const share of [0.4, 0.5, 0.6, 0.7]) {
    if (before <= share * room) return 0;
    const lines = labels.map((label) => inLines(label, share * room));
    if (lines.some((label) => label.length > most)) continue;
    for (const y of named) {
      const known = JSON.stringify(labelledInLines(y.axis, labels, share * room));
      const up = `-6.5 * (length((${known})[datum.value] || [0]) - 1)`;
      y.axis.encoding = { labels: { dy: { value: { expr: up } } } };
    }
    return before - widest(lines.flat()) - 24;
  }
  return 0;
}

// Labels and title below the plot.
function fitBelow(x, width, room) {
  if (!x) return;
  if (typeof x.title === "string" && widthOf(x.title) > room) x.title = inLines(x.title, room);
  const labels = x.scale?.domain;
  if (x.type === "ordinal" && x.axis && Array.isArray(labels) && x.axis.labelAngle === 0) {
    const step = width / labels.length - 4;
    const lines = labelledInLines(x.axis, labels.map(String), step);
    if (widest(Object.values(lines).flat()) > step) x.axis.labelFontSize = 10;
  }
}

// A canvas knows no currentColor of the page: there it is the colour that text has now.
function inColour(value, plot) {
  const colour = JSON.stringify(getComputedStyle(plot).color);
  return JSON.parse(JSON.stringify(value).replaceAll('"currentColor"', colour));
}

function drawRows(figure, spec, fit, rows) {
  const plot = figure.querySelector(".plot");
  const renderer = rows.length > MANY_MARKS ? "canvas" : "svg";
  const seen = (value) => (renderer === "canvas" ? inColour(value, plot) : value);
  const figures = figure.querySelector(".figures");
  const bare = figures !== null && getComputedStyle(figures).display !== "none";
  const complete = { ...seen(fitted(spec, fit, plot.clientWidth, bare)) };
  complete.datasets = { ...complete.datasets, rows };
  return vegaEmbed(plot, complete, {
    actions: false, ast: true, config: seen(embedded("config")), mode: "vega-lite",
    renderer, tooltip: { theme: tooltipTheme() },
  }).then((result) => {
    plot.classList.add("drawn");
    figure.dataset.drawn = renderer;
    figure.dataset.drawnFor = tooltipTheme();
    return result;
  });
}

function tooltipTheme() {
  return getComputedStyle(document.documentElement).colorScheme === "dark" ? "dark" : "light";
}

const drawings = new Map();

function draw(figure) {
  if (!drawings.has(figure)) {
    const data = embedded(figure.dataset.chart);
    const drawing = "chooser" in figure.dataset
      ? startChooser(figure, data)
      : drawRows(figure, data.spec, data.fit, asRecords(data.rows));
    drawings.set(figure, drawing);
  }
  return drawings.get(figure);
}

function redraw(figures) {
  for (const figure of figures) {
    if (drawings.delete(figure)) draw(figure);
  }
}

function charts() {
  return Array.from(document.querySelectorAll("[data-chart]")).filter(isShown);
}

function drawShown() {
  return drawWhenIdle(charts());
}

async function drawWhenIdle(figures) {
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 30));
  for (const figure of figures) {
    await new Promise((resolve) => idle(resolve, { timeout: 400 }));
    await draw(figure);
  }
  document.documentElement.dataset.charts = "drawn";
}

function startCharts() {
  const figures = Array.from(document.querySelectorAll("[data-chart]"));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { observer.unobserve(entry.target); draw(entry.target); }
    }
  }, { rootMargin: "300px" });
  for (const figure of figures) observer.observe(figure);
  window.addEventListener("beforeprint", () => charts().forEach(draw));
  drawShown();
}
