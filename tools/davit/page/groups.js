// SPDX-License-Identifier: MIT
// Nodes grouped by the modules that they come from, and what has no modules, by place in the order.
const MOST_ITEMS = 40; // of a group; more are gathered in parts
const MOST_UNFOLDED = 32; // boxes that groups are unfolded to at first
const FEW_NODES = 60; // of a method: no group is folded at first

/** "layer1.0(BasicBlock)" as {path, type}. */
const moduleParts = (text) => {
  const open = text.lastIndexOf("(");
  return open < 0 ? { path: text, type: "" } : { path: text.slice(0, open), type: text.slice(open + 1, -1) };
};

/** Groups of consecutive nodes, for partitions: a call of a module is one group, so that groups have no cycles.
 *  An item is {node} or a group {key, name, type, nodes, depth, outer}; items(group) are computed on request. */
class Groups {
  /** `modules(n)`: the modules of a node, outermost first. */
  constructor(modules, nameOf) {
    this.modules = modules;
    this.nameOf = nameOf;
    this.setLeast(2);
  }

  /** Makes groups of at least so many nodes; smaller modules are nodes of the group around them. */
  setLeast(least) {
    this.least = least;
    this.items_ = new Map();
  }

  /** The group of all nodes of a partition, which is not drawn itself. */
  root(partition, nodes) {
    return { key: `g${partition}`, name: "", type: "", nodes, depth: 0, outer: "" };
  }

  items(group) {
    if (!this.items_.has(group.key)) this.items_.set(group.key, this.split(group));
    return this.items_.get(group.key);
  }

  split(group) {
    if (group.parts) return group.parts;
    let { depth, outer } = group, runs = [];
    for (;;) {
      runs = [];
      for (const n of group.nodes) {
        const name = this.modules(n)[depth];
        if (name !== undefined && runs.at(-1)?.name === name) runs.at(-1).nodes.push(n);
        else runs.push({ name, nodes: [n] });
      }
      if (runs.length !== 1 || runs[0].name === undefined) break; // a group within a group adds nothing
      outer = moduleParts(runs[0].name).path;
      ++depth;
    }
    const items = runs.flatMap((run, i) => {
      if (run.nodes.length < this.least || run.name === undefined) return run.nodes.map((node) => ({ node }));
      const { path, type } = moduleParts(run.name);
      const inner = outer && path.startsWith(`${outer}.`) ? path.slice(outer.length + 1) : path;
      return { key: `${group.key}_${i}`, name: inner, path, type, nodes: run.nodes, depth: depth + 1, outer: path };
    });
    return items.length <= MOST_ITEMS ? items : this.gather(items, group.key);
  }

  /** Gathers consecutive items in parts of equal length. */
  gather(items, key) {
    const each = Math.ceil(items.length / Math.min(MOST_ITEMS, Math.ceil(Math.sqrt(items.length))));
    const parts = [];
    for (let first = 0; first < items.length; first += each) {
      const own = items.slice(first, first + each);
      if (own.length === 1) {
        parts.push(own[0]);
        continue;
      }
      const nodes = own.flatMap((item) => item.nodes ?? [item.node]);
      const part = { key: `${key}_p${parts.length}`, name: `${this.nameOf(nodes[0])} to ${this.nameOf(nodes.at(-1))}`, type: "", nodes, part: true };
      part.parts = own.length <= MOST_ITEMS ? own : this.gather(own, part.key);
      parts.push(part);
    }
    return parts;
  }

  /** The index of the item with a node; -1 if there is none. */
  static at(items, n) {
    const first = (item) => item.node ?? item.nodes[0], last = (item) => item.node ?? item.nodes.at(-1);
    let low = 0, high = items.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (first(items[mid]) <= n) low = mid;
      else high = mid - 1;
    }
    return items.length > 0 && first(items[low]) <= n && n <= last(items[low]) ? low : -1;
  }

  /** The groups around a node, outermost first. */
  around(root, n) {
    const groups = [];
    for (let items = this.items(root); ; items = this.items(groups.at(-1))) {
      const item = items[Groups.at(items, n)];
      if (item?.nodes === undefined) return groups;
      groups.push(item);
    }
  }

  /** The groups to unfold at first, level by level: of few nodes all, else while few boxes are drawn. */
  levelsAtFirst(root, few) {
    const levels = [];
    let shown = this.items(root);
    for (;;) {
      const folded = shown.filter((item) => item.nodes !== undefined && (few || !item.part));
      const next = shown.flatMap((item) => (folded.includes(item) ? this.items(item) : [item]));
      if (folded.length === 0 || (!few && next.length > MOST_UNFOLDED)) return levels;
      levels.push(folded.map((group) => group.key));
      shown = next;
    }
  }
}
