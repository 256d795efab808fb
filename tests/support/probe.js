// What axe's rules do not measure: widths, what is cut on paper, drawings, names, links and folds.

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

function texts() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const drawn = visible(element) && !element.closest("title, desc, style");
    if (walker.currentNode.data.trim() && drawn) found.push(element);
  }
  return [...new Set(found)];
}

// Axe reads no colours of drawings.
function faintTexts() {
  return texts().filter((element) => element.closest("svg")).flatMap((element) => {
    const style = getComputedStyle(element);
    const behind = ground(element);
    const ratio = contrast(over(rgba(style.fill), behind), behind);
    return ratio >= 4.5 ? [] : [`${ratio.toFixed(2)} ${element.textContent} ${style.fill}`];
  });
}

function faintMarks() {
  const grid = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = grid;
  const quiet = new Set([...QUIET, getComputedStyle(probe).color]);
  probe.remove();
  const marks = document.querySelectorAll("svg.plot path, svg.plot use, svg.sign *");
  return [...marks].flatMap((mark) => {
    if (mark.closest("defs, clipPath")) return [];
    const style = getComputedStyle(mark);
    const drawn = [style.fill, style.stroke].filter((colour) => !quiet.has(colour));
    const solid = Number(style.opacity) === 1 && Number(style.fillOpacity) === 1;
    const behind = ground(mark.ownerSVGElement.parentElement);
    const best = Math.max(...drawn.map((colour) => contrast(rgba(colour), behind)));
    return solid && drawn.length && best < 3 ? [`${best.toFixed(2)} ${drawn.join(" ")}`] : [];
  });
}

function rolls(element) {
  const style = getComputedStyle(element);
  const ways = ["auto", "scroll"];
  return ways.includes(style.overflowX) || ways.includes(style.overflowY);
}

function describe(element) {
  return `${element.tagName} ${element.className.baseVal ?? element.className}`;
}

function beyond() {
  const right = document.documentElement.clientWidth + 1;
  return [...document.body.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || (box.right <= right && box.left >= -1)) return false;
    // Hidden from the eye, or written by the browser's own fields.
    if (element.closest(".skip, .hidden, .columns thead, select")) return false;
    for (let outer = element; outer; outer = outer.parentElement) {
      if (rolls(outer)) return false;
    }
    return true;
  }).map(describe);
}

function cut(height) {
  return [...document.body.querySelectorAll("*")].filter(
    (element) =>
      getComputedStyle(element).breakInside === "avoid" &&
      element.getBoundingClientRect().height > height,
  ).map(describe);
}

function stuck(summary) {
  const before = summary.parentElement.open;
  const reached = summary.tabIndex === 0 && summary.computedName;
  summary.click(); // what the keys Enter and Space do, too
  const moved = summary.parentElement.open !== before;
  summary.parentElement.open = before;
  return !reached || !moved;
}

function measure(height) {
  const all = (selector) => [...document.querySelectorAll(selector)];
  return {
    width: innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    texts: texts().length,
    height: document.documentElement.scrollHeight,
    folds: all("details").length,
    decided: document.querySelector(".decisions")?.getBoundingClientRect().bottom,
    stuck: all("summary").filter(stuck).map((summary) => summary.textContent.trim()),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    beyond: beyond(),
    cut: cut(height),
    faint: [...faintTexts(), ...faintMarks()],
    drawings: all("svg:not([aria-hidden])").map(
      (svg) => `${svg.computedRole}: ${svg.computedName}`,
    ),
    unnamed: all("table, nav, [role=region], main section")
      .filter((element) => !element.computedName)
      .map(describe),
    // Axe lets them pass, since this browser would give them the focus; others do not.
    unreachable: all("body *")
      .filter((element) => rolls(element) && element.tabIndex < 0)
      .map(describe),
    adrift: all("a[href^='#']")
      .filter((link) => !document.getElementById(link.hash.slice(1)))
      .map((link) => link.hash),
  };
}
