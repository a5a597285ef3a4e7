"use strict";
// Opens plans in pev2: once unpacked, it runs in a frame of its own for each plan, which has no
// access to this page and may load nothing.
let viewerParts;

async function unpacked(id) {
  const packed = atob(document.getElementById(id).textContent.trim());
  const bytes = Uint8Array.from(packed, (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function partsOfViewer() {
  viewerParts ??= Promise.all([unpacked("pev2-script"), unpacked("pev2-style")]);
  return viewerParts;
}

async function showPlan(place) {
  const [script, style] = await partsOfViewer();
  const plan = await unpacked(place.dataset.plan);
  const frame = document.createElement("iframe");
  frame.title = place.dataset.title;
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = `<!doctype html><meta charset="utf-8"><style>${style}</style>` +
    '<style>html,body{height:100%;margin:0}#app{height:100vh;display:flex}</style>' +
    `<div id="app"></div><script type="application/json" id="plan">${plan}<\/script>` +
    `<script>${script}<\/script>`;
  place.replaceChildren(frame);
}

function startPlans() {
  for (const details of document.querySelectorAll("details.plans")) {
    details.addEventListener("toggle", () => {
      if (!details.open || details.dataset.shown) return;
      details.dataset.shown = "yes";
      for (const place of details.querySelectorAll("[data-plan]")) showPlan(place);
    });
  }
}
