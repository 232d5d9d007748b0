// Runs the rules as WebAssembly: node run.mjs PROGRAM.wasm VECTORS.tsv
//
// The program (src/main.rs) answers how many lines of the vectors it has counted
// right; here it is seen whether those are all.

import { readFile } from "node:fs/promises";
import { argv, exit } from "node:process";

const [program, vectors] = argv.slice(2);
const lines = (await readFile(vectors, "utf8")).split("\n").filter((line) => line !== "").length;
// No imports: the rules ask nothing of the system.
const { instance } = await WebAssembly.instantiate(await readFile(program), {});
const right = instance.exports.main(0, 0);
console.log(`WebAssembly counted ${right} of ${lines} perft vectors right`);
if (right !== lines) exit(1);
