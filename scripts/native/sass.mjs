// What the machine code of kernels does: read from `cuobjdump -sass` and `-res-usage`.

/**
 * One instruction: its address in bytes, its name with modifiers ("LDG.E.128"), the rest.
 * @typedef {{ address: number, op: string, rest: string }} Instruction
 * @typedef {{ name: string, arch: string, instructions: Instruction[] }} Kernel
 */

const functionLine = /^\s*Function : (\S+)/;
const archLine = /^(?:arch = |\s*code for )(sm_\d+)/;
const instructionLine = /^\s*\/\*([0-9a-f]{4,})\*\/\s+(?:@!?U?P\w+ )?\s*([A-Z][A-Z0-9_.]*)\s*([^;]*);/;

/**
 * The kernels in what `cuobjdump -sass` printed.
 * @param {string} text
 * @returns {Kernel[]}
 */
export function kernelsOf(text) {
  /** @type {Kernel[]} */
  const kernels = [];
  let arch = '';
  for (const line of text.split('\n')) {
    const found = archLine.exec(line)?.[1];
    if (found) arch = found;
    const name = functionLine.exec(line)?.[1];
    if (name) kernels.push({ name, arch, instructions: [] });
    const match = instructionLine.exec(line);
    if (!match) continue;
    const [, address = '', op = '', rest = ''] = match;
    kernels.at(-1)?.instructions.push({ address: parseInt(address, 16), op, rest });
  }
  return kernels;
}

/**
 * Registers a thread, by "ARCH NAME", in what `cuobjdump -res-usage` printed.
 * @param {string} text
 */
export function registersOf(text) {
  /** @type {Map<string, number>} */
  const registers = new Map();
  let arch = '';
  let name = '';
  for (const line of text.split('\n')) {
    arch = archLine.exec(line)?.[1] ?? arch;
    name = /^\s*Function (\S+?):?$/.exec(line)?.[1] ?? name;
    const count = /\bREG:(\d+)/.exec(line)?.[1];
    if (count) registers.set(`${arch} ${name}`, Number(count));
  }
  return registers;
}

/**
 * The loop with the most global loads: from a branch backward to its target; the whole kernel where
 * there is none. Of loops with as many loads, the shortest.
 * @param {Kernel} kernel
 * @returns {Instruction[]}
 */
export function hotLoop({ instructions }) {
  const last = instructions.at(-1)?.address ?? 0;
  const loops = instructions
    .filter(({ op }) => op.startsWith('BRA'))
    .map(({ address, rest }) => ({ end: address, begin: parseInt(/0x([0-9a-f]+)/.exec(rest)?.[1] ?? 'ffffff', 16) }))
    // A branch to itself stands behind the end of every kernel.
    .filter(({ begin, end }) => begin < end && end <= last)
    .map(({ begin, end }) => instructions.filter(({ address }) => address >= begin && address <= end));
  // Loads that ask for what other blocks wrote (STRONG) are a kernel's end.
  const loads = (/** @type {Instruction[]} */ loop) =>
    loop.filter(({ op }) => op.startsWith('LDG') && !op.includes('STRONG')).length;
  loops.sort((a, b) => loads(b) - loads(a) || a.length - b.length);
  const [first] = loops;
  return first && loads(first) > 0 ? first : instructions;
}

const integer = /^(IMAD|IADD|IADD3|LEA|SHF|SHL|SHR|LOP|LOP3|PLOP3|PRMT|ISETP|IMNMX|VIADD|MOV|SEL|IABS|LOP32|BFE|BFI|XMAD|I2F|F2I|UIADD3|UIMAD|ULOP3|USHF|UISETP|ULEA|UMOV)(\.|$)/;
const double = /^(DADD|DMUL|DFMA|DSETP|MUFU\.\w*64H?|F2F\.F64|F2F\.F32\.F64)/;

/**
 * How many instructions of each kind there are.
 * @param {Instruction[]} loop
 */
export function tally(loop) {
  const count = (/** @type {(op: string) => boolean} */ is) => loop.filter(({ op }) => is(op)).length;
  const wide = (/** @type {string} */ op) => op.includes('.128');
  return {
    instructions: loop.length,
    wideLoads: count((op) => op.startsWith('LDG') && wide(op)),
    narrowLoads: count((op) => op.startsWith('LDG') && !wide(op)),
    wideStores: count((op) => op.startsWith('STG') && wide(op)),
    narrowStores: count((op) => op.startsWith('STG') && !wide(op)),
    local: count((op) => op.startsWith('LDL') || op.startsWith('STL')),
    integers: count((op) => integer.test(op)),
    doubles: count((op) => double.test(op)),
  };
}
