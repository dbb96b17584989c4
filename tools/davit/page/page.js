// SPDX-License-Identifier: MIT
// Memory over time, time per partition, and the page's controls.

// ---- memory over time, time per partition

const drawMemory = () => {
  const pane = by("memory"), memory = now.memory;
  if (memory.blocks.length === 0) {
    pane.replaceChildren(make("h2", {}, "Memory over time"), make("p", { class: "quiet" }, memory.ticks > 0 ? "No partition takes memory from the arena." : "Planned when it runs: `davit lower --profile` runs the program and draws the plan here."));
    return;
  }
  const box = make("div", { class: "scroll" });
  pane.replaceChildren(make("h2", {}, `Memory over time: ${bytesText(memory.arena_bytes)}${memory.total_bytes > memory.arena_bytes ? `, ${bytesText(memory.total_bytes)} without reuse` : ""}${memory.sizes ? `, at ${memory.sizes} as run` : ""}`), box);
  const left = 62, bottom = 20, width = Math.max(200, box.clientWidth - 4), height = Math.max(90, box.clientHeight - 6);
  const first = memory.blocks.reduce((min, b) => Math.min(min, b.first), Infinity), last = memory.blocks.reduce((max, b) => Math.max(max, b.last), first) + 1;
  const x = (tick) => left + ((tick - first) / (last - first)) * (width - left - 6);
  const y = (bytes) => 6 + (1 - bytes / memory.arena_bytes) * (height - bottom - 6);
  const most = 10000;
  const shown = memory.blocks.length <= most ? memory.blocks : [...memory.blocks].sort((a, b) => b.bytes - a.bytes).slice(0, most);
  const lines = [0, 0.5, 1].flatMap((part) => [make("line", { class: "grid", x1: left, x2: width - 6, y1: y(part * memory.arena_bytes), y2: y(part * memory.arena_bytes) }), make("text", { class: "axis", x: left - 6, y: y(part * memory.arena_bytes) + 4, "text-anchor": "end" }, bytesText(part * memory.arena_bytes))]);
  const blocks = shown.flatMap((block) => {
    const partition = now.partitions[block.partition];
    const w = Math.max(1, x(block.last + 1) - x(block.first)), h = Math.max(1, y(block.offset) - y(block.offset + block.bytes));
    return [
      make("rect", { class: `block${block.scratch ? " scratch" : ""}${w < 4 ? " thin" : ""}`, x: x(block.first), y: y(block.offset + block.bytes), width: w, height: h, colour: colourOf(partition?.backend), click: () => now.boxOf.has(block.partition) && reveal({ box: now.boxOf.get(block.partition) }),
        "data-tip": `${block.what}: ${bytesText(block.bytes)} at ${block.offset.toLocaleString("en")}\nsteps ${block.first} to ${block.last}${partition ? `\n${partition.tag} on ${partition.backend}` : ""}` }),
      w > 60 && h > 15 ? make("text", { class: "inside", x: x(block.first) + 5, y: y(block.offset + block.bytes) + 13 }, shortened(block.what, w - 10, 11)) : null,
    ];
  }).filter(Boolean);
  box.append(make("svg", { width, height, role: "img", "aria-label": "blocks of the arena by step and offset" }, lines, blocks,
    make("text", { class: "axis", x: left, y: height - 5 }, `step ${first}`), make("text", { class: "axis", x: width - 6, y: height - 5, "text-anchor": "end" }, `step ${last - 1}${shown.length < memory.blocks.length ? `; the largest ${most} of ${memory.blocks.length} blocks` : ""}`)));
};
const drawTimes = () => {
  const timed = now.partitions.map((_, p) => p).filter((p) => now.partitions[p].ns !== null).sort((a, b) => now.partitions[b].ns - now.partitions[a].ns);
  if (timed.length === 0)
    return by("times").replaceChildren(make("h2", {}, "Time per partition"), make("p", { class: "quiet" }, "Not measured: `davit lower --profile` runs the program and puts times here."));
  const most = now.partitions[timed[0]].ns || 1;
  by("times").replaceChildren(make("h2", {}, `Time per partition: ${timeText(now.time)}`), make("div", { class: "scroll" }, rows(timed, (p) => {
    const bar = make("i", { colour: colourOf(now.partitions[p].backend) });
    bar.style.width = `${(100 * now.partitions[p].ns) / most}%`;
    return make("button", { type: "button", class: "row time", click: () => reveal({ box: now.boxOf.get(p) }) }, make("span", { class: "what" }, now.partitions[p].tag), make("span", { class: "track" }, bar), make("span", { class: "much" }, timeText(now.partitions[p].ns)));
  })));
};

// ---- the page

const show = (m) => {
  now = indexed(report.methods[m]);
  const choices = Object.keys(colourings).filter((name) => colourings[name].there());
  colouring = choices.at(-1);
  by("colour").replaceChildren(...choices.map((name) => make("option", { value: name, selected: name === colouring }, `Colour: ${name}`)));
  by("colour").hidden = choices.length < 2;
  by("main").classList.toggle("unmeasured", now.memory.blocks.length === 0 && now.time === 0);
  selected = marked = null;
  tab = report.diff ? "Changes" : now.marks.gaps.size > 0 ? "Gaps" : "Partitions";
  scale = 1;
  const nodes = now.nodes.length;
  const crossing = now.graph.edges.reduce((sum, edge) => sum + (now.graph.boxes[edge.from].kind === "partition" && now.graph.boxes[edge.to].kind === "partition" ? edge.bytes : 0), 0);
  by("totals").textContent = [count(nodes, "node"), count(now.partitions.length, "partition"), `${bytesText(now.constants.reduce((sum, c) => sum + c.bytes, 0))} of constants`, `${bytesText(crossing)} between partitions`, now.sizes && `edges at ${now.sizes}, as exported`, now.time > 0 ? `${timeText(now.time)} a run` : ""].filter(Boolean).join(" · ");
  by("legend").replaceChildren(...backends.map((backend) => {
    const of = now.partitions.flatMap((p, i) => (p.backend === backend ? [i] : []));
    return make("span", { class: "chip" }, swatch(colourOf(backend)), `${backend}: ${count(of.length, "partition")}, ${count(of.reduce((sum, p) => sum + now.members[p].length, 0), "node")}`);
  }));
  drawTimes();
  drawMemory();
  unfoldAtFirst();
  drawSide();
  home();
};

let dragged = false;
const pane = by("graph");
pane.addEventListener("pointerdown", (down) => {
  dragged = false;
  if (down.button !== 0 || down.pointerType === "touch" || !size) return;
  const from = [pane.scrollLeft, pane.scrollTop];
  const move = (event) => {
    const by = [event.clientX - down.clientX, event.clientY - down.clientY];
    if (Math.hypot(...by) > 4) dragged = true;
    if (!dragged) return;
    pane.classList.add("dragged");
    [pane.scrollLeft, pane.scrollTop] = [from[0] - by[0], from[1] - by[1]];
  };
  const up = () => {
    removeEventListener("pointermove", move);
    pane.classList.remove("dragged");
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", up, { once: true });
});
pane.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(scale * Math.exp(-event.deltaY / 300));
}, { passive: false });
by("larger").addEventListener("click", () => zoom(scale * 1.25));
by("smaller").addEventListener("click", () => zoom(scale / 1.25));
by("fit").addEventListener("click", fit);
const partitionBoxes = () => now.graph.boxes.flatMap((box, b) => (box.partition === null ? [] : [b]));
by("open_all").addEventListener("click", () => {
  let room = MOST_BOXES; // expand as many as can be drawn
  for (const b of partitionBoxes()) {
    const root = now.roots[now.graph.boxes[b].partition];
    if (root.nodes.length === 0 || (room -= now.groups.items(root).length) < 0) continue;
    open.add(b);
    const inside = now.groups.items(root).filter((item) => item.nodes);
    for (let group; (group = inside.shift()); ) {
      const items = now.groups.items(group);
      if ((room -= items.length) < 0) break;
      unfolded.add(group.key);
      inside.push(...items.filter((item) => item.nodes));
    }
  }
  drawGraph();
  home();
});
by("close_all").addEventListener("click", () => { open.clear(); unfolded.clear(); drawGraph(); home(); });
by("colour").addEventListener("change", () => { colouring = by("colour").value; drawGraph(); drawSide(); });
pane.addEventListener("scroll", () => showSeen(scale), { passive: true });
by("search").addEventListener("input", search);
by("search").addEventListener("focus", search);
by("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") by("results").querySelector("button.row")?.click();
  if (event.key === "Escape") hideResults();
});
document.addEventListener("click", (event) => event.target.closest(".search") || hideResults());
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = (name) => (document.documentElement.dataset.theme = name);
theme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
by("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
document.addEventListener("pointermove", (event) => {
  const tip = by("tip"), what = event.target.closest?.("[data-tip]")?.dataset.tip;
  tip.hidden = !what;
  if (!what) return;
  tip.textContent = what;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 6)}px`;
});
let width = innerWidth;
addEventListener("resize", () => { if (width !== innerWidth) { width = innerWidth; drawMemory(); } });

document.title = report.diff ? `${report.diff.from} to ${report.title}: davit diff` : `${report.title}: lowered by davit`;
by("title").textContent = report.title;
by("method").replaceChildren(...report.methods.map((m, i) => make("option", { value: i }, m.method)));
by("method").hidden = report.methods.length < 2;
by("method").addEventListener("change", () => show(Number(by("method").value)));
if (report.methods.length > 0) show(0);
