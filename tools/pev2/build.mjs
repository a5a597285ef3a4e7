// Bundles pev2 with Vue, and the rules of Bootstrap that it uses, into assets/pev2 of the reports.
import { gzipSync } from "node:zlib";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { PurgeCSS } from "purgecss";

const target = new URL("../../src/teiten/report/assets/pev2/", import.meta.url);
mkdirSync(target, { recursive: true });
const bundled = await build({
  entryPoints: ["entry.js"],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  charset: "utf8",
  legalComments: "inline",
  define: {
    "process.env.NODE_ENV": '"production"',
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
});
// Within a script element of HTML this would end it.
const script = bundled.outputFiles[0].text.replaceAll("</script", "<\\/script");
const [bootstrap] = await new PurgeCSS().purge({
  content: ["node_modules/pev2/dist/pev2.es.js"],
  css: ["node_modules/bootstrap/dist/css/bootstrap.min.css"],
  safelist: ["html", "body"],
});
const style = bootstrap.css + readFileSync("node_modules/pev2/dist/pev2.css", "utf8");
const write = (name, text) =>
  writeFileSync(new URL(name, target), gzipSync(text, { level: 9 }));
write("pev2.js.gz", script);
write("pev2.css.gz", style.replaceAll(/\/\*# sourceMappingURL.*?\*\//g, ""));
writeFileSync(new URL("LICENSES.txt", target), licences());
console.log(`script ${script.length}, style ${style.length} characters`);

// pev2's own licence, and those of all that it bundles.
function licences() {
  const { dependencies } = JSON.parse(readFileSync("node_modules/pev2/package.json", "utf8"));
  const parts = ["pev2", ...Object.keys(dependencies)].map((name) => {
    const folder = `node_modules/${name}/`;
    const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
    const file = existsSync(folder) && readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? readFileSync(folder + file, "utf8").trim() : `Licence: ${license}`;
    return `${name} ${version}\n${"-".repeat(72)}\n${text}\n`;
  });
  return parts.join("\n\n");
}
