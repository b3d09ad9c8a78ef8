// From a described need to a fetched template, as somebody who has never been here: each step is counted.

import { expect, go, open, same, scenario, task } from "./kit.mjs";

await scenario(async (browser) => {
  const page = await open(browser);
  const steps = [];
  const step = async (what, act) => { await act(); steps.push(what); };
  await step("opens the site", () => go(page, "/"));
  await step("says what is needed", async () => {
    await page.fill("input[name=q]", task.need);
    await Promise.all([page.waitForURL(/search/), page.click("button.primary")]);
  });
  const names = await page.$$eval(".hit-item .name", (all) => all.slice(0, 3).map((one) => one.textContent));
  expect(names.includes(task.template), `the first three for “${task.need}” are ${names}`);
  await step("chooses one", () => page.click(`.hit-item .name:text-is("${task.template}") >> nth=0`));
  expect((await page.textContent("h1")).startsWith(task.template), "it is the page of the template");
  const wanted = task.files[decodeURIComponent(new URL(page.url()).pathname)];
  await step("opens its file", () => page.click("aside .links a:text-matches('^message-queue\\.')"));
  let text;
  await step("fetches it", async () => {
    const raw = await page.getAttribute(".code-head a:text-is('Raw')", "href");
    text = await (await page.request.get(new URL(raw, page.url()).href)).text();
  });
  same(text, wanted, "what was fetched");
  expect(steps.length <= 6, `it took ${steps.length} steps: ${steps.join(", ")}`);
  console.log(`${steps.length} steps: ${steps.join(", ")}`);
  expect(page.noise.length === 0, `the console says: ${page.noise}`);
});
