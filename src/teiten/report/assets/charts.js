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

function fitted(spec, fit, room) {
  if (!fit || room <= 0) return spec;
  const copy = structuredClone(spec);
  if (fit.path[0] === "columns") {
    copy.columns = Math.max(1, Math.min(copy.columns, Math.floor((room - OUTSIDE) / fit.beside)));
    return copy;
  }
  const part = fit.path.reduce((inner, key) => inner[key], copy);
  part.width = Math.max(110, Math.min(part.width, room - fit.beside));
  return copy;
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
  const complete = { ...seen(fitted(spec, fit, plot.clientWidth)) };
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
