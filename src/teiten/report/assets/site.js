"use strict";
// Every campaign is on the page without any of this; this adds filters and the theme's switch.
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll("tr[data-study]")];
let verdict = "";

function fits(row, wanted) {
  const data = row.dataset;
  const among = (name) => !wanted[name] || data[name].split("\n").includes(wanted[name]);
  return ["study", "server", "machine", "verdict"].every(among)
    && (!wanted.from || data.day >= wanted.from)
    && (!wanted.until || data.day <= wanted.until)
    && (!wanted.search || row.textContent.toLowerCase().includes(wanted.search.toLowerCase()));
}

// A row that is shown for a verdict shows that verdict.
function unfold(row, verdict) {
  const folded = row.querySelector("details");
  if (!folded) return;
  const has = (place) => [...place].some((one) => one.dataset.verdict === verdict);
  folded.open = has(folded.querySelectorAll("p")) && !has(row.querySelectorAll("td > p"));
}

function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row, wanted);
    if (!row.hidden) shown += 1;
    if (wanted.verdict !== verdict) unfold(row, wanted.verdict);
  }
  verdict = wanted.verdict;
  document.getElementById("shown").textContent = shown;
  const kept = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname);
}

form.hidden = false;
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  if (form.elements[name]) form.elements[name].value = value;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
if (new URLSearchParams(location.hash.slice(1)).size) filter();
const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
