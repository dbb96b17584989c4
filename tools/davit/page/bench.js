// SPDX-License-Identifier: MIT
// Shows the rows in #data. Inserts its strings as text, never as HTML.
"use strict";

(() => {
  const by = (id) => document.getElementById(id);
  const { rows, version, cpu } = JSON.parse(by("data").textContent);
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 4 });
  const mebibytes = (bytes) => (bytes === 0 ? "?" : number(bytes / 2 ** 20));
  const longest = Math.max(...rows.map((row) => row.p90_ms));
  const several = new Set(rows.map((row) => row.model)).size > 1;
  const bar = (row) => {
    const track = document.createElement("span");
    track.className = "track";
    for (const [name, ms] of [["p90", row.p90_ms], ["median", row.median_ms]]) {
      const part = document.createElement("i");
      part.className = name;
      part.style.width = `${(100 * ms) / longest}%`;
      part.style.setProperty("--c", "var(--accent)");
      track.append(part);
    }
    track.title = `median ${number(row.median_ms)} ms, p90 ${number(row.p90_ms)} ms`;
    return track;
  };
  const columns = [
    ["model", "", (row) => row.model],
    ["backends", "", (row) => row.backends],
    ["threads", "number", (row) => row.threads],
    ["median and p90", "latency", bar],
    ["median ms", "number", (row) => number(row.median_ms)],
    ["p90 ms", "number", (row) => number(row.p90_ms)],
    ["ratio", "number", (row) => row.ratio.toFixed(3)],
    ["runs", "number", (row) => row.runs.toLocaleString("en")],
    ["prepare ms", "number", (row) => number(row.prepare_ms)],
    ["memory MiB", "number", (row) => mebibytes(row.arena_bytes + row.state_bytes + row.constant_bytes)],
    ["peak MiB", "number", (row) => mebibytes(row.peak_bytes)],
  ].filter(([name]) => several || name !== "model");
  const cell = (tag, kind, content) => {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(content);
    return element;
  };
  by("head").append(...columns.map(([name, kind]) => cell("th", kind, name)));
  for (const row of rows) {
    const line = document.createElement("tr");
    line.append(...columns.map(([, kind, content]) => cell("td", kind, content(row))));
    by("rows").append(line);
  }
  by("totals").textContent = [several ? "" : rows[0]?.model, cpu, version].filter(Boolean).join(" · ");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = (name) => (document.documentElement.dataset.theme = name);
  theme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  by("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
})();
