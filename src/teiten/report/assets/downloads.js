"use strict";
// CSV files are made in the page, from the numbers inside it.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = String(value);
  // A text that a spreadsheet would take for a formula is marked as text.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function asCsv(columns) {
  const names = Object.keys(columns);
  const lines = [names.map(csvCell).join(",")];
  const count = names.length ? columns[names[0]].length : 0;
  for (let at = 0; at < count; at += 1) {
    lines.push(names.map((name) => csvCell(columns[name][at])).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

function startDownloads() {
  for (const button of document.querySelectorAll("[data-download]")) {
    button.parentElement.hidden = false;
    button.addEventListener("click", () => {
      const text = "\ufeff" + asCsv(embedded(button.dataset.download));
      const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = button.dataset.download;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
  }
}
