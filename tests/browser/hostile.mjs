// Row 27 of the attack table, in a browser: whatever a repository holds, nothing of it runs, and nobody outside is told.

import { expect, go, open, scenario, server, task } from "./kit.mjs";

await scenario(async (browser) => {
  const page = await open(browser, { acceptDownloads: true });
  // Every attack calls this, or tries to reach a host that is not ours.
  await page.context().exposeFunction("canary", (what) => expect(false, `a script ran: ${what}`));
  for (const path of task.pages) {
    const answer = await go(page, path);
    const where = `${path} (${answer.status()})`;
    expect(answer.headers()["content-security-policy"]?.includes("default-src 'none'"), `${where} has no policy`);
    const found = await page.evaluate(() => {
      const handlers = [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes].filter((one) => one.name.startsWith("on") || /^\s*(javascript|data|vbscript):/i.test(one.value)).map((one) => `${element.nodeName} ${one.name}=${one.value}`));
      const scripts = [...document.scripts].filter((script) => !script.src.startsWith(`${location.origin}/assets/`)).map((script) => script.outerHTML);
      const frames = [...document.querySelectorAll("iframe, object, embed, base, meta[http-equiv], style, link[rel=stylesheet]:not([href^='/assets/'])")].map((element) => element.outerHTML);
      return [...handlers, ...scripts, ...frames];
    });
    expect(found.length === 0, `${where}: ${found.join("; ")}`);
    // What can be pressed is pressed.
    for (const link of await page.$$("main .prose a")) await link.click({ trial: true, timeout: 500 }).catch(() => {});
  }
  // A file of a repository by itself: text, or a download; never a page of this origin.
  for (const path of task.raw) {
    const answer = await page.request.get(server + path);
    const headers = answer.headers();
    expect(headers["x-content-type-options"] === "nosniff", `${path} may be sniffed`);
    expect(headers["content-security-policy"]?.includes("sandbox"), `${path} has no sandbox`);
    expect(!/html|javascript|xml(?!\+)/.test(headers["content-type"]) || headers["content-type"].startsWith("image/svg+xml"), `${path} is ${headers["content-type"]}`);
    await page.goto("about:blank");
    const download = page.waitForEvent("download", { timeout: 2_000 }).catch(() => null);
    await page.goto(server + path).catch(() => {});
    if (path.endsWith(".svg")) {
      expect(headers["content-disposition"]?.startsWith("attachment"), `${path} opens in the window`);
      expect((await download) !== null, `${path} is no download`);
    }
    const ran = await page.evaluate(() => document.querySelectorAll("script").length);
    expect(ran === 0, `${path} holds a script in the window`);
  }
  expect(page.strangers.length === 0, `other hosts are asked: ${page.strangers}`);
  const alarms = page.noise.filter((text) => text.startsWith("dialog:"));
  expect(alarms.length === 0, `a dialog opened: ${alarms}`);
});
