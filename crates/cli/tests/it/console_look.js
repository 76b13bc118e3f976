// What a page looks like, as far as a program can say: what sticks out, and what can't be read.
(() => {
  // Of the screen: a phone zooms out (`innerWidth`) where something is wider.
  const width = document.documentElement.clientWidth;
  const seen = (node) => node.checkVisibility() && node.getClientRects().length > 0;
  const clipped = (node) => getComputedStyle(node).clipPath !== "none" || (node.parentElement && clipped(node.parentElement));
  const all = [...document.body.querySelectorAll("*")].filter((node) => seen(node) && !clipped(node));
  const name = (node) => node.tagName + "." + (node.getAttribute("class") || "") + " " + node.textContent.slice(0, 40);
  const color = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = color(getComputedStyle(at).backgroundColor);
      if (found.a > 0) return found;
    }
    return { r: 255, g: 255, b: 255 };
  };
  const ink = (node) => color(node instanceof SVGElement ? getComputedStyle(node).fill : getComputedStyle(node).color);
  const contrast = (node) => {
    const [one, other] = [light(ink(node)), light(ground(node))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  };
  const says = (node) => [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const texts = all.filter(says);
  const out = (node) => {
    const { left, right } = node.getBoundingClientRect();
    return left < -1 || right > width + 1;
  };
  return {
    width,
    scrolls: document.scrollingElement.scrollWidth,
    ground: light(ground(document.body)),
    texts: texts.length,
    smallest: Math.min(...texts.map((node) => parseFloat(getComputedStyle(node).fontSize))),
    sticks_out: all.filter(out).map(name),
    unreadable: texts.filter((node) => contrast(node) < 4.5).map((node) => name(node) + ": " + contrast(node).toFixed(2)),
  };
})()
