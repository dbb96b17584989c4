// SPDX-License-Identifier: MIT
// Layout of boxes and edges: dagre computes columns and ranks; this file wraps long graphs and routes edges between boxes.
const LANE = 5, LANES = 6; // edges that change the column run side by side
const GUTTER = 34; // between columns: the lanes, and room at both sides

/** Places boxes ({width, height}) and edges ({from, to: numbers of boxes, label: {width, height} or null}) from top to bottom, and
 *  continues at the top of another column where that lets the graph be larger in `room` ({width, height} or undefined).
 *  Returns {width, height, boxes: [{x, y}], edges: [{path, label: {x, y}}]}: upper left corners of boxes, centres of labels.
 *  Edges leave boxes at the bottom, enter them at the top, and cross no other box. */
function layOut(boxes, edges, room) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, edgesep: 18, ranksep: 30, marginx: 10, marginy: 10, ranker: boxes.length > 120 ? "tight-tree" : "network-simplex" });
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
  const stopsOf = (i) => {
    const from = at[edges[i].from], to = at[edges[i].to];
    return [{ x: out[i], y: from.y, top: from.y + from.height / 2, bottom: bandAt(from.y).bottom },
      ...middle[i].map((point) => ({ x: point.x, y: point.y, ...bandAt(point.y) })),
      { x: into[i], y: to.y, top: bandAt(to.y).top, bottom: to.y - to.height / 2 }];
  };
  const size = boxes.length > 0 ? graph.graph() : { width: 20, height: 20 };
  const columns = columnsOf(at, edges, placed, middle, size, room);
  const columnOf = (y) => {
    let c = columns.length - 1;
    while (c > 0 && y < columns[c].first - 0.5) --c;
    return c;
  };
  const moved = ({ x, y }) => ({ x: x + columns[columnOf(y)].dx, y: y + columns[columnOf(y)].dy });

  const lanes = columns.map(() => 0);
  const routes = edges.map((edge, i) => {
    const all = stopsOf(i), begin = columnOf(all[0].y), end = columnOf(all.at(-1).y);
    const stops = all.filter((stop) => [begin, end].includes(columnOf(stop.y)));
    let path = "";
    stops.forEach((stop, k) => {
      const c = columnOf(stop.y), { dx, dy } = columns[c];
      const x = stop.x + dx, top = stop.top + dy;
      if (k === 0) path = `M${x} ${top}`;
      else if (columnOf(stops[k - 1].y) !== c) { // below its column, up the gutter, above the next one
        const before = columns[columnOf(stops[k - 1].y)], lane = LANE * (lanes[columnOf(stops[k - 1].y)]++ % LANES);
        path += `V${before.bottom + 10 + lane}H${before.right + GUTTER - 8 - lane}V${columns[c].top - 10 - lane}H${x}V${top}`;
      } else {
        const before = stops[k - 1], half = (before.bottom + stop.top) / 2 + dy;
        path += before.x === stop.x ? `V${top}` : `C${before.x + dx} ${half} ${x} ${half} ${x} ${top}`;
      }
      if (stop.bottom !== stop.top) path += `V${stop.bottom + dy}`;
    });
    const label = edge.label && [begin, end].includes(columnOf(placed[i].y)) ? moved(placed[i]) : null;
    return { path, label };
  });
  const whole = columns.length === 1 ? size : { width: columns.at(-1).right + 10, height: Math.max(...columns.map((c) => c.bottom)) + columns[0].below };
  return { width: whole.width, height: whole.height, edges: routes,
    boxes: at.map((node) => ({ x: moved(node).x - node.width / 2, y: moved(node).y - node.height / 2 })) };
}

/** Cuts a graph between ranks into the number of columns that makes it largest in the room. Returns of each column its first y before,
 *  its edges after, and how far it moves. */
function columnsOf(at, edges, placed, middle, size, room) {
  const one = [{ first: -Infinity, dx: 0, dy: 0, top: 0, bottom: size.height, right: size.width }];
  const tops = [...new Set(at.map((node) => Math.round(node.y)))].sort((a, b) => a - b);
  if (!room || size.height <= room.height || tops.length < 2) return one;
  const labels = placed.filter((edge) => edge.width > 0);
  const everything = [...at, ...labels, ...middle.flat().map((point) => ({ ...point, width: 0, height: 0 }))];
  const cut = (count) => {
    const starts = [-Infinity];
    for (const y of tops.slice(1)) {
      const rank = at.filter((node) => Math.round(node.y) === y);
      const top = Math.min(...rank.map((node) => node.y - node.height / 2));
      if (top >= (size.height * starts.length) / count && starts.length < count) starts.push(top);
    }
    let left = 10;
    const column = (b) => starts.findLastIndex((first) => at[b].y >= first - 0.5);
    const leaving = starts.map(() => 0); // edges to other columns
    for (const edge of edges) if (column(edge.from) !== column(edge.to)) ++leaving[column(edge.from)];
    const lanes = LANE * Math.min(LANES, Math.max(...leaving)), margin = 16 + lanes;
    return starts.map((first, c) => {
      const own = everything.filter((part) => part.y >= first - 0.5 && part.y < (starts[c + 1] ?? Infinity) - 0.5);
      const [x0, x1] = [Math.min(...own.map((part) => part.x - part.width / 2)), Math.max(...own.map((part) => part.x + part.width / 2))];
      const [y0, y1] = [Math.min(...own.map((part) => part.y - part.height / 2)), Math.max(...own.map((part) => part.y + part.height / 2))];
      const made = { first, dx: left - x0, dy: margin - y0, top: margin, bottom: margin + y1 - y0, right: left + x1 - x0, below: 14 + lanes };
      left = made.right + GUTTER;
      return made;
    });
  };
  const scaleOf = (width, height) => Math.min(1, room.width / width, room.height / height);
  let best = one, scale = scaleOf(size.width, size.height);
  for (let count = 2; count <= Math.min(12, tops.length); ++count) {
    const columns = cut(count);
    const next = scaleOf(columns.at(-1).right + 10, Math.max(...columns.map((c) => c.bottom)) + columns[0].below);
    if (next > scale * 1.05) [best, scale] = [columns, next];
  }
  return best;
}
