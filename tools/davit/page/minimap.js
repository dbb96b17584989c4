// SPDX-License-Identifier: MIT
// A small picture of the whole drawing, with the part that is seen. A click or a drag moves that part.
/** Draws `layout` ({width, height, boxes: [{x, y, width, height, inner}]}) in `map`, for `pane`, which scrolls it.
 *  Returns a function that shows the seen part at a scale; the map hides where the whole is seen. */
function drawMinimap(map, pane, layout, classOf) {
  const most = { width: 200, height: 150 }, least = 1.02;
  const scale = Math.min(most.width / layout.width, most.height / layout.height);
  const boxes = [];
  const add = (parts, x, y) => {
    for (const box of parts.boxes) {
      boxes.push(make("rect", { class: classOf(box), x: (x + box.x) * scale, y: (y + box.y) * scale, width: box.width * scale, height: box.height * scale }));
      for (const inner of box.inner ?? []) add(inner, x + box.x + inner.x, y + box.y + inner.y);
    }
  };
  add(layout, 0, 0);
  const seen = make("rect", { class: "seen" });
  map.replaceChildren(make("svg", { width: layout.width * scale, height: layout.height * scale, role: "img", "aria-label": "the whole graph, and the part that is seen" }, boxes, seen));
  let zoomed = 1;
  const show = (to) => {
    zoomed = to;
    const whole = pane.scrollWidth <= pane.clientWidth * least && pane.scrollHeight <= pane.clientHeight * least;
    map.hidden = whole;
    if (whole) return;
    const left = Math.max(0, (pane.scrollWidth - layout.width * zoomed) / 2); // of a drawing in the middle
    const unit = scale / zoomed;
    for (const [name, value] of [["x", (pane.scrollLeft - left) * unit], ["y", pane.scrollTop * unit], ["width", pane.clientWidth * unit], ["height", pane.clientHeight * unit]])
      seen.setAttribute(name, value);
  };
  const move = (event) => {
    const at = map.firstChild.getBoundingClientRect();
    pane.scrollLeft = ((event.clientX - at.left) / scale) * zoomed - pane.clientWidth / 2;
    pane.scrollTop = ((event.clientY - at.top) / scale) * zoomed - pane.clientHeight / 2;
  };
  map.onpointerdown = (down) => {
    if (down.button !== 0) return;
    down.preventDefault();
    map.setPointerCapture(down.pointerId);
    move(down);
  };
  map.onpointermove = (event) => event.buttons === 1 && move(event);
  return show;
}
