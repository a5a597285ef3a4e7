"use strict";
// The page works without any of this; this adds sorting, charts, downloads, and the theme's switch.
function isDark() {
  return getComputedStyle(document.documentElement).colorScheme === "dark";
}

function redrawCanvases() {
  redraw(document.querySelectorAll('[data-drawn="canvas"]'));
}

function startTheme() {
  for (const button of document.querySelectorAll(".theme")) {
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      redrawCanvases();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCanvases);
}

function showDetailsInPrint() {
  for (const details of document.querySelectorAll(":is(section, .appendix[open]) details")) {
    details.open = true;
  }
}

// Some browsers open what an address leads into, others do not.
function openPlace() {
  const place = placeOfAddress();
  const closed = [];
  for (let one = place; one; one = one.parentElement) {
    if (one.tagName === "DETAILS" && !one.open) closed.push(one);
  }
  for (const one of closed) one.open = true;
  if (closed.length) place.scrollIntoView();
}

window.addEventListener("hashchange", openPlace);
window.addEventListener("beforeprint", showDetailsInPrint);
startLanguages(drawShown);
makeTablesSortable();
startDownloads();
startPlans();
startTheme();
startFlameGraphs();
startCharts();
openPlace();
