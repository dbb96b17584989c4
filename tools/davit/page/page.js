// SPDX-License-Identifier: MIT
// Shows the report in #data. Inserts its strings as text, never as HTML.
"use strict";

(() => {
  const MOST_BOXES = 300, MOST_EDGES = 700; // limits of one drawing; a list replaces larger ones
  const MOST_DRAWN = 1500; // boxes of all nested graphs together
  const MOST_ROWS = 200; // of a list, until a button shows more

  // ---- elements and words

  const svgNames = new Set(["svg", "g", "rect", "path", "text", "line", "marker", "defs"]);
  const make = (name, attributes = {}, ...children) => {
    const element = svgNames.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(key, value);
      else if (key === "colour") value && element.style.setProperty("--c", value);
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
  const timeText = (ns) => (ns === null ? (now.time > 0 ? "did not run" : "not measured") : ns < 1e3 ? `${ns} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : `${(ns / 1e6).toFixed(2)} ms`);
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

  // ---- the report

  const report = JSON.parse(by("data").textContent);
  const backends = [...new Set(report.methods.flatMap((m) => m.partitions.map((p) => p.backend)))];
  const colourOf = (backend) => (backends.includes(backend) ? `var(--b${backends.indexOf(backend) % 8})` : "");

  /** Adds indices to a method's report. */
  const indexed = (method) => {
    const members = method.partitions.map(() => []);
    const users = method.nodes.map(() => []);
    method.nodes.forEach((node, n) => {
      if (node.partition !== null) members[node.partition]?.push(n);
      for (const input of node.inputs) users[input]?.push(n);
    });
    const boxOf = new Map(method.graph.boxes.map((box, b) => [box.partition, b]));
    const refusals = new Map();
    for (const refusal of method.refusals) {
      if (!refusals.has(refusal.node)) refusals.set(refusal.node, []);
      refusals.get(refusal.node).push(refusal);
    }
    const flowOf = new Map(method.graph.boxes.map((box, b) => [box.label, b]).filter(([, b]) => method.graph.boxes[b].kind === "control_flow"));
    const nodeNamed = new Map(method.nodes.map((node, n) => [node.name, n]));
    const words = method.nodes.map((node) => {
      const place = method.places[node.place];
      return `${node.name}\n${node.target}\n${node.type}\n${place ? `${place.modules}\n${place.source}` : ""}`.toLowerCase();
    });
    return { ...method, members, users, boxOf, flowOf, refusalsOf: refusals, nodeNamed, words, time: method.partitions.reduce((sum, p) => sum + (p.ns ?? 0), 0) };
  };

  let now; // the current method
  let open; // ids of expanded partition boxes
  let selected; // {box} or {node}
  let marked; // nodes of the selected module
  let tab;
  let scale = 1;
  const colourOfNode = (n) => (now.nodes[n].partition === null ? "" : colourOf(now.partitions[now.nodes[n].partition]?.backend));
  const operatorOf = (target) => target.replace(/^(torch\.ops\.)?(aten|higher_order)\./, "");

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
  const layMembers = (partition) => {
    const members = now.members[partition];
    const row = new Map(members.map((n, i) => [n, i]));
    const edges = merged(members.flatMap((n) => now.nodes[n].inputs.filter((from) => row.has(from)).map((from) => ({ from: row.get(from), to: row.get(n), value: now.nodes[from].name, type: now.nodes[from].type, bytes: 0 }))));
    if (members.length > MOST_BOXES || edges.length > MOST_EDGES || (drawn += members.length) > MOST_DRAWN) return null;
    const boxes = members.map(nodeBox);
    return { boxes, edges, ...withPlaces(layOut(boxes, edges), boxes, edges) };
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
      const share = now.time > 0 && partition.ns !== null ? ` · ${Math.round((100 * partition.ns) / now.time)} %` : "";
      return [
        [shortened(partition.tag, 190, 13, 600), 13, 600, "name"],
        [shortened(`${partition.backend} · ${count(now.members[box.partition].length, "node")}`, 190, 12), 12, 400, ""],
        partition.ns !== null ? [timeText(partition.ns) + share, 11, 400, "small"] : partition.constant_bytes > 0 ? [`${bytesText(partition.constant_bytes)} of constants`, 11, 400, "small"] : null,
      ].filter(Boolean);
    }
    if (box.kind === "control_flow") return [[shortened(operatorOf(box.detail), 190, 13, 600), 13, 600, "name"], [shortened(box.label, 190, 12), 12, 400, ""]];
    return [[box.label, 13, 600, "name"]];
  };

  const layBox = (id) => {
    const box = now.graph.boxes[id];
    const lines = describe(id);
    const out = { id, lines, width: boxWidth(lines), height: 14 + 17 * lines.length, inner: [] };
    const head = out.height;
    if (box.kind === "control_flow")
      out.inner = box.graphs.filter((g) => g > box.graph && now.graph.graphs[g]).map((g) => ({ title: now.graph.graphs[g].name || `graph ${g}`, ...layGraph(g) }));
    if (open.has(id)) {
      const inner = layMembers(box.partition);
      if (inner) out.inner = [{ title: "", ...inner }];
      else out.lines.push(["too many to draw: see the list", 11, 400, "small"]);
    }
    let x = 12;
    for (const inner of out.inner) {
      const titled = inner.title ? 18 : 0;
      Object.assign(inner, { x, y: head + titled });
      x += inner.width + 12;
      out.width = Math.max(out.width, x);
      out.height = Math.max(out.height, head + titled + inner.height + 12);
    }
    if (out.inner.length === 0) Object.assign(out, { width: boxWidth(out.lines), height: 14 + 17 * out.lines.length });
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
    return { boxes, edges, ...withPlaces(layOut(boxes, edges), boxes, edges) };
  };

  const drawEdge = (edge, boxes) => {
    const what = edge.values.slice(0, 12).map((v) => `${v.value}: ${v.type}${v.bytes ? `, ${bytesText(v.bytes)}` : ""}`).join("\n") + (edge.values.length > 12 ? `\nand ${edge.values.length - 12} more` : "");
    const thick = edge.bytes > 0 ? Math.min(4, 1 + Math.log10(1 + edge.bytes / 1024) / 1.5) : 1.2;
    const name = (box) => (box.id === undefined ? `n${box.node}` : `b${box.id}`);
    return make("g", { class: "edge", "data-tip": what, "data-from": name(boxes[edge.from]), "data-to": name(boxes[edge.to]) },
      make("path", { d: edge.path, "stroke-width": thick.toFixed(2), "marker-end": "url(#arrow)" }),
      edge.labelAt && make("rect", { x: edge.labelAt.x - edge.label.width / 2, y: edge.labelAt.y - edge.label.height / 2, width: edge.label.width, height: edge.label.height, rx: 3 }),
      edge.labelAt && make("text", { x: edge.labelAt.x, y: edge.labelAt.y + 4 }, edge.text));
  };
  const isSelected = (box) => (box.id === undefined ? selected?.node === box.node : selected?.box === box.id);
  const isMarked = (box) => marked && (box.id === undefined ? marked.has(box.node) : now.members[now.graph.boxes[box.id].partition]?.some((n) => marked.has(n)));
  const drawBox = (box) => {
    const of = box.id === undefined ? null : now.graph.boxes[box.id];
    const kind = !of ? "node" : of.kind === "control_flow" ? "flow" : of.kind === "partition" ? "partition" : "port";
    const colour = of ? colourOf(now.partitions[of.partition]?.backend) : colourOfNode(box.node);
    const pick = (event) => {
      event.stopPropagation();
      if (dragged) return;
      if (!of) return select({ node: box.node });
      if (kind === "partition") open.has(box.id) ? open.delete(box.id) : open.add(box.id);
      select({ box: box.id }, kind === "partition");
    };
    const middle = box.width / 2;
    return make("g", {
      class: `box ${kind}${open.has(box.id) ? " open" : ""}${isSelected(box) ? " selected" : ""}${isMarked(box) ? " marked" : ""}`,
      id: of ? `b${box.id}` : `n${box.node}`, transform: `translate(${box.x} ${box.y})`, tabindex: 0, role: "button", "aria-label": box.lines.map(([text]) => text).join(", "),
      "data-tip": of ? undefined : `${now.nodes[box.node].name} = ${now.nodes[box.node].target}\n${now.nodes[box.node].type}`,
      click: pick, keydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick(event)),
    },
      make("rect", { class: "frame", width: box.width, height: box.height, rx: kind === "port" ? 14 : 6, colour }),
      box.lines.map(([text, , , style], i) => make("text", { class: style, x: middle, y: 21 + 17 * i - (of ? 0 : i) }, text)),
      box.inner?.map((inner) => make("g", { transform: `translate(${inner.x} ${inner.y})` },
        inner.title && make("text", { class: "small", x: inner.width / 2, y: -4 }, shortened(inner.title, inner.width, 11)),
        inner.tooMany && make("text", { class: "small", x: 120, y: 24 }, `${inner.tooMany} boxes: too many to draw`),
        drawParts(inner))));
  };
  const drawParts = (layout) => [...layout.edges.map((edge) => drawEdge(edge, layout.boxes)), ...layout.boxes.map(drawBox)];

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
  };
  const fit = () => {
    const pane = by("graph");
    if (size) zoom(Math.min(1.15, (pane.clientWidth - 16) / size.width, (pane.clientHeight - 16) / size.height));
  };
  /** Scrolls to the start of the graph at a readable scale. */
  const home = () => {
    const pane = by("graph");
    if (!size) return;
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
    const anchor = what?.box === undefined ? null : by(`b${what.box}`)?.getBoundingClientRect();
    selected = what;
    tab = "Details";
    if (redraw) {
      drawGraph();
      const after = anchor && by(`b${what.box}`)?.getBoundingClientRect();
      if (after) { // keeps the box under the pointer
        by("graph").scrollLeft += after.left + after.width / 2 - anchor.left - anchor.width / 2;
        by("graph").scrollTop += after.top - anchor.top;
      }
    } else {
      for (const old of document.querySelectorAll(".box.selected")) old.classList.remove("selected");
      by(what?.node === undefined ? `b${what?.box}` : `n${what.node}`)?.classList.add("selected");
    }
    drawSide();
  };
  /** Expands the partition of a node, selects the node and scrolls to it. */
  const reveal = (what) => {
    let box = what.box;
    if (what.node !== undefined) {
      const node = now.nodes[what.node];
      box = node.partition === null ? now.flowOf.get(node.name) : now.boxOf.get(node.partition);
      const fits = node.partition !== null && now.members[node.partition].length <= MOST_BOXES;
      if (fits && box !== undefined && !open.has(box)) {
        open.add(box);
        drawGraph();
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

  // ---- the side panel: details, lists, modules

  const facts = (pairs) => make("dl", {}, pairs.filter(([, value]) => value !== null && value !== "" && value !== undefined).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  const link = (n) => make("button", { type: "button", class: "row", click: () => reveal({ node: n }) }, swatch(colourOfNode(n)), make("span", { class: "what" }, `${now.nodes[n].name} `, make("span", { class: "quiet" }, operatorOf(now.nodes[n].target))));
  const nodeDetails = (n) => {
    const node = now.nodes[n], place = now.places[node.place], partition = now.partitions[node.partition];
    return [
      make("h2", {}, operatorOf(node.target)),
      facts([["name", node.name], ["operator", node.target], ["type", node.type], ["partition", partition ? `${partition.tag} on ${partition.backend}` : "control flow"], ["time", node.ns === null ? "" : timeText(node.ns)], ["source", place?.source], ["module", place?.modules]]),
      place?.stack_trace ? make("details", { open: true }, make("summary", {}, "Source"), make("pre", {}, place.stack_trace.replace(/\s+$/, ""))) : "",
      now.refusalsOf.has(node.name) ? [make("h3", {}, "Not taken by"), facts(now.refusalsOf.get(node.name).map((r) => [r.backend, r.reason]))] : "",
      node.inputs.length ? [make("h3", {}, "Reads from"), rows(node.inputs, link)] : "",
      now.users[n].length ? [make("h3", {}, "Read by"), rows(now.users[n], link)] : "",
    ];
  };
  const boxDetails = (id) => {
    const box = now.graph.boxes[id], partition = now.partitions[box.partition];
    const values = (end, other) => now.graph.edges.filter((edge) => edge[end] === id).map((edge) => ({ edge, other: now.graph.boxes[edge[other]].label }));
    const valueRow = ({ edge, other }) => make("div", { class: "row" }, make("span", { class: "what" }, edge.value, make("small", {}, `${edge.type} · ${other}`)), make("span", { class: "much" }, edge.bytes ? bytesText(edge.bytes) : ""));
    const inputs = values("to", "from"), outputs = values("from", "to");
    const members = partition ? now.members[box.partition] : [];
    return [
      make("h2", {}, swatch(colourOf(partition?.backend)), ` ${box.label}`),
      partition
        ? facts([["backend", partition.backend], ["nodes", `${members.length}${partition.nodes !== members.length ? ` (${partition.nodes} as it was cut)` : ""}`], ["time", timeText(partition.ns)], ["constants", bytesText(partition.constant_bytes)]])
        : facts([["operator", box.detail]]),
      members.length ? [make("h3", {}, "Nodes"), rows(members, nodeRow)] : "",
      inputs.length ? [make("h3", {}, "Takes"), rows(inputs, valueRow)] : "",
      outputs.length ? [make("h3", {}, "Gives"), rows(outputs, valueRow)] : "",
    ];
  };
  const moduleTree = () => {
    const root = { name: "", nodes: [], children: new Map() };
    now.nodes.forEach((node, n) => {
      let at = root;
      for (const part of (now.places[node.place]?.modules ?? "").split(" > ").filter(Boolean)) {
        if (!at.children.has(part)) at.children.set(part, { name: part, nodes: [], children: new Map() });
        at = at.children.get(part);
        at.nodes.push(n);
      }
    });
    const share = (nodes) => {
      const counts = new Map();
      for (const n of nodes) counts.set(colourOfNode(n), (counts.get(colourOfNode(n)) ?? 0) + 1);
      return make("span", { class: "share" }, [...counts].map(([colour, c]) => { const part = make("i", { colour }); part.style.flex = String(c); return part; }));
    };
    const mark = (module) => {
      marked = new Set(module.nodes);
      drawGraph();
      selected = null;
      tab = "Details";
      drawSide([make("h2", {}, module.name), make("button", { type: "button", click: () => { marked = null; drawGraph(); tab = "Modules"; drawSide(); } }, "Clear the marks"), make("h3", {}, "Nodes"), rows(module.nodes, nodeRow)]);
    };
    const draw = (module) => {
      const line = () => [make("span", { class: "what" }, module.name), share(module.nodes), make("span", { class: "much" }, String(module.nodes.length)), make("button", { type: "button", click: (event) => (event.preventDefault(), mark(module)) }, "Mark")];
      if (module.children.size === 0) return make("div", { class: "row leaf" }, line());
      const details = make("details", { toggle: () => { if (details.open && details.childElementCount === 1) details.append(rows([...module.children.values()], draw)); } }, make("summary", { class: "row" }, line()));
      return details;
    };
    if (root.children.size === 0) return [make("p", { class: "quiet" }, "The program does not say which modules its nodes come from.")];
    const tree = make("div", { class: "tree" }, rows([...root.children.values()], draw));
    for (let only = tree.querySelectorAll("details"); only.length === 1 && !only[0].open; ) only[0].open = true;
    return [tree];
  };
  const refusalGroups = () => {
    const groups = new Map();
    for (const refusal of now.refusals) {
      const key = JSON.stringify([refusal.target, refusal.backend, refusal.reason]);
      if (!groups.has(key)) groups.set(key, { ...refusal, count: 0, nodes: [] });
      ++groups.get(key).count;
      if (now.nodeNamed.has(refusal.node)) groups.get(key).nodes.push(now.nodeNamed.get(refusal.node));
    }
    return [...groups.values()].sort((a, b) => b.count - a.count);
  };
  const refused = () => [
    make("p", { class: "quiet" }, "Nodes that a backend did not take, and what it says. Another backend may have taken them."),
    rows(refusalGroups(), (group) => {
      const details = make("details", { toggle: () => { if (details.open && details.childElementCount === 1) details.append(rows(group.nodes, nodeRow)); } },
        make("summary", {}, swatch(colourOf(group.backend)), ` ${operatorOf(group.target)}: ${count(group.count, "node")}, not by ${group.backend}: `, make("span", { class: "quiet" }, group.reason)));
      return details;
    }),
  ];
  const constants = () => [rows([...now.constants].sort((a, b) => b.bytes - a.bytes), (c) => make("div", { class: "row" }, make("span", { class: "what" }, c.target, make("small", {}, `${c.fate}, ${count(c.partitions, "partition")}`)), make("span", { class: "much" }, bytesText(c.bytes))))];
  const costs = () => [rows(now.candidates, (c) => make("div", { class: "row" }, make("span", { class: "what" }, `${c.what}: ${c.candidate}`, make("small", {}, `${count(c.partitions, "partition")}${c.chosen ? ", chosen" : ""}`)), make("span", { class: "much" }, timeText(c.ns))))];
  const partitions = () => [rows(now.partitions.map((_, p) => p), partitionRow)];
  const details = () => (selected?.node !== undefined ? nodeDetails(selected.node) : selected?.box !== undefined ? boxDetails(selected.box) : [make("p", { class: "quiet" }, "Choose a partition to open it, or a node of an open one.")]);
  const tabs = { Details: [details, () => true], Partitions: [partitions, () => true], Modules: [moduleTree, () => true], "Not taken": [refused, () => now.refusals.length > 0], Constants: [constants, () => now.constants.length > 0], Costs: [costs, () => now.candidates.length > 0] };
  const drawSide = (content) => {
    by("tabs").replaceChildren(...Object.entries(tabs).filter(([, [, there]]) => there()).map(([name]) => make("button", { type: "button", role: "tab", "aria-selected": String(name === tab), click: () => ((tab = name), drawSide()) }, name)));
    by("panel").replaceChildren(...(content ?? tabs[tab][0]()).flat(2).filter((part) => part !== ""));
    by("panel").scrollTop = 0;
  };

  // ---- memory over time, time per partition

  const drawMemory = () => {
    const pane = by("memory"), memory = now.memory;
    if (memory.blocks.length === 0) {
      pane.replaceChildren(make("h2", {}, "Memory over time"), make("p", { class: "quiet" }, memory.ticks > 0 ? "No partition takes memory from the arena." : "Planned when it runs: `davit lower --profile` runs the program and draws the plan here."));
      return;
    }
    const box = make("div", { class: "scroll" });
    pane.replaceChildren(make("h2", {}, `Memory over time: ${bytesText(memory.arena_bytes)}${memory.total_bytes > memory.arena_bytes ? `, ${bytesText(memory.total_bytes)} without reuse` : ""}`), box);
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
    open = new Set(now.partitions.length === 1 && now.members[0].length <= MOST_BOXES ? [now.boxOf.get(0)] : []); // expands a lone partition
    selected = marked = null;
    tab = "Partitions";
    scale = 1;
    const nodes = now.nodes.length;
    const crossing = now.graph.edges.reduce((sum, edge) => sum + (now.graph.boxes[edge.from].kind === "partition" && now.graph.boxes[edge.to].kind === "partition" ? edge.bytes : 0), 0);
    by("totals").textContent = [count(nodes, "node"), count(now.partitions.length, "partition"), `${bytesText(now.constants.reduce((sum, c) => sum + c.bytes, 0))} of constants`, `${bytesText(crossing)} between partitions`, now.time > 0 ? `${timeText(now.time)} a run` : ""].filter(Boolean).join(" · ");
    by("legend").replaceChildren(...backends.map((backend) => {
      const of = now.partitions.flatMap((p, i) => (p.backend === backend ? [i] : []));
      return make("span", { class: "chip" }, swatch(colourOf(backend)), `${backend}: ${count(of.length, "partition")}, ${count(of.reduce((sum, p) => sum + now.members[p].length, 0), "node")}`);
    }));
    drawGraph();
    drawSide();
    drawTimes();
    drawMemory();
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
    for (const b of partitionBoxes()) if ((room -= now.members[now.graph.boxes[b].partition].length) >= 0) open.add(b);
    drawGraph();
    home();
  });
  by("close_all").addEventListener("click", () => { open.clear(); drawGraph(); home(); });
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

  document.title = `${report.title}: lowered by davit`;
  by("title").textContent = report.title;
  by("method").replaceChildren(...report.methods.map((m, i) => make("option", { value: i }, m.method)));
  by("method").hidden = report.methods.length < 2;
  by("method").addEventListener("change", () => show(Number(by("method").value)));
  if (report.methods.length > 0) show(0);
})();
