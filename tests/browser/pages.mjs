// Every page, at every width, in both themes: nothing sticks out, nothing jumps, nothing is heavy, nothing is in the way
// of anybody.

import { axe, expect, go, open, overflow, scenario, task, themes, widths } from "./kit.mjs";

/**
 * How far a page may shift. A tenth of what counts as good: the columns of a long table may move by a pixel while the
 * rest of it still arrives, on a machine that is busy enough to draw it in between.
 */
const MOST_SHIFT = 0.01;
/** What a page may weigh on the way, with everything it loads. */
const HEAVIEST = 100 * 1024;

/** Elements whose own text is smaller than 11 px. */
function tooSmall() {
  const says = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const all = [...document.querySelectorAll("body *")].filter((element) => says(element) && element.checkVisibility());
  return all.filter((element) => parseFloat(getComputedStyle(element).fontSize) < 11).map((element) => element.nodeName).slice(0, 3);
}

await scenario(async (browser) => {
  for (const theme of themes) {
    const page = await open(browser, { theme });
    for (const path of task.pages) {
      for (const width of [1280, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await go(page, path);
        const where = `${path} at ${width} px, ${theme}`;
        const shifts = await page.evaluate(() => window.shifts);
        const shift = shifts.reduce((sum, one) => sum + one.by, 0);
        expect(shift < MOST_SHIFT, `${where} shifts by ${shift}: ${JSON.stringify(shifts)}`);
        const small = await page.evaluate(tooSmall);
        expect(small.length === 0, `${where} has text too small to read: ${small}`);
        // Colours are the same at every width, and what is where is the same in every theme.
        if (width === 1280 || theme === "light") {
          for (const violation of await axe(page)) expect(false, `${where}: ${violation}`);
        }
      }
      for (const width of theme === "light" ? widths : []) {
        await page.setViewportSize({ width, height: 900 });
        const out = await overflow(page);
        expect(out === null, `${path} scrolls sideways at ${width} px: ${out}`);
      }
    }
    expect(page.noise.length === 0, `the console says, ${theme}: ${page.noise.slice(0, 5).join(" | ")}`);
    expect(page.strangers.length === 0, `other hosts are asked: ${page.strangers.slice(0, 3)}`);
    await page.context().close();
  }
  for (const path of task.pages) {
    // A context of its own: nothing is in its cache.
    const page = await open(browser);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    let bytes = 0;
    session.on("Network.loadingFinished", (event) => { bytes += event.encodedDataLength; });
    await go(page, path);
    await page.evaluate(() => new Promise(requestIdleCallback));
    expect(bytes > 0 && bytes <= HEAVIEST, `${path} weighs ${bytes} bytes`);
    await page.context().close();
  }
});
