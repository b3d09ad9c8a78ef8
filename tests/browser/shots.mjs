// Pictures of every page, for the eye: `FORMWORK_URL=http://127.0.0.1:8080 node tests/browser/shots.mjs DIRECTORY [PATH…]`.

import { mkdirSync } from "node:fs";
import { expect, go, open, scenario } from "./kit.mjs";

const [directory = "shots", ...given] = process.argv.slice(2);
const example = "/localhost/examples/registry";
const paths = given.length ? given : [
  "/", "/search?q=redis", "/registries", "/status", "/docs", "/docs/openapi", "/login", example, `${example}/databases/`,
  `${example}/databases/redis`, `${example}/databases/redis/-/files/redis.yaml#L3-L8`, `${example}/databases/redis/-/versions`,
  `${example}/databases/redis/-/history`, `${example}/databases/redis:v9`, `${example}/databases/radis`,
];
mkdirSync(directory, { recursive: true });
await scenario(async (browser) => {
  for (const width of [320, 1280]) {
    for (const theme of ["light", "dark"]) {
      const page = await open(browser, { width, theme });
      for (const path of paths) {
        await go(page, path);
        const name = path.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "") || "home";
        await page.screenshot({ path: `${directory}/${name}-${width}-${theme}.png`, fullPage: true });
        expect(true, path);
      }
      await page.context().close();
    }
  }
});
