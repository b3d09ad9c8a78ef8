// Without JavaScript: every page is whole, nothing that needs a script shows, and what there is to do can be done.

import { expect, go, open, overflow, same, scenario, task } from "./kit.mjs";

await scenario(async (browser) => {
  const page = await open(browser, { js: false });
  for (const path of task.pages) {
    const answer = await go(page, path);
    expect(answer.status() < 500, `${path} answers ${answer.status()}`);
    const facts = await page.evaluate(() => ({
      heading: document.querySelector("h1")?.textContent.trim(),
      text: document.querySelector("main").innerText.length,
      script: [...document.querySelectorAll("[data-js]")].filter((element) => element.checkVisibility()).map((element) => element.outerHTML.slice(0, 80)),
    }));
    expect(facts.heading && facts.text > 40, `${path} has nothing to read: ${JSON.stringify(facts)}`);
    expect(facts.script.length === 0, `${path} shows what needs a script: ${facts.script}`);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect((await overflow(page)) === null, `${path} scrolls sideways at ${width} px`);
    }
  }

  // Searching, narrowing, reading, and choosing how to refer.
  await go(page, "/");
  await page.fill("input[name=q]", "redis");
  await page.click("button.primary");
  await page.click(".hit-item .name >> nth=0");
  expect((await page.textContent("h1")).startsWith("redis"), "the first hit is redis");
  expect(await page.isVisible(".ref.pf") && await page.isHidden(".use .ref.pd >> nth=0"), "patches are followed at first");
  await page.click("text=by digest");
  expect(await page.isVisible(".use .ref.pd >> nth=0") && await page.isHidden(".use .ref.pf >> nth=0"), "then the digest is shown");
  await page.click(".tab:has([value=curl])");
  const shown = await page.$$eval(".panel", (panels) => panels.filter((panel) => panel.checkVisibility()).map((panel) => panel.dataset.label));
  same(shown, ["curl"], "the client that is chosen");
  await page.click("details summary:has-text('The same as a list')");
  expect(await page.isVisible("td:has-text('selects StatefulSet')"), "the objects are listed too");
  await page.click(".subnav >> text=Files");
  await page.click("th a >> text=redis.yaml");
  await go(page, `${new URL(page.url()).pathname}#L3`);
  expect(await page.evaluate(() => document.querySelector(".l:target")?.id === "L3"), "a line can be pointed at");
});
