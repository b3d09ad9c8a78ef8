// What every scenario needs: the browser, a page that watches itself, and a way to say what is wrong.
//
// A scenario is started by the tests of `mod.rs` with the address of a server and what it is to look at; it prints a
// line for each thing that is wrong and ends with status 1 if there is any. It never waits for a time to pass, only for
// something to be there.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

/** The address of the server. */
export const server = process.env.FORMWORK_URL;
/** What the test says to look at. */
export const task = JSON.parse(process.env.TASK ?? "{}");
export const widths = [320, 768, 1280, 1920];
export const themes = ["light", "dark"];

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const wrong = [];
let held = 0;

/** Says that something is wrong, unless it holds. */
export function expect(holds, what) {
  if (holds) held += 1;
  else { wrong.push(what); console.log(`WRONG: ${what}`); }
  return holds;
}

/** Says that two values differ, if they do. */
export function same(found, wanted, what) {
  return expect(JSON.stringify(found) === JSON.stringify(wanted), `${what}: ${JSON.stringify(found)} where ${JSON.stringify(wanted)} was expected`);
}

/** A page in a context of its own, which remembers everything that should not happen. */
export async function open(browser, { width = 1280, theme = "light", js = true, ...rest } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    javaScriptEnabled: js,
    reducedMotion: "reduce",
    ...rest,
  });
  await context.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (!entry.hadRecentInput) window.shifts.push({ by: entry.value, of: entry.sources.map((source) => source.node?.nodeName) });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  const page = await context.newPage();
  page.noise = [];
  page.strangers = [];
  page.on("console", (message) => {
    // That a page is not there is what such a page is about.
    const itself = message.text().startsWith("Failed to load resource") && message.location().url === page.url();
    if (["error", "warning"].includes(message.type()) && !itself) page.noise.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => page.noise.push(String(error)));
  page.on("dialog", (dialog) => { page.noise.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(`${server}/`)) page.strangers.push(request.url()); });
  return page;
}

/** Goes to a path of the server and returns the answer. */
export function go(page, path) {
  return page.goto(server + path, { waitUntil: "load" });
}

/** What axe finds wrong, a line each. */
export async function axe(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => axe.run(document, {
    resultTypes: ["violations"],
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  }));
  return violations.map((rule) => `${rule.id}: ${rule.help}: ${rule.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`);
}

/** How far the page is wider than the window, and what makes it so. */
export function overflow(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    if (wide <= 0) return null;
    const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const out = [...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(element.parentElement));
    return `${wide} px by ${out.slice(0, 3).map((element) => `${element.nodeName.toLowerCase()}.${element.className?.baseVal ?? element.className}`).join(", ")}`;
  });
}

/** Runs a scenario in a browser and ends the process. */
export async function scenario(run) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Everything a test serves is ours, and where tests run as root Chromium's own sandbox cannot be made.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
  try {
    await run(browser);
  } catch (error) {
    expect(false, error.stack);
  } finally {
    await browser.close();
  }
  console.log(`${held} held, ${wrong.length} wrong`);
  process.exit(wrong.length === 0 && held > 0 ? 0 : 1);
}
