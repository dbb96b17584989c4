// SPDX-License-Identifier: MIT
// The report in #data, what it is indexed by, and the colours of its boxes.

const MOST_BOXES = 300, MOST_EDGES = 700; // limits of one drawing; a list replaces larger ones
const MOST_DRAWN = 1500; // boxes of all nested graphs together
const FEW_PARTITIONS = 4; // are open at first
const READABLE = 0.6; // least scale that is chosen for a whole graph

const timeText = (ns) => (ns === null ? (now.time > 0 ? "did not run" : "not measured") : ns < 1e3 ? `${ns} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : `${(ns / 1e6).toFixed(2)} ms`);
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
  const modulesOf = method.places.map((place) => place.modules.split(" > ").filter(Boolean));
  const groups = new Groups((n) => modulesOf[method.nodes[n].place] ?? [], (n) => method.nodes[n].name);
  const few = method.nodes.length <= FEW_NODES;
  const roots = members.map((nodes, p) => groups.root(p, nodes));
  const time = method.partitions.reduce((sum, p) => sum + (p.ns ?? 0), 0);
  return { ...method, members, users, boxOf, flowOf, refusalsOf: refusals, nodeNamed, words, groups, few, roots, time, marks: marksOf(method) };
};

let now; // the current method
let open; // ids of expanded partition boxes
let unfolded; // keys of expanded groups
let colouring; // what boxes are coloured by: a key of colourings
let selected; // {box}, {node} or {group}
let marked; // nodes of the selected module
let tab;
let scale = 1;
const colourOfNode = (n) => (now.nodes[n].partition === null ? "" : colourOf(now.partitions[now.nodes[n].partition]?.backend));
const operatorOf = (target) => target.replace(/^(torch\.ops\.)?(aten|higher_order)\./, "");

// ---- colours: of backends, time, and what a comparison found

/** How strongly a share of the time is coloured: 1 % a sixth, a quarter a half. */
const heatOf = (ns) => (Math.min(1, ns / now.time)) ** 0.4;
const nsOf = (box) => (box.node !== undefined ? now.nodes[box.node].ns : box.group ? timeOf(box.group.nodes) : now.partitions[now.graph.boxes[box.id].partition].ns);
const CHANGES = { added: "var(--b2)", moved: "var(--b1)", changed: "var(--b0)", slower: "var(--b4)", faster: "var(--b7)" };
/** Ways to colour boxes: of(box) gives the colour and how strong it is, or null; the last one that is there is chosen at first. */
const colourings = {
  Backend: { there: () => true, of: () => null },
  Time: {
    there: () => now.time > 0,
    of: (box) => (nsOf(box) === null ? null : { share: heatOf(nsOf(box)), colour: "var(--heat)" }),
  },
  Gap: {
    there: () => now.marks.gaps.size > 0,
    of: (box) => {
      const gap = gapOf(box);
      return gap && { share: gap.strength, colour: gap.diverges ? "var(--heat)" : "var(--b2)" };
    },
  },
  Changes: {
    there: () => report.diff !== undefined,
    of: (box) => {
      const nodes = nodesOf(box), changes = nodes.map((n) => now.marks.changes.get(now.nodes[n].name)).filter(Boolean);
      if (changes.length === 0) return null;
      const kinds = Object.keys(CHANGES), first = changes.reduce((a, b) => (kinds.indexOf(a.change) <= kinds.indexOf(b.change) ? a : b));
      return { share: box.node !== undefined ? 1 : 0.35 + 0.65 * (changes.length / nodes.length), colour: CHANGES[first.change] };
    },
  },
};
/** The gap of a box: of the partition that it is, or of the value that a node gives. Strength is logarithmic: 0.1 at a thousandth
 *  of the tolerance, 1 at a thousand times it. */
const gapOf = (box) => {
  const { gaps, values } = now.marks;
  const found = box.node !== undefined ? [values.get(now.nodes[box.node].name)] : box.group ? box.group.nodes.map((n) => values.get(now.nodes[n].name)) : [gaps.get(now.partitions[now.graph.boxes[box.id].partition].tag)];
  const largest = found.filter(Boolean).sort((a, b) => b.part - a.part)[0];
  return largest && { ...largest, strength: Math.min(1, Math.max(0.1, (Math.log10(Math.max(largest.part, 1e-9)) + 3) / 6)) };
};
const marksOf = (method) => {
  const own = (list) => (list ?? []).filter((row) => row.method === method.method);
  const gaps = own(report.gaps?.partitions), values = own(report.gaps?.values);
  return { gaps: new Map(gaps.map((row) => [row.tag, row])), values: new Map(values.map((row) => [row.name, row])), changes: new Map(own(report.diff?.changes).map((row) => [row.node, row])), all: own(report.diff?.changes) };
};
