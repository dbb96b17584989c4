// SPDX-License-Identifier: MIT
// The graph: laid out from the inside out, drawn from the outside in; selection and search.

// ---- the graph: layout from the inside out, then drawing from the outside in

const boxWidth = (lines) => Math.ceil(Math.max(84, ...lines.map(([text, size, weight]) => widthOf(text, size, weight))) + 24);
const merged = (edges) => {
  const all = new Map();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`;
    if (!all.has(key)) all.set(key, { from: edge.from, to: edge.to, values: [] });
    all.get(key).values.push(edge);
  }
  return [...all.values()];
};

const nodeBox = (n) => {
  const node = now.nodes[n];
  const lines = [[shortened(operatorOf(node.target), 190, 13, 600), 13, 600, "name"], [shortened(node.name, 190, 12), 12, 400, ""], [shortened(node.type, 190, 11), 11, 400, "small"]].filter(([text]) => text);
  return { node: n, lines, width: boxWidth(lines), height: 14 + 16 * lines.length };
};
/** A group's time: the sum over its nodes; null if none was measured. */
const timeOf = (nodes) => nodes.reduce((sum, n) => (now.nodes[n].ns === null ? sum : (sum ?? 0) + now.nodes[n].ns), null);
const shareText = (ns) => (ns === null || now.time === 0 ? "" : ` · ${Math.round((100 * ns) / now.time)} %`);
const groupBox = (group) => {
  const ns = timeOf(group.nodes);
  const lines = [[shortened(group.name, 190, 13, 600), 13, 600, "name"], [shortened([count(group.nodes.length, "node"), group.type].filter(Boolean).join(" · "), 190, 12), 12, 400, ""],
    ns !== null ? [timeText(ns) + shareText(ns), 11, 400, "small"] : null].filter(Boolean);
  const box = { group, lines, width: boxWidth(lines), height: 14 + 17 * lines.length, inner: [] };
  const inner = unfolded.has(group.key) ? layItems(group) : null;
  if (inner) hold(box, [{ title: "", ...inner }]);
  return box;
};
/** Lays out the nodes and groups in a group; null if there are too many. */
const layItems = (group) => {
  const items = now.groups.items(group);
  const inside = (from) => now.nodes[from].partition === now.nodes[group.nodes[0]].partition && Groups.at(items, from);
  const edges = [];
  for (const n of group.nodes) {
    const to = Groups.at(items, n);
    for (const input of now.nodes[n].inputs) {
      const from = inside(input);
      if (from !== false && from >= 0 && from !== to) edges.push({ from, to, value: now.nodes[input].name, type: now.nodes[input].type, bytes: 0 });
    }
  }
  const all = merged(edges);
  if (items.length > MOST_BOXES || all.length > MOST_EDGES || (drawn += items.length) > MOST_DRAWN) return null;
  const boxes = items.map((item) => (item.node === undefined ? groupBox(item) : nodeBox(item.node)));
  return { boxes, edges: all, ...withPlaces(layOut(boxes, all, room(group.outer === undefined || group.depth > 0 ? shape : undefined)), boxes, all) };
};
const SHAPES = [[1, 1], [0.7, 1], [1, 0.7], [0.5, 1]]; // of drawings in groups, in parts of the pane
let shape = SHAPES[0];
/** The size that a drawing may have: the pane's without the frames around it, and in a group its shape. */
const room = ([width, height] = SHAPES[0]) => {
  const pane = by("graph");
  return { width: Math.max(300, (pane.clientWidth - 60) * width), height: Math.max(260, (pane.clientHeight - 190) * height) };
};
/** Puts drawings side by side into a box, below its lines. */
const hold = (box, inner) => {
  const head = 14 + 17 * box.lines.length;
  box.inner = inner;
  let x = 12;
  for (const part of inner) {
    const titled = part.title ? 18 : 0;
    Object.assign(part, { x, y: head + titled });
    x += part.width + 12;
    box.width = Math.max(box.width, x);
    box.height = Math.max(box.height, head + titled + part.height + 12);
  }
};
const withPlaces = (layout, boxes, edges) => {
  layout.boxes.forEach((at, i) => Object.assign(boxes[i], at));
  layout.edges.forEach((route, i) => Object.assign(edges[i], { path: route.path, labelAt: route.label }));
  return { width: layout.width, height: layout.height };
};

const describe = (id) => {
  const box = now.graph.boxes[id];
  const partition = now.partitions[box.partition];
  if (partition) {
    return [
      [shortened(partition.tag, 190, 13, 600), 13, 600, "name"],
      [shortened(`${partition.backend} · ${count(now.members[box.partition].length, "node")}`, 190, 12), 12, 400, ""],
      partition.ns !== null ? [timeText(partition.ns) + shareText(partition.ns), 11, 400, "small"] : partition.constant_bytes > 0 ? [`${bytesText(partition.constant_bytes)} of constants`, 11, 400, "small"] : null,
    ].filter(Boolean);
  }
  if (box.kind === "control_flow") return [[shortened(operatorOf(box.detail), 190, 13, 600), 13, 600, "name"], [shortened(box.label, 190, 12), 12, 400, ""]];
  return [[box.label, 13, 600, "name"]];
};

const layBox = (id) => {
  const box = now.graph.boxes[id];
  const lines = describe(id);
  const out = { id, lines, width: 0, height: 0, inner: [] };
  let drawings = [];
  if (box.kind === "control_flow")
    drawings = box.graphs.filter((g) => g > box.graph && now.graph.graphs[g]).map((g) => ({ title: now.graph.graphs[g].name || `graph ${g}`, ...layGraph(g) }));
  if (open.has(id)) {
    const inner = now.members[box.partition].length > 0 ? layItems(now.roots[box.partition]) : null;
    if (inner) drawings = [{ title: "", ...inner }];
    else out.lines.push(["too many to draw: see the list", 11, 400, "small"]);
  }
  Object.assign(out, { width: boxWidth(out.lines) + (box.kind === "partition" ? 14 : 0), height: 14 + 17 * out.lines.length });
  hold(out, drawings);
  return out;
};
const layGraph = (g) => {
  const block = now.graph.graphs[g];
  const row = new Map(block.boxes.map((b, i) => [b, i]));
  const edges = merged(block.edges.map((e) => now.graph.edges[e]).map((e) => ({ ...e, from: row.get(e.from), to: row.get(e.to) })));
  if (block.boxes.length > MOST_BOXES || edges.length > MOST_EDGES || (drawn += block.boxes.length) > MOST_DRAWN) return { boxes: [], edges: [], width: 240, height: 40, tooMany: block.boxes.length };
  const boxes = block.boxes.map(layBox);
  for (const edge of edges) {
    const sum = edge.values.reduce((bytes, value) => bytes + value.bytes, 0);
    edge.bytes = sum;
    edge.text = (edge.values.length > 1 ? `${edge.values.length} values` : "") + (sum > 0 ? `${edge.values.length > 1 ? ", " : ""}${bytesText(sum)}` : "");
    edge.label = edge.text ? { width: widthOf(edge.text, 11) + 8, height: 16 } : null;
  }
  return { boxes, edges, ...withPlaces(layOut(boxes, edges, g === 0 && boxes.length > 5 ? room() : undefined), boxes, edges) };
};

const drawEdge = (edge, boxes) => {
  const what = edge.values.slice(0, 12).map((v) => `${v.value}: ${v.type}${v.bytes ? `, ${bytesText(v.bytes)}` : ""}`).join("\n") + (edge.values.length > 12 ? `\nand ${edge.values.length - 12} more` : "");
  const thick = edge.bytes > 0 ? Math.min(4, 1 + Math.log10(1 + edge.bytes / 1024) / 1.5) : 1.2;
  return make("g", { class: "edge", "data-tip": what, "data-from": idOf(boxes[edge.from]), "data-to": idOf(boxes[edge.to]) },
    make("path", { d: edge.path, "stroke-width": thick.toFixed(2), "marker-end": "url(#arrow)" }),
    edge.labelAt && make("rect", { x: edge.labelAt.x - edge.label.width / 2, y: edge.labelAt.y - edge.label.height / 2, width: edge.label.width, height: edge.label.height, rx: 3 }),
    edge.labelAt && make("text", { x: edge.labelAt.x, y: edge.labelAt.y + 4 }, edge.text));
};
const idOf = (box) => (box.node !== undefined ? `n${box.node}` : box.group ? box.group.key : `b${box.id}`);
const isSelected = (box) => selected && (box.node !== undefined ? selected.node === box.node : box.group ? selected.group?.key === box.group.key : selected.box === box.id);
/** The nodes in a box. */
const nodesOf = (box) => (box.node !== undefined ? [box.node] : box.group ? box.group.nodes : now.members[now.graph.boxes[box.id].partition] ?? []);
const kindOf = (box) => {
  if (box.node !== undefined || box.group) return box.group ? "group" : "node";
  const { kind } = now.graph.boxes[box.id];
  return kind === "control_flow" ? "flow" : kind === "partition" ? "partition" : "port";
};
const isOpen = (box) => (box.group ? unfolded.has(box.group.key) : open.has(box.id));
const toggle = (set, key) => (set.has(key) ? set.delete(key) : set.add(key));
const drawBox = (box) => {
  const kind = kindOf(box), of = box.id === undefined ? null : now.graph.boxes[box.id];
  const partition = of ? of.partition : now.nodes[nodesOf(box)[0]].partition;
  const colour = colourOf(now.partitions[partition]?.backend);
  const heat = kind === "port" || kind === "flow" || box.inner?.length > 0 ? null : colourings[colouring].of(box); // an open box shows its parts' colours
  const pick = (event) => {
    event.stopPropagation();
    if (dragged) return;
    if (box.node !== undefined) return select({ node: box.node });
    if (box.group) return toggle(unfolded, box.group.key), select({ group: box.group }, true);
    if (kind === "partition") toggle(open, box.id);
    select({ box: box.id }, kind === "partition");
  };
  const middle = box.width / 2;
  return make("g", {
    class: `box ${kind}${isOpen(box) && box.inner?.length > 0 ? " open" : ""}${isSelected(box) ? " selected" : ""}${marked && nodesOf(box).some((n) => marked.has(n)) ? " marked" : ""}${heat ? " hot" : ""}`,
    id: idOf(box), transform: `translate(${box.x} ${box.y})`, tabindex: 0, role: "button", "aria-label": box.lines.map(([text]) => text).join(", "),
    "aria-expanded": kind === "group" || kind === "partition" ? String(isOpen(box)) : undefined,
    "data-tip": box.node !== undefined ? `${now.nodes[box.node].name} = ${now.nodes[box.node].target}\n${now.nodes[box.node].type}` : box.group ? `${box.group.path ?? box.group.name}\n${count(box.group.nodes.length, "node")}` : undefined,
    "--h": heat ? `${Math.round(100 * heat.share)}%` : undefined, "--hot": heat?.colour,
    click: pick, keydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick(event)),
  },
    make("rect", { class: "frame", width: box.width, height: box.height, rx: kind === "port" ? 14 : 6, colour }),
    kind === "partition" && heat ? make("rect", { class: "strip", x: 4, y: 6, width: 5, height: box.height - 12, rx: 2, colour }) : null,
    box.lines.map(([text, , , style], i) => make("text", { class: style, x: middle, y: 21 + 17 * i - (kind === "node" ? i : 0) }, text)),
    box.inner?.map((inner) => make("g", { transform: `translate(${inner.x} ${inner.y})` },
      inner.title && make("text", { class: "small", x: inner.width / 2, y: -4 }, shortened(inner.title, inner.width, 11)),
      inner.tooMany && make("text", { class: "small", x: 120, y: 24 }, `${inner.tooMany} boxes: too many to draw`),
      drawParts(inner))));
};
const drawParts = (layout) => [...layout.edges.map((edge) => drawEdge(edge, layout.boxes)), ...layout.boxes.map(drawBox)];

let showSeen = () => {}; // of the minimap
let drawn; // number of boxes so far
let size; // unscaled size of the drawing
const zoom = (to) => {
  const pane = by("graph");
  const drawing = pane.querySelector("svg");
  if (!drawing) return;
  const next = Math.min(3, Math.max(0.08, to));
  const centre = [(pane.scrollLeft + pane.clientWidth / 2) / scale, (pane.scrollTop + pane.clientHeight / 2) / scale];
  scale = next;
  drawing.setAttribute("width", size.width * scale);
  drawing.setAttribute("height", size.height * scale);
  pane.scrollLeft = centre[0] * scale - pane.clientWidth / 2;
  pane.scrollTop = centre[1] * scale - pane.clientHeight / 2;
  showSeen(scale);
};
const fitting = () => Math.min(1.15, (by("graph").clientWidth - 16) / size.width, (by("graph").clientHeight - 16) / size.height);
const fit = () => size && zoom(fitting());
/** Shows the whole graph if that is readable, else scrolls to its start at a readable scale. */
const home = () => {
  const pane = by("graph");
  if (!size) return;
  if (fitting() >= READABLE) return zoom(Math.min(1, fitting()));
  zoom(Math.max(0.75, Math.min(1, (pane.clientWidth - 16) / size.width)));
  scrollTo("b0");
  pane.scrollTop = 0;
};
const partitionRow = (p) => {
  const partition = now.partitions[p];
  return make("button", { type: "button", class: `row${selected && selected.box === now.boxOf.get(p) ? " now" : ""}`, click: () => reveal({ box: now.boxOf.get(p) }) },
    swatch(colourOf(partition.backend)), make("span", { class: "what" }, partition.tag, make("small", {}, `${partition.backend}, ${count(partition.inputs, "input")}, ${count(partition.outputs, "output")}${partition.constant_bytes ? `, ${bytesText(partition.constant_bytes)} of constants` : ""}`)),
    make("span", { class: "much" }, now.time === 0 ? count(now.members[p].length, "node") : timeText(partition.ns)));
};
const drawGraph = () => {
  const pane = by("graph");
  const block = now.graph.graphs[0];
  size = null;
  drawn = 0;
  if (!block) return pane.replaceChildren(make("p", { class: "note quiet" }, "There is nothing to draw."));
  const layout = layGraph(0);
  by("minimap").hidden = true;
  showSeen = () => {};
  for (const id of ["open_all", "close_all", "smaller", "larger", "fit"]) by(id).hidden = Boolean(layout.tooMany);
  if (layout.tooMany) {
    pane.replaceChildren(make("p", { class: "note" }, `${block.boxes.length.toLocaleString("en")} boxes and ${block.edges.length.toLocaleString("en")} edges are more than can be drawn. The partitions, in the order in which they run:`),
      rows(block.boxes.filter((b) => now.graph.boxes[b].partition !== null), (b) => partitionRow(now.graph.boxes[b].partition)));
    return;
  }
  size = { width: layout.width, height: layout.height };
  pane.replaceChildren(make("svg", { viewBox: `0 0 ${size.width} ${size.height}`, width: size.width * scale, height: size.height * scale, role: "img", "aria-label": "partitions and what passes between them" },
    make("defs", {}, make("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, make("path", { d: "M0 0L8 4L0 8Z" }))),
    drawParts(layout)));
  showSeen = drawMinimap(by("minimap"), pane, layout, (box) => `${kindOf(box)}${isOpen(box) ? " open" : ""}`);
  showSeen(scale);
};

const isReadable = () => size !== null && fitting() >= READABLE;
/** Draws the graph as it is seen at first: few partitions open, and modules folded, but for levels that leave the whole readable.
 *  Of few nodes all are seen, without the frames of small modules where these take too much room. */
const unfoldAtFirst = () => {
  shape = SHAPES[0];
  unfolded = new Set();
  const all = now.partitions.map((_, p) => now.boxOf.get(p)).filter((b) => b !== undefined);
  open = new Set(all.length <= FEW_PARTITIONS ? all : []);
  drawGraph();
  if (all.length > 1 && !isReadable()) open.clear();
  if (all.length > MOST_BOXES) return drawGraph();
  const roots = now.roots.filter((group, p) => group.nodes.length > 0 && (now.few || open.has(now.boxOf.get(p))));
  if (now.few) {
    for (const least of [2, 4, FEW_NODES + 1]) {
      now.groups.setLeast(least);
      unfolded = new Set(roots.flatMap((root) => now.groups.levelsAtFirst(root, true).flat()));
      drawGraph();
      if (isReadable()) return;
    }
    return;
  }
  const levels = roots.map((root) => now.groups.levelsAtFirst(root, false));
  for (let depth = 0; levels.some((of) => of[depth]); ++depth) {
    const level = levels.flatMap((of) => of[depth] ?? []), before = shape;
    for (const key of level) unfolded.add(key);
    let best = 0;
    for (const one of SHAPES) {
      const last = shape;
      shape = one;
      drawGraph();
      if (size && fitting() > best) best = fitting();
      else shape = last;
    }
    drawGraph();
    if (isReadable()) continue;
    for (const key of level) unfolded.delete(key);
    shape = before;
    break;
  }
  drawGraph();
};

// ---- selection and search

const scrollTo = (id) => {
  const pane = by("graph"), box = by(id)?.querySelector(".frame")?.getBoundingClientRect();
  if (!box) return;
  const at = pane.getBoundingClientRect();
  pane.scrollLeft += box.left - at.left - Math.max(10, (at.width - box.width) / 2);
  pane.scrollTop += box.top - at.top - Math.max(10, (at.height - Math.min(box.height, at.height)) / 2);
};
/** Selects a box or node and shows its details. `redraw`: boxes have been expanded or collapsed. */
const select = (what, redraw = false) => {
  const id = what?.node !== undefined ? `n${what.node}` : what?.group ? what.group.key : `b${what?.box}`;
  const anchor = redraw ? by(id)?.getBoundingClientRect() : null;
  selected = what;
  tab = "Details";
  if (redraw) {
    drawGraph();
    const after = anchor && by(id)?.getBoundingClientRect();
    if (after) { // keeps the box under the pointer
      by("graph").scrollLeft += after.left + after.width / 2 - anchor.left - anchor.width / 2;
      by("graph").scrollTop += after.top - anchor.top;
    }
  } else {
    for (const old of document.querySelectorAll(".box.selected")) old.classList.remove("selected");
    by(id)?.classList.add("selected");
  }
  drawSide();
};
/** Expands the partition of a node, selects the node and scrolls to it. */
const reveal = (what) => {
  let box = what.box;
  if (what.node !== undefined) {
    const node = now.nodes[what.node];
    box = node.partition === null ? now.flowOf.get(node.name) : now.boxOf.get(node.partition);
    if (node.partition !== null && box !== undefined) {
      const folded = now.groups.around(now.roots[node.partition], what.node).filter((group) => !unfolded.has(group.key));
      for (const group of folded) unfolded.add(group.key);
      if (folded.length > 0 || !open.has(box)) {
        open.add(box);
        drawGraph();
      }
    }
  }
  select(what);
  if (size && scale < 0.5) zoom(0.8);
  scrollTo(what.node !== undefined && by(`n${what.node}`) ? `n${what.node}` : `b${box}`);
};
const nodeRow = (n) => {
  const node = now.nodes[n];
  const place = now.places[node.place];
  return make("button", { type: "button", class: "row", "data-node": n, click: () => (hideResults(), reveal({ node: n })) },
    swatch(colourOfNode(n)), make("span", { class: "what" }, make("span", {}, `${node.name} `), make("span", { class: "quiet" }, operatorOf(node.target)), make("small", {}, [node.type, place?.source.split("/").at(-1)].filter(Boolean).join(" · "))),
    node.ns !== null ? make("span", { class: "much" }, timeText(node.ns)) : "");
};
const hideResults = () => (by("results").hidden = true);
const search = () => {
  const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return hideResults();
  const nodes = now.words.flatMap((text, n) => (words.every((word) => text.includes(word)) ? [n] : []));
  const partitions = now.partitions.flatMap((p, i) => (words.every((word) => `${p.tag} ${p.backend}`.toLowerCase().includes(word)) ? [i] : []));
  by("results").replaceChildren(
    nodes.length + partitions.length === 0 ? make("p", { class: "row quiet" }, "Nothing has all of these words.") : make("p", { class: "row quiet" }, `${count(nodes.length, "node")}, ${count(partitions.length, "partition")}`),
    rows([...partitions.slice(0, 20).map((p) => ({ p })), ...nodes.map((n) => ({ n }))], (hit) => {
      if (hit.n !== undefined) return nodeRow(hit.n);
      const row = partitionRow(hit.p);
      row.addEventListener("click", hideResults);
      return row;
    }));
  by("results").hidden = false;
};
