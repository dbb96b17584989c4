// SPDX-License-Identifier: MIT
// Layout of boxes and edges: dagre computes columns and ranks; this file routes edges through the gaps between boxes.
"use strict";

/** Places boxes ({width, height}) and edges ({from, to: numbers of boxes, label: {width, height} or null}) from top to bottom.
 *  Returns {width, height, boxes: [{x, y}], edges: [{points, path, label: {x, y}}]}: upper left corners of boxes, centres of labels.
 *  Edges leave boxes at the bottom, enter them at the top, and cross no other box. */
function layOut(boxes, edges) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, edgesep: 18, ranksep: 44, marginx: 10, marginy: 10, ranker: boxes.length > 120 ? "tight-tree" : "network-simplex" });
  boxes.forEach((box, i) => graph.setNode(String(i), { width: box.width, height: box.height }));
  for (const edge of edges)
    graph.setEdge(String(edge.from), String(edge.to), { width: edge.label?.width ?? 0, height: edge.label?.height ?? 0, labelpos: "c" });
  if (boxes.length > 0) dagre.layout(graph);
  const at = boxes.map((_, i) => graph.node(String(i)));
  const placed = edges.map((edge) => graph.edge(String(edge.from), String(edge.to)));

  // a rank is a band from its highest top to its lowest bottom; edges cross it vertically
  const bands = new Map();
  const widen = (y, height) => {
    const key = Math.round(y);
    const band = bands.get(key) ?? { top: y, bottom: y };
    bands.set(key, { top: Math.min(band.top, y - height / 2), bottom: Math.max(band.bottom, y + height / 2) });
  };
  at.forEach((node) => widen(node.y, node.height));
  edges.forEach((edge, i) => edge.label && widen(placed[i].y, placed[i].height));
  const bandAt = (y) => bands.get(Math.round(y)) ?? { top: y, bottom: y };

  // edges of a box start and end side by side, sorted by their next points
  const ports = (end, next) => {
    const of = boxes.map(() => []);
    edges.forEach((edge, i) => of[edge[end]].push(i));
    const x = [];
    of.forEach((list, b) => {
      list.sort((a, c) => next(a) - next(c));
      list.forEach((i, k) => (x[i] = at[b].x + at[b].width * ((k + 1) / (list.length + 1) - 0.5)));
    });
    return x;
  };
  const middle = placed.map((edge) => edge.points.slice(1, -1));
  const out = ports("from", (i) => middle[i][0]?.x ?? at[edges[i].to].x);
  const into = ports("to", (i) => middle[i].at(-1)?.x ?? at[edges[i].from].x);

  const routes = edges.map((edge, i) => {
    const from = at[edge.from], to = at[edge.to];
    const stops = [{ x: out[i], top: from.y + from.height / 2, bottom: bandAt(from.y).bottom }];
    for (const point of middle[i]) stops.push({ x: point.x, ...bandAt(point.y) });
    stops.push({ x: into[i], top: bandAt(to.y).top, bottom: to.y - to.height / 2 });
    let path = "";
    stops.forEach((stop, k) => {
      if (k === 0) path = `M${stop.x} ${stop.top}`;
      else {
        const before = stops[k - 1], half = (before.bottom + stop.top) / 2;
        path += before.x === stop.x ? `V${stop.top}` : `C${before.x} ${half} ${stop.x} ${half} ${stop.x} ${stop.top}`;
      }
      if (stop.bottom !== stop.top) path += `V${stop.bottom}`;
    });
    return { path, label: edge.label ? { x: placed[i].x, y: placed[i].y } : null };
  });
  const size = boxes.length > 0 ? graph.graph() : { width: 20, height: 20 };
  return { width: size.width, height: size.height, boxes: at.map((node) => ({ x: node.x - node.width / 2, y: node.y - node.height / 2 })), edges: routes };
}
