// What a browser makes of the pages in the frames of this document, written into its body as JSON.

// Of an SVG's parts that carry meaning, these draw no more than a frame or a ground.
const QUIET = new Set(["none", "transparent", "rgba(0, 0, 0, 0)"]);

function rgba(colour) {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  if (colour.startsWith("color(srgb")) {
    numbers.splice(0, 3, ...numbers.slice(0, 3).map((part) => 255 * part));
  }
  return numbers.length > 3 ? numbers : [...numbers, 1];
}

function over(top, ground) {
  return [0, 1, 2].map((i) => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
}

function luminance(colour) {
  const [r, g, b] = colour.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(first, other) {
  const [dark, light] = [luminance(first), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function ground(element) {
  if (!element) return [255, 255, 255, 1];
  const style = element.ownerDocument.defaultView.getComputedStyle(element);
  const own = rgba(style.backgroundColor);
  return own[3] === 1 ? own : over(own, ground(element.parentElement));
}

function visible(element) {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility === "visible";
}

function texts(page) {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const drawn = visible(element) && !element.closest("title, desc, style");
    if (walker.currentNode.data.trim() && drawn) found.push(element);
  }
  return [...new Set(found)];
}

function faintTexts(page, view) {
  return texts(page).flatMap((element) => {
    const style = view.getComputedStyle(element);
    const behind = ground(element);
    const colour = over(rgba(element.closest("svg") ? style.fill : style.color), behind);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(colour, behind);
    if (ratio >= (large ? 3 : 4.5)) return [];
    return [`${ratio.toFixed(2)} ${element.tagName} ${element.className} ${style.color}`];
  });
}

function faintMarks(page, view) {
  const grid = view.getComputedStyle(page.documentElement).getPropertyValue("--line").trim();
  const probe = page.body.appendChild(page.createElement("i"));
  probe.style.color = grid;
  const quiet = new Set([...QUIET, view.getComputedStyle(probe).color]);
  probe.remove();
  return [...page.querySelectorAll("svg.plot path, svg.plot use, svg.sign *")].flatMap((mark) => {
    if (mark.closest("defs, clipPath")) return [];
    const style = view.getComputedStyle(mark);
    const drawn = [style.fill, style.stroke].filter((colour) => !quiet.has(colour));
    const solid = Number(style.opacity) === 1 && Number(style.fillOpacity) === 1;
    const behind = ground(mark.ownerSVGElement.parentElement);
    const best = Math.max(...drawn.map((colour) => contrast(rgba(colour), behind)));
    return solid && drawn.length && best < 3 ? [`${best.toFixed(2)} ${drawn.join(" ")}`] : [];
  });
}

function rolls(element, view) {
  const style = view.getComputedStyle(element);
  const ways = ["auto", "scroll"];
  return ways.includes(style.overflowX) || ways.includes(style.overflowY);
}

function beyond(page, view) {
  const right = page.documentElement.clientWidth + 1;
  return [...page.body.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || (box.right <= right && box.left >= -1)) return false;
    for (let outer = element; outer; outer = outer.parentElement) {
      if (rolls(outer, view)) return false;
    }
    return true;
  }).map((element) => `${element.tagName} ${element.className.baseVal ?? element.className}`);
}

function cut(page, view, height) {
  return [...page.body.querySelectorAll("*")].filter(
    (element) =>
      view.getComputedStyle(element).breakInside === "avoid" &&
      element.getBoundingClientRect().height > height,
  ).map((element) => `${element.tagName} ${element.className.baseVal ?? element.className}`);
}

function stuck(summary) {
  const before = summary.parentElement.open;
  const reached = summary.tabIndex === 0 && summary.computedName;
  summary.click(); // what the keys Enter and Space do, too
  const moved = summary.parentElement.open !== before;
  summary.parentElement.open = before;
  return !reached || !moved;
}

function judged(frame) {
  const page = frame.contentDocument;
  const view = frame.contentWindow;
  const all = (selector) => [...page.querySelectorAll(selector)];
  const folds = all("details");
  for (const fold of folds) fold.open = "open" in frame.dataset;
  const rolling = all("body *").filter((element) => rolls(element, view));
  return {
    width: view.innerWidth,
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    lang: page.documentElement.lang,
    texts: texts(page).length,
    height: page.documentElement.scrollHeight,
    folds: folds.length,
    decided: page.querySelector(".decisions")?.getBoundingClientRect().bottom,
    stuck: all("summary").filter(stuck).map((summary) => summary.textContent.trim()),
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    beyond: beyond(page, view),
    cut: cut(page, view, Number(frame.dataset.height)),
    faint: [...faintTexts(page, view), ...faintMarks(page, view)],
    headings: all("h1, h2, h3, h4, h5, h6")
      .filter(visible)
      .map((heading) => Number(heading.tagName[1])),
    landmarks: all("header, nav, main, footer").map((element) => element.computedRole),
    drawings: all("svg:not([aria-hidden])").map(
      (svg) => `${svg.computedRole}: ${svg.computedName}`,
    ),
    unnamed: all("table, nav, [role=region], main section")
      .filter((element) => !element.computedName)
      .map((element) => element.className),
    unreachable: rolling
      .filter((element) => element.tabIndex < 0)
      .map((element) => element.className),
    adrift: all("a")
      .filter((link) => !page.getElementById(link.hash.slice(1)))
      .map((link) => link.hash),
  };
}

addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  const found = Object.fromEntries(frames.map((frame) => [frame.name, judged(frame)]));
  document.body.textContent = JSON.stringify(found);
});
