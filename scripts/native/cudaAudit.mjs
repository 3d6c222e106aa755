// npm run cuda:audit: what the machine code of the kernels in libtrainer_cuda.so does, without a
// GPU: all of CUDA 13's build, and Volta's of CUDA 12's. A table of the kernels in which a training
// step spends its time, and exit code 1 where one does not keep its limits, or where another CUDA's
// assembler made a kernel.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, cache } from '../lib/paths.mjs';
import { capture } from '../lib/shell.mjs';
import { cudaLink, ensureCudaToolkit } from './cudaToolkit.mjs';
import { ensureDisassembler } from './disassembler.mjs';
import { madeOnce } from './madeOnce.mjs';
import { hotLoop, kernelsOf, registersOf, tally } from './sass.mjs';

/** @import { Kernel } from './sass.mjs' */

/**
 * Limits of one kernel, for numbers of `bytes` bytes. `elements`: numbers of the result that one
 * pass of its loop deals with. `loads`, `stores`: of 16 bytes in the loop, at least. `narrow`:
 * global accesses below 16 bytes, at most. `resident`: blocks of 256 threads that a multiprocessor
 * with 65,536 registers must hold. `integers`, `doubles`: instructions an element, at most.
 * @typedef {{
 *   name: RegExp, elements: (bytes: number) => number, loads: number, stores: number, narrow: number,
 *   resident: number, integers: number, doubles: number,
 * }} Limits
 */

const threads = 256;
const registersThere = 65_536;
/**
 * A table, a row for each kernel: name, rows of 16 bytes that a pass deals with, then `loads`,
 * `stores`, `narrow`, `resident`, `integers`, `doubles`.
 * @type {readonly (readonly [RegExp, number, number, number, number, number, number, number])[]}
 */
// prettier-ignore
const table = [
  [/NormSumsBlock/,                                    8, 8, 0,  0, 2,   3,   1],
  [/NormApplyBlock.*E[01]E/,                           4, 4, 4,  0, 3,   3,   0],
  [/NormApplyBlock.*E[23]E/,                           4, 8, 4,  0, 3,   4,   0],
  [/NormApplyBlock.*E4E/,                              4, 8, 4,  4, 3,   6,   0],
  [/NormGradientSumsBlock.*Lb0ELNS0_6PassedE0E/,       4, 8, 0,  0, 2,   4,   1],
  [/NormGradientSumsBlock.*Lb0ELNS0_6PassedE1E/,       4, 8, 0,  0, 2,   4,   1],
  [/NormGradientSumsBlock.*Lb0ELNS0_6PassedE2E/,       4, 8, 4,  4, 2,   5,   1],
  [/NormGradientSumsBlock.*Lb1ELNS0_6PassedE[02]E/,    4, 12, 4, 4, 2,   6,   1],
  [/NormGradientSumsBlock.*Lb1ELNS0_6PassedE1E/,       3, 9, 3,  0, 2,   6,   1.5],
  [/NormGradientBlock/,                                4, 8, 4,  0, 2,   4,   0],
  [/NormPairApplyBlock.*Lb0E/,                         4, 8, 4,  0, 2,   4,   0],
  [/NormPairApplyBlock.*Lb1E/,                         4, 8, 4,  4, 2,   6,   0],
  [/NormPairGradientSumsBlock.*Lb0E/,                  3, 9, 3,  3, 2,   7,   2],
  [/NormPairGradientSumsBlock.*Lb1E/,                  3, 12, 3, 3, 2,   8,   2],
  [/NormPairGradientBlock/,                            2, 6, 4,  0, 2,   6,   0],
  [/NormPoolBlock.*Lb0E/,                              1, 9, 1,  0, 2,  55,   0],
  [/NormPoolBlock.*Lb1E/,                              1, 9, 2,  1, 2,  70,   0],
  [/NormPoolGradientBlock/,                            4, 8, 4,  4, 2,  30,   0],
  [/MaxPoolWide.*Li3E/,                                1, 9, 1,  2, 5,  55,   0],
  [/MaxPoolGradientWide.*Li3E/,                        1, 4, 1,  4, 4,  50,   0],
  [/GlobalAverageWide/,                                8, 8, 0,  0, 2,   4,   0.5],
  [/GlobalAverageGradientWide/,                        1, 1, 1,  0, 8,  16,   0],
  [/UpdateWideINS0_7SgdRule/,                          1, 3, 2, 12, 6,  10,   0],
  [/UpdateWideINS0_8AdamRule/,                         1, 4, 3, 16, 5,  24,   0],
  [/UpdateWideINS0_9AdamwRule/,                        1, 4, 3, 16, 5,  24,   0],
  [/PartSquares/,                                      4, 4, 0,  0, 4,   2,   2],
];

/** @type {readonly Limits[]} */
const hot = table.map(([name, rows, loads, stores, narrow, resident, integers, doubles]) => ({
  name,
  elements: (bytes) => (rows * 16) / bytes,
  loads,
  stores,
  narrow,
  resident,
  integers,
  doubles,
}));

/** How many bytes a number of the kernel has, by its mangled name. @param {string} name */
const bytesOf = (name) => (/8BFloat16|7Float16/.test(name) ? 2 : 4);

/** "NormApplyBlock<BFloat16, 4>" of a mangled name. @param {string} name */
function readable(name) {
  const kernel = /\d((?:Norm|MaxPool|GlobalAverage|Update|Part)[A-Za-z]+?)(?:I|E)/.exec(name)?.[1] ?? name;
  const type = /8BFloat16/.test(name) ? 'bf16' : /7Float16/.test(name) ? 'fp16' : 'fp32';
  const flags = [...name.matchAll(/L(?:b|i|NS0_\d+\w+?E)(\d+)E/g)].map(([, flag]) => flag);
  const rule = /(Sgd|Adamw?|Lars)Rule/.exec(name)?.[1];
  return `${kernel}<${[type, ...(rule ? [rule] : []), ...flags].join(', ')}>`;
}

/**
 * One row of the table, and what is wrong with it.
 * @param {Kernel} kernel
 * @param {number | undefined} registers
 * @param {Limits} limits
 */
function judge(kernel, registers, limits) {
  const found = tally(hotLoop(kernel));
  // The compiler may have unrolled the loop once more.
  const passes = limits.loads > 0 ? Math.max(1, Math.floor(found.wideLoads / limits.loads)) : 1;
  const elements = passes * limits.elements(bytesOf(kernel.name));
  const each = { integers: found.integers / elements, doubles: found.doubles / elements };
  const resident = registers === undefined ? 0 : Math.floor(registersThere / (Math.ceil(registers / 8) * 8 * threads));
  const narrow = found.narrowLoads + found.narrowStores;
  /** @type {[boolean, string][]} */
  const rules = [
    [found.wideLoads < limits.loads, `${found.wideLoads} loads of 16 bytes, not ${limits.loads}`],
    [found.wideStores < limits.stores, `${found.wideStores} stores of 16 bytes, not ${limits.stores}`],
    [narrow > limits.narrow, `${narrow} narrow accesses, more than ${limits.narrow}`],
    [resident < limits.resident, `${resident} resident blocks, fewer than ${limits.resident}`],
    [each.integers > limits.integers, `${each.integers.toFixed(1)} integer instructions an element`],
    [each.doubles > limits.doubles, `${each.doubles.toFixed(2)} double instructions an element`],
  ];
  const wrong = rules.filter(([is]) => is).map(([, text]) => text);
  const row = [
    readable(kernel.name), kernel.arch, registers ?? '?', resident, found.wideLoads, found.wideStores, narrow,
    (found.instructions / elements).toFixed(1), each.integers.toFixed(1), each.doubles.toFixed(2),
  ];
  return { row, wrong };
}

/**
 * What to read: a library, the folder of the disassembler's programs, and the GPUs whose code is
 * read, all of them where none is named.
 * `assembler`: what the assembler calls itself in the .ptxas files beside the library.
 * @typedef {{ library: string, tools: string, archs?: readonly string[], assembler?: string }} Reading
 */

/**
 * What cuobjdump says of the library.
 * @param {Reading} reading
 * @param {string} what
 */
function disassembled({ library, tools, archs = [] }, what) {
  const tool = join(tools, 'cuobjdump');
  // It finds nvdisasm on PATH.
  const env = { ...process.env, PATH: `${tools}:${process.env['PATH']}` };
  const words = [...archs.flatMap((arch) => ['-arch', arch]), what, library];
  const { ok, stdout, stderr } = capture(tool, words, { env, maxBuffer: 2 ** 30 });
  if (!ok) throw new Error(`${tool} ${words.join(' ')}: ${stderr}`);
  return stdout;
}

/** Both libraries as they were built; of CUDA 12's the code that CUDA 13's has not. */
function ownReadings() {
  ensureCudaToolkit();
  const node = join(build, 'native/release/node');
  return [
    { library: join(node, 'cuda/libtrainer_cuda.so'), tools: join(cudaLink, 'cu13/bin'), assembler: 'ptxas' },
    { library: join(node, 'cuda12/libtrainer_cuda.so'), tools: ensureDisassembler(), archs: ['sm_70'], assembler: 'ptxas-12' },
  ];
}

/**
 * Reads the libraries. `table` is Markdown; `wrong`: what does not keep its limits, one line each.
 * @param {readonly Reading[]} readings
 * @returns {{ table: string, wrong: string[] }}
 */
function audit(readings) {
  const heads = ['kernel', 'GPU', 'registers', 'resident blocks', '16-byte loads', '16-byte stores', 'narrow', 'instructions', 'integer', 'double'];
  const all = readings.map((reading) => auditOne(reading));
  const rows = [heads, heads.map(() => '---'), ...all.flatMap(({ rows }) => rows)].map((row) => `| ${row.join(' | ')} |\n`);
  const said = 'Instructions are those of the loop with the most loads, an element of the result.\n';
  return { table: rows.join('') + said, wrong: all.flatMap(({ wrong }) => wrong) };
}

/**
 * Reads both libraries as they were built, and prints the table. It takes 30 s, so the table of
 * libraries that kept all limits stays in the cache, and is printed the next time. Returns what does
 * not keep its limits, one line each.
 */
export function auditOnce() {
  const readings = ownReadings();
  const hash = createHash('sha256');
  const rules = ['cudaAudit.mjs', 'disassembler.mjs', 'sass.mjs'].map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const files = readings.flatMap(({ library }) => [library, ...assemblersOf(library)]);
  for (const path of [...rules, ...files]) hash.update(readFileSync(path));
  const kept = join(cache, 'cuda-audit', hash.digest('hex').slice(0, 16));
  const file = join(kept, 'table.md');
  const { table, wrong } = existsSync(file) ? { table: readFileSync(file, 'utf8'), wrong: [] } : audit(readings);
  process.stdout.write(table);
  if (wrong.length === 0) madeOnce(kept, (temporary) => writeFileSync(join(temporary, basename(file)), table));
  return wrong;
}

/**
 * What the assembler said of each kernel of a library.
 * @param {string} library
 */
const assemblersOf = (library) =>
  readdirSync(dirname(library)).filter((name) => name.endsWith('.ptxas')).map((name) => join(dirname(library), name));

/**
 * Kernels that another CUDA's assembler made: older drivers may not load their code.
 * @param {Reading} reading
 * @returns {string[]}
 */
function ofAnotherAssembler({ library, assembler }) {
  if (assembler === undefined) return [];
  const said = assemblersOf(library);
  if (said.length === 0) return [`${dirname(library)} has no .ptxas files, which say who assembled the kernels`];
  const others = said.filter((file) => !readFileSync(file, 'utf8').startsWith(`${assembler} `));
  return others.map((file) => `${file}: ${assembler} did not assemble this kernel`);
}

/** The trainer refuses bf16 on Volta, which has no arithmetic for it. @param {Kernel} kernel */
const isUsed = ({ name, arch }) => !(arch === 'sm_70' && name.includes('8BFloat16'));

/**
 * The table's rows of one library, and what does not keep its limits.
 * @param {Reading} reading
 * @returns {{ rows: (string | number)[][], wrong: string[] }}
 */
function auditOne(reading) {
  const registers = registersOf(disassembled(reading, '-res-usage'));
  const kernels = kernelsOf(disassembled(reading, '-sass')).filter(({ arch }) => reading.archs?.includes(arch) ?? true);
  const wrong = kernels
    .filter(({ instructions }) => tally(instructions).local > 0)
    .map(({ name, arch }) => `${name}, ${arch}: it uses local memory`);
  wrong.push(...ofAnotherAssembler(reading));
  const rows = [];
  for (const limits of hot) {
    const matching = kernels.filter((kernel) => limits.name.test(kernel.name) && isUsed(kernel));
    if (matching.length === 0) wrong.push(`no kernel ${limits.name} in ${reading.library}`);
    for (const kernel of matching) {
      const judged = judge(kernel, registers.get(`${kernel.arch} ${kernel.name}`), limits);
      rows.push(judged.row);
      wrong.push(...judged.wrong.map((text) => `${readable(kernel.name)}, ${kernel.arch}: ${text}`));
    }
  }
  return { rows, wrong };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [library] = process.argv.slice(2);
  const readings = library === undefined ? ownReadings() : [{ library, tools: join(cudaLink, 'cu13/bin') }];
  const missing = readings.find((reading) => !existsSync(reading.library))?.library;
  if (missing !== undefined) {
    process.stderr.write(`cuda:audit: error: ${missing} is missing. Build it: node scripts/native/native.mjs cuda\n`);
    process.exit(2);
  }
  const { table, wrong } = audit(readings);
  process.stdout.write(table);
  for (const line of wrong) process.stderr.write(`cuda:audit: ${line}\n`);
  process.exit(wrong.length > 0 ? 1 : 0);
}
