// What the script adds, as fingers do it.

import { axe, expect, go, open, same, scenario, server, task } from "./kit.mjs";

await scenario(async (browser) => {
  const page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  const path = () => decodeURIComponent(new URL(page.url()).pathname);

  // Search as you type: `/` goes to the field, arrows choose, Enter goes there.
  await go(page, "/status");
  await page.keyboard.press("/");
  same(await page.evaluate(() => document.activeElement.name), "q", "after `/` the field has the focus");
  await page.keyboard.type("redi");
  await page.waitForSelector("#found:not([hidden]) [role=option]");
  const first = await page.textContent("#found [role=option] b");
  same(first, "redis", "the first of the list");
  for (const violation of await axe(page)) expect(false, `with the list open: ${violation}`);
  await page.keyboard.press("ArrowDown");
  same(await page.getAttribute("input[name=q]", "aria-activedescendant"), "found-0", "the one that is chosen is said");
  await page.keyboard.press("Escape");
  expect(await page.isHidden("#found"), "Escape closes the list");
  await page.keyboard.type("s");
  await page.waitForSelector("#found:not([hidden]) [role=option]");
  await page.keyboard.press("ArrowDown");
  await Promise.all([page.waitForURL(/redis/), page.keyboard.press("Enter")]);
  expect(path().endsWith("/redis"), `Enter leads to ${path()}`);

  // On the search page the results follow, and so does the address.
  await go(page, "/search?q=nginx");
  await page.fill("input[name=q]", "cron");
  await page.waitForFunction(() => document.querySelector(".hit-item .name")?.textContent === "cron");
  same(new URL(page.url()).searchParams.get("q"), "cron", "the address");
  expect((await page.title()).startsWith("cron"), `the title is ${await page.title()}`);
  same(await page.evaluate(() => document.activeElement.name), "q", "who types keeps the field");

  // j and k walk through what is listed.
  await go(page, "/search");
  await page.keyboard.press("j");
  const name = () => page.evaluate(() => document.activeElement.textContent);
  const names = await page.$$eval(".hit-item .name", (all) => all.map((one) => one.textContent));
  same(await name(), names[0], "after j");
  await page.keyboard.press("j");
  same(await name(), names[1], "after j again");
  await page.keyboard.press("k");
  same(await name(), names[0], "after k");

  // y gives the permanent address, with the lines.
  await go(page, `${task.template}/-/files/${task.file}#L2-L4`);
  same(await page.$$eval(".l.in", (lines) => lines.map((line) => line.id)), ["L2", "L3", "L4"], "lines of the address");
  await Promise.all([page.waitForURL(/sha256/), page.keyboard.press("y")]);
  expect(page.url().endsWith("#L2-L4") && page.url().includes("@sha256:"), `y leads to ${page.url()}`);
  same(await page.$$eval(".l.in", (lines) => lines.length), 3, "lines of the permanent address");
  await page.click("#L6 a");
  await page.click("#L9 a", { modifiers: ["Shift"] });
  same(new URL(page.url()).hash, "#L6-L9", "two numbers with Shift");
  same(await page.$$eval(".l.in", (lines) => lines.length), 4, "lines between them");

  // Copying copies what is chosen, and says so.
  await go(page, task.template);
  const copied = async (label) => {
    await page.click(`button[aria-label="${label}"]:visible`);
    await page.waitForFunction(() => document.getElementById("say").textContent === "Copied");
    return page.evaluate(() => navigator.clipboard.readText());
  };
  expect(/^[^\s@]+\/redis:v2\.0$/.test(await copied("Copy reference")), `copied: ${await copied("Copy reference")}`);
  await page.check("input[value=pd]", { force: true });
  expect(/redis@sha256:[0-9a-f]{64}$/.test(await copied("Copy reference")), `copied by digest: ${await copied("Copy reference")}`);
  await page.check("input[name=client][value=curl]", { force: true });
  const command = await copied("Copy command");
  expect(command.startsWith(`curl -fsS '${server}/api/v1/templates/`) && command.endsWith("/-/archive.tar.gz' | tar xz") && !command.includes("$ "), `copied: ${command}`);

  // The theme is switched, kept, and there before the first paint.
  await page.click("[data-theme-switch]");
  same(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "after the switch");
  await go(page, "/");
  same(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark", "on the next page");
  same(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "on the next page, chosen");

  // The keys are told, and can be turned off.
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  for (const violation of await axe(page)) expect(false, `with the keys open: ${violation}`);
  await page.uncheck("#keys-on");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement.name !== "q"), "keys are off");

  expect(page.noise.length === 0, `the console says: ${page.noise.join(" | ")}`);
  expect(page.strangers.length === 0, `other hosts are asked: ${page.strangers}`);
});
