"use strict";
// Flame graphs: a click on a frame zooms to it, a search marks functions and adds up their share.
const HIDDEN_BELOW = 0.02; // per cent of the drawing's width
const WORDLESS_BELOW = 1.5;

function framesOf(drawing) {
  return Array.from(drawing.querySelectorAll("svg.frame"), (element) => ({
    element,
    depth: Number(element.dataset.depth),
    name: element.dataset.name.toLowerCase(),
    left: parseFloat(element.getAttribute("x")),
    width: parseFloat(element.getAttribute("width")),
  }));
}

function isWithin(inner, outer) {
  return inner.left >= outer.left - 1e-3
    && inner.left + inner.width <= outer.left + outer.width + 1e-3;
}

function zoomTo(frames, chosen) {
  for (const frame of frames) {
    const above = frame.depth >= chosen.depth && isWithin(frame, chosen);
    const below = frame.depth < chosen.depth && isWithin(chosen, frame);
    const left = below ? 0 : (frame.left - chosen.left) / chosen.width * 100;
    const width = below ? 100 : frame.width / chosen.width * 100;
    frame.element.style.display = (above || below) && width > HIDDEN_BELOW ? "" : "none";
    frame.element.classList.toggle("below", below);
    frame.element.classList.toggle("narrow", width < WORDLESS_BELOW);
    frame.element.setAttribute("x", left.toFixed(4) + "%");
    frame.element.setAttribute("width", width.toFixed(4) + "%");
  }
}

function markFound(frames, wanted) {
  const found = frames.filter((frame) => wanted && frame.name.includes(wanted));
  for (const frame of frames) frame.element.classList.toggle("found", found.includes(frame));
  const outermost = found.filter((frame) =>
    !found.some((other) => other.depth < frame.depth && isWithin(frame, other)));
  return outermost.reduce((sum, frame) => sum + frame.width, 0);
}

function startFlameGraph(figure) {
  const frames = framesOf(figure.querySelector(".flame-graph"));
  const whole = frames[0];
  const search = figure.querySelector("input[type=search]");
  const share = figure.querySelector("output");
  const reset = figure.querySelector("button");
  for (const frame of frames) {
    frame.element.addEventListener("click", () => {
      zoomTo(frames, frame);
      reset.hidden = frame === whole;
    });
  }
  reset.addEventListener("click", () => { zoomTo(frames, whole); reset.hidden = true; });
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const found = markFound(frames, wanted);
    share.textContent = wanted ? search.dataset.found.replace("%s", found.toFixed(1)) : "";
  });
}

function startFlameGraphs() {
  for (const figure of document.querySelectorAll(".flame")) {
    figure.querySelector(".flame-tools").hidden = false;
    startFlameGraph(figure);
  }
}
