// SPDX-License-Identifier: MIT
// The side panel: details, lists, modules.

// ---- the side panel: details, lists, modules

const facts = (pairs, kind) => make("dl", { class: kind }, pairs.filter(([, value]) => value !== null && value !== "" && value !== undefined).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
const link = (n) => make("button", { type: "button", class: "row", click: () => reveal({ node: n }) }, swatch(colourOfNode(n)), make("span", { class: "what" }, `${now.nodes[n].name} `, make("span", { class: "quiet" }, operatorOf(now.nodes[n].target))));
const numberText = (value) => (value === null ? "?" : Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : value.toPrecision(6).replace(/\.?0+(e|$)/, "$1"));
const rangeText = (weight) => (weight.least === null ? "" : `${numberText(weight.least)}..${numberText(weight.most)}`);
/** Attributes by name, the schema's defaults quietly, and weights with sizes, dtype and range. */
const attributesOf = (node) => {
  const all = node.attributes ?? [], attributes = all.filter((a) => a.weight === undefined), weights = all.filter((a) => a.weight !== undefined);
  return [
    attributes.length ? [make("h3", {}, "Attributes"), facts(attributes.map((a) => [a.name, a.default ? make("span", { class: "quiet", title: "the operator's default" }, a.value) : a.value]), "attributes")] : "",
    weights.length ? [make("h3", {}, "Weights"), rows(weights, (a) => {
      const weight = now.weights[a.weight];
      return make("div", { class: "row weight" }, make("span", { class: "what" }, `${a.name} `, make("span", { class: "quiet" }, weight.target), make("small", {}, [weight.type, rangeText(weight)].filter(Boolean).join(" · "))), make("span", { class: "much" }, bytesText(weight.bytes)));
    })] : "",
  ].flat();
};
const groupDetails = (group) => {
  const operators = new Map();
  for (const n of group.nodes) operators.set(now.nodes[n].target, (operators.get(now.nodes[n].target) ?? 0) + 1);
  const ns = timeOf(group.nodes);
  return [
    make("h2", {}, group.path ?? group.name),
    facts([["type", group.type], ["nodes", group.nodes.length.toLocaleString("en")], ["time", ns === null ? "" : timeText(ns) + shareText(ns)]]),
    make("h3", {}, "Operators"),
    facts([...operators].sort((a, b) => b[1] - a[1]).map(([target, n]) => [n.toLocaleString("en"), operatorOf(target)])),
    make("h3", {}, "Nodes"), rows(group.nodes, nodeRow),
  ];
};
const nodeDetails = (n) => {
  const node = now.nodes[n], place = now.places[node.place], partition = now.partitions[node.partition];
  return [
    make("h2", {}, operatorOf(node.target)),
    facts([["name", node.name], ["operator", node.target], ["type", node.type], ["partition", partition ? `${partition.tag} on ${partition.backend}` : "control flow"], ["time", node.ns === null ? "" : timeText(node.ns)], ["source", place?.source], ["module", place?.modules]]),
    attributesOf(node),
    place?.stack_trace ? make("details", { open: true }, make("summary", {}, "Source"), make("pre", {}, place.stack_trace.replace(/\s+$/, ""))) : "",
    now.refusalsOf.has(node.name) ? [make("h3", {}, "Not taken by"), facts(now.refusalsOf.get(node.name).map((r) => [r.backend, r.reason]))] : "",
    node.inputs.length ? [make("h3", {}, "Reads from"), rows(node.inputs, link)] : "",
    now.users[n].length ? [make("h3", {}, "Read by"), rows(now.users[n], link)] : "",
  ];
};
/** Names the sizes that bytes between partitions are computed with, where they are dynamic. */
const atExample = () => (now.sizes ? `, at ${now.sizes} as exported` : "");
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
    inputs.length ? [make("h3", {}, `Takes${atExample()}`), rows(inputs, valueRow)] : "",
    outputs.length ? [make("h3", {}, `Gives${atExample()}`), rows(outputs, valueRow)] : "",
  ];
};
const moduleTree = () => {
  const root = { name: "", nodes: [], children: new Map() };
  now.nodes.forEach((node, n) => {
    let at = root;
    for (const part of now.groups.modules(n)) {
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
    const ns = timeOf(module.nodes);
    const much = ns === null ? String(module.nodes.length) : timeText(ns);
    const heat = colouring === "Time" && ns !== null ? `${Math.round(100 * heatOf(ns))}%` : undefined;
    const line = () => [make("span", { class: `what${heat ? " hot" : ""}`, "--h": heat, title: module.name }, module.name), share(module.nodes), make("span", { class: "much", title: count(module.nodes.length, "node") }, much), make("button", { type: "button", click: (event) => (event.preventDefault(), mark(module)) }, "Mark")];
    if (module.children.size === 0) return make("div", { class: "row leaf" }, line());
    const details = make("details", { toggle: () => details.open && fill() }, make("summary", { class: "row" }, line()));
    const fill = () => details.childElementCount === 1 && details.append(rows([...module.children.values()], draw));
    if (module === only) {
      only = only.children.size === 1 ? [...only.children.values()][0] : null;
      details.open = true;
      fill();
    }
    return details;
  };
  let only = root.children.size === 1 ? [...root.children.values()][0] : null; // a module without siblings is open
  if (root.children.size === 0) return [make("p", { class: "quiet" }, "The program does not say which modules its nodes come from.")];
  return [make("div", { class: "tree" }, rows([...root.children.values()], draw))];
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
const details = () => (selected?.node !== undefined ? nodeDetails(selected.node) : selected?.group ? groupDetails(selected.group) : selected?.box !== undefined ? boxDetails(selected.box) : [make("p", { class: "quiet" }, "Choose a partition or a group to open it, or a node.")]);
const gaps = () => {
  const { rtol, atol, reference } = report.gaps;
  return [
    make("p", { class: "quiet" }, `Outputs of each partition beside those of ${reference}; tolerance: rtol ${rtol}, atol ${atol}.`),
    rows([...now.marks.gaps.values()], (row) => {
      const p = now.partitions.findIndex((partition) => partition.tag === row.tag);
      return make("button", { type: "button", class: "row gap", click: () => p >= 0 && reveal({ box: now.boxOf.get(p) }) }, swatch(row.diverges ? "var(--heat)" : "var(--b2)"),
        make("span", { class: "what" }, row.tag, make("small", {}, `${row.backend}${row.worst ? `, largest at ${row.worst}` : ""}`)), make("span", { class: "much" }, `abs ${gapText(row.absolute)}, rel ${gapText(row.relative)}`));
    }),
  ];
};
const gapText = (value) => (value === null ? "unbounded" : value === 0 ? "0" : value.toPrecision(3));
const changes = () => {
  const all = now.marks.all;
  return [
    make("p", { class: "quiet" }, `${report.diff.from} to ${report.title}: ${all.length === 0 ? "no node differs." : ""}`),
    ...["removed", ...Object.keys(CHANGES)].flatMap((kind) => {
      const own = all.filter((row) => row.change === kind);
      return own.length === 0 ? [] : [make("h3", {}, swatch(CHANGES[kind] ?? ""), ` ${count(own.length, "node")} ${kind}`), rows(own, (row) => {
        const n = now.nodeNamed.get(row.node);
        return make("button", { type: "button", class: "row change", click: () => n !== undefined && reveal({ node: n }) }, make("span", { class: "what" }, `${row.node} `, make("span", { class: "quiet" }, operatorOf(row.target)), make("small", {}, row.text)));
      })];
    }),
  ];
};
const tabs = { Details: [details, () => true], Partitions: [partitions, () => true], Modules: [moduleTree, () => true], "Not taken": [refused, () => now.refusals.length > 0], Constants: [constants, () => now.constants.length > 0], Costs: [costs, () => now.candidates.length > 0], Gaps: [gaps, () => now.marks.gaps.size > 0], Changes: [changes, () => report.diff !== undefined] };
const drawSide = (content) => {
  by("tabs").replaceChildren(...Object.entries(tabs).filter(([, [, there]]) => there()).map(([name]) => make("button", { type: "button", role: "tab", "aria-selected": String(name === tab), click: () => ((tab = name), drawSide()) }, name)));
  by("panel").replaceChildren(...(content ?? tabs[tab][0]()).flat(2).filter((part) => part !== ""));
  by("panel").scrollTop = 0;
};
