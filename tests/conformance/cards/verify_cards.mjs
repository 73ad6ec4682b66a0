// Checks the stored cards: each message is valid by the schemas that @a2ui/web_core ships, the stock React renderer shows
// every text as it is, and nothing that users wrote is executed, loaded or made a link. Other cards can be named:
// `node verify_cards.mjs FOLDER`, with files called NAME.json. With SCREENSHOTS=FOLDER it leaves a picture of each card.
import { strict as assert } from "node:assert";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import Ajv2020 from "ajv/dist/2020.js";
import { build } from "esbuild";
import { chromium } from "playwright-core";

import { options } from "../chromium.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, "golden");
const screenshots = process.env.SCREENSHOTS;

const cards = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .sort()
  .map((file) => ({ name: basename(file, ".json"), ...JSON.parse(readFileSync(join(folder, file), "utf8")) }));
assert.ok(cards.length > 0, `no cards in ${folder}`);

function messageValidator() {
  const shipped = join(here, "node_modules/@a2ui/web_core/src/v0_9/schemas");
  const schema = (file) => JSON.parse(readFileSync(join(shipped, file), "utf8"));
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(schema("common_types.json"));
  // The messages refer to the catalog by another name than its own, because a surface chooses its catalog.
  ajv.addSchema({ ...schema("catalogs/basic/catalog.json"), $id: "https://a2ui.org/specification/v0_9/catalog.json" });
  return ajv.compile(schema("server_to_client.json"));
}

function checkSchemas() {
  const validate = messageValidator();
  assert.ok(!validate({ version: "v0.9", createSurface: { surfaceId: "s" } }), "the validator accepts anything");
  for (const { name, format, version, messages } of cards) {
    assert.deepEqual([format, version], ["a2ui", "v0.9"], name);
    for (const message of messages) {
      assert.ok(validate(message), `${name}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
    }
  }
}

// The texts of a card in the order in which they are shown.
function textsOf({ messages }) {
  const { title, items, note } = messages[2].updateDataModel.value;
  const shown = items.flatMap((item) => [item.title, item.badge, ...item.lines.map((line) => line.text)]);
  return [title, ...shown, note].filter((text) => text !== "");
}

async function bundle() {
  const built = await build({
    entryPoints: [join(here, "page.jsx")],
    bundle: true,
    write: false,
    outdir: "out",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  const text = (end) => built.outputFiles.find((file) => file.path.endsWith(end))?.text ?? "";
  return { script: text(".js"), style: text(".css") };
}

// A phone's width, so that a card that is too wide is seen.
const viewport = { width: 390, height: 800 };

async function open(browser, { script, style }) {
  const context = await browser.newContext({ viewport, deviceScaleFactor: 2 });
  const page = await context.newPage();
  const troubles = [];
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => troubles.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => troubles.push(`request: ${request.url()}`));
  page.on("console", (entry) => entry.type() === "error" && troubles.push(`console: ${entry.text()}`));
  await page.setContent(
    `<!doctype html><meta charset="utf-8"><style>${style}
     body { margin: 12px; font: 15px sans-serif; background: #f4f4f5; overflow-wrap: anywhere; } section { margin-bottom: 16px; }</style>
     <div id="page"></div>`,
  );
  await page.evaluate((all) => { window.cards = all; }, cards);
  await page.addScriptTag({ content: script });
  await page.waitForFunction((count) => document.querySelectorAll("section > *").length === count, cards.length);
  return { page, troubles };
}

async function checkCard(page, card) {
  const found = await page.evaluate((name) => {
    const section = document.getElementById(name);
    const texts = [];
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (walker.currentNode.data.trim() !== "") texts.push(walker.currentNode.data);
    }
    return {
      texts,
      active: section.querySelectorAll("script, img, iframe, a, svg, object, [onerror], [onload]").length,
      tooWide: section.scrollWidth > section.clientWidth,
    };
  }, card.name);
  assert.deepEqual(found.texts, textsOf(card), `the texts of ${card.name}`);
  assert.equal(found.active, 0, `${card.name} has an element that could do something`);
  assert.ok(!found.tooWide, `${card.name} is wider than a phone`);
}

async function checkRendering() {
  const browser = await chromium.launch(options);
  try {
    const { page, troubles } = await open(browser, await bundle());
    for (const card of cards) await checkCard(page, card);
    assert.equal(await page.evaluate(() => window.hacked), undefined, "a text of a card was executed");
    assert.deepEqual(troubles, []);
    if (screenshots) {
      mkdirSync(screenshots, { recursive: true });
      for (const { name } of cards) await page.locator(`[id="${name}"]`).screenshot({ path: join(screenshots, `${name}.png`) });
    }
  } finally {
    await browser.close();
  }
}

checkSchemas();
await checkRendering();
console.log(`${cards.length} cards are valid and shown as they are`);
