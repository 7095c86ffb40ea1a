"use strict";
// Hovering, or the arrow keys, show the row of a figure's table that is nearest.
for (const figure of document.querySelectorAll("figure.chart")) {
  const rows = [...figure.querySelectorAll("tbody tr")];
  const places = rows.map((row) => Number(row.dataset.x));
  const heads = [...figure.querySelectorAll("thead th")];
  const tip = figure.querySelector(".tip");
  const pictures = [...figure.querySelectorAll("svg.wide, svg.narrow")];
  let shown = -1;
  const hide = () => {
    shown = -1;
    tip.hidden = true;
    for (const line of figure.querySelectorAll(".cursor")) line.classList.remove("on");
  };
  const show = (index, picture) => {
    if (index < 0 || index >= rows.length) return;
    shown = index;
    tip.replaceChildren();
    [...rows[index].cells].forEach((cell, column) => {
      if (!cell.textContent) return;
      const line = tip.appendChild(document.createElement("div"));
      const name = line.appendChild(document.createElement("span"));
      name.textContent = heads[column].textContent;
      name.className = heads[column].dataset.style || "";
      line.appendChild(document.createElement("b")).textContent = cell.textContent;
      if (column === 0) line.className = "head";
    });
    tip.hidden = false;
    for (const svg of pictures) {
      const width = svg.viewBox.baseVal.width;
      const [left, right] = [svg.dataset.left * width, svg.dataset.right * width];
      const x = left + places[index] * (right - left);
      const line = svg.querySelector(".cursor");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.classList.add("on");
    }
    const frame = figure.getBoundingClientRect();
    const box = picture.getBoundingClientRect();
    const share = picture.dataset.left * 1 + places[index] * (picture.dataset.right - picture.dataset.left);
    const at = box.left - frame.left + share * box.width;
    const beside = at + 14 + tip.offsetWidth > frame.width ? at - 14 - tip.offsetWidth : at + 14;
    tip.style.left = Math.max(0, Math.min(beside, frame.width - tip.offsetWidth)) + "px";
    tip.style.top = box.top - frame.top + 8 + "px";
  };
  const nearest = (svg, x) => {
    const box = svg.getBoundingClientRect();
    const share = (x - box.left) / box.width;
    const place = (share - svg.dataset.left) / (svg.dataset.right - svg.dataset.left);
    let best = 0;
    places.forEach((other, index) => {
      if (Math.abs(other - place) < Math.abs(places[best] - place)) best = index;
    });
    return best;
  };
  for (const svg of pictures) {
    for (const event of ["pointermove", "pointerdown"]) {
      svg.addEventListener(event, (e) => show(nearest(svg, e.clientX), svg));
    }
    svg.addEventListener("pointerleave", hide);
  }
  figure.addEventListener("keydown", (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (e.key === "Escape") hide();
    if (!step || e.target !== figure) return;
    e.preventDefault();
    const visible = pictures.find((svg) => svg.getBoundingClientRect().width > 0);
    show(shown < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, shown + step)), visible);
  });
  figure.addEventListener("blur", hide);
}

// The report inside this file, as it was written.
const save = document.getElementById("save");
if (save && window.DecompressionStream) {
  save.hidden = false;
  save.addEventListener("click", async () => {
    const holder = document.getElementById("openloop-report");
    let text = holder.textContent;
    if (holder.type !== "application/json") {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      text = await new Response(stream).text();
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "report.json";
    link.click();
  });
}
