"use strict";
// A file with several languages shows one: that of the address, else the browser's, else the first.
function isShown(element) {
  const page = element.closest(".page");
  return page === null || getComputedStyle(page).display !== "none";
}

function switches() {
  return Array.from(document.querySelectorAll("input.language"));
}

function showLanguage(language) {
  const chosen = switches().find((one) => one.value === language);
  if (!chosen) return;
  chosen.checked = true;
  const page = document.querySelector(`.page[lang="${language}"]`);
  document.documentElement.lang = language;
  document.title = page.dataset.title;
}

function placeOfAddress() {
  const name = decodeURIComponent(location.hash.slice(1));
  return name ? document.getElementById(name) : null;
}

function showPlace() {
  const place = placeOfAddress();
  const page = place?.closest(".page");
  if (!page || !switches().length) return false;
  showLanguage(page.lang);
  place.scrollIntoView();
  return true;
}

function startLanguages(redrawn) {
  const known = switches().map((one) => one.value);
  if (!known.length) return;
  const asked = new URLSearchParams(location.search).get("lang");
  const wished = [asked, ...navigator.languages].filter(Boolean).map((one) => one.slice(0, 2));
  if (!showPlace()) showLanguage(wished.find((one) => known.includes(one)));
  for (const one of switches()) {
    one.addEventListener("change", () => { showLanguage(one.value); redrawn(); });
  }
  window.addEventListener("hashchange", () => { showPlace(); redrawn(); });
}
