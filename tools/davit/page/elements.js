// SPDX-License-Identifier: MIT
// Elements, words and numbers of the page. Strings become text, never HTML.
const MOST_ROWS = 200; // of a list, until a button shows more

const svgNames = new Set(["svg", "g", "rect", "path", "text", "line", "marker", "defs"]);
const make = (name, attributes = {}, ...children) => {
  const element = svgNames.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (key === "colour") value && element.style.setProperty("--c", value);
    else if (key.startsWith("--")) value !== undefined && element.style.setProperty(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};
const by = (id) => document.getElementById(id);
const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const bytesText = (n) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let u = 0;
  for (; n >= 1024 && u + 1 < units.length; ++u) n /= 1024;
  return `${u === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[u]}`;
};
const pen = document.createElement("canvas").getContext("2d");
const face = getComputedStyle(document.body).fontFamily;
const widthOf = (text, size, weight = 400) => ((pen.font = `${weight} ${size}px ${face}`), pen.measureText(text).width);
const shortened = (text, width, size, weight) => {
  text = text.slice(0, 400);
  if (widthOf(text, size, weight) <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (widthOf(text.slice(0, mid) + "…", size, weight) <= width) low = mid;
    else high = mid - 1;
  }
  return text.slice(0, low) + "…";
};
const swatch = (colour) => make("span", { class: colour ? "swatch" : "swatch none", colour });
/** Makes a list of rows in parts: a button shows more. */
const rows = (list, row) => {
  const box = make("div");
  const more = (from) => {
    const end = Math.min(list.length, from + MOST_ROWS);
    box.append(...list.slice(from, end).map(row));
    if (end < list.length)
      box.append(make("button", { type: "button", class: "more", click: (e) => (e.target.remove(), more(end)) }, `Show more of ${list.length.toLocaleString("en")}`));
  };
  more(0);
  return box;
};
