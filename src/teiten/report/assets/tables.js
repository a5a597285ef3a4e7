"use strict";
// Tables sort by their headers: numbers by data-sort, the rest as text. The foot stays.
function sortKey(cell) {
  const number = cell.dataset.sort;
  return number === undefined ? cell.textContent : Number(number);
}

function compareKeys(one, other) {
  const numbers = typeof one === "number" && typeof other === "number";
  if (numbers) return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one.localeCompare(other, document.documentElement.lang, { numeric: true });
}

function sortTable(table, index, header) {
  const descending = header.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const keyed = Array.from(body.rows, (row) => [sortKey(row.cells[index]), row]);
  keyed.sort((one, other) => compareKeys(one[0], other[0]) * (descending ? -1 : 1));
  body.append(...keyed.map((pair) => pair[1]));
}

function makeTablesSortable() {
  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach((header, index) => {
      header.querySelector("button").addEventListener("click", () =>
        sortTable(table, index, header));
    });
  }
}
