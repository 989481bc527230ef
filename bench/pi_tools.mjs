// Runs one case with pi's own tools through its SDK and prints {"seconds", "error", "result"}.
// usage: node pi_tools.mjs PACKAGE_DIRECTORY CASE ARGUMENTS_JSON
// ARGUMENTS_JSON is {"calls": [arguments...], "parallel": bool}: what bench/tool_cases.py made.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packageDirectory, toolName, planText] = process.argv.slice(2);
const { calls, repeat, parallel } = JSON.parse(planText);
const pi = await import(pathToFileURL(join(packageDirectory, "dist", "index.js")).href);
const factory = pi[`create${toolName[0].toUpperCase()}${toolName.slice(1)}Tool`];
const tool = factory(process.cwd());

let number = 0;
const run = (call) => tool.execute(`call-${number++}`, call, undefined, () => {});
const fill = (value, index) => JSON.parse(JSON.stringify(value).replaceAll("#N#", String(index)));

let result;
let error = null;
const start = performance.now();
try {
  if (parallel) {
    const all = Array.from({ length: repeat }, (_, index) => run(fill(calls[0], index)));
    result = (await Promise.all(all)).at(-1);
  } else {
    for (let index = 0; index < repeat; index++) {
      result = await run(fill(calls[index % calls.length], index));
    }
  }
} catch (failure) {
  error = String(failure.message).slice(0, 300);
}
const seconds = (performance.now() - start) / 1000;
const text = (result?.content?.[0]?.text ?? "").slice(-120);
console.log(JSON.stringify({ seconds, error, result: text }));
