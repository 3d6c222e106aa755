// A shell in a run's folder on a node, with the environment that the run's ranks have. Only one
// constant program and letters of hex are typed into the terminal: everything else is read from the
// run's record, which lies there.
import { randomBytes } from 'node:crypto';
import { UserError } from '../base/errors.js';
import { terminalStep, type AllocatedNode } from '../slurm/step.js';
import type { TypedStart } from './quietStart.js';

/**
 * Without single quotes, backslashes and what shells read inside of quotes, so that bash, dash,
 * fish and tcsh take it alike. What goes wrong is said, and the shell comes all the same.
 */
const program = [
  'import json,os,sys',
  // A sequence that terminals pass over. Its letters stand in the line the other way round.
  'print(chr(27)+"]7717;"+sys.argv[2][::-1]+chr(7),end="",flush=True)',
  'e=os.environ',
  's=e.get("SHELL") or "/bin/sh"',
  'sys.excepthook=lambda t,v,b:(print("trainyard: the environment of the run cannot be set:",v,flush=True),os.execv(s,[s]))',
  'd=os.fsdecode(bytes.fromhex(sys.argv[1]))',
  'os.chdir(d)',
  'r=json.load(open("run.json",encoding="utf-8"))',
  'p=r.get("paths") or {}',
  'o=e.get("PATH","")',
  // What ends a run leaves this shell, and what is started in it, alone.
  'e.update(r.get("env") or {},TRAINYARD_RUN_DIR=d,TRAINYARD_TERMINAL="1")',
  'e["PATH"]=":".join([os.path.dirname(p[k]) for k in ("trainer","python") if p.get(k)]+[o])',
  'os.execv(s,[s])',
].join(';');

/** Bytes that a terminal takes in one line while no shell reads yet. */
const longestLine = 4095;

/**
 * What is typed into a login shell on the node, with the key that ends it. With `at` that is the
 * login node, and the shell comes on a compute node. UserError (usage) for a folder whose path is too
 * long.
 */
export function runShellStart(dir: string, at?: AllocatedNode): TypedStart {
  const step = at === undefined ? '' : `${terminalStep(at)} `;
  const nonce = randomBytes(12).toString('hex');
  const line = ` exec ${step}python3 -ISc '${program}' ${Buffer.from(dir).toString('hex')} ${nonce}\r`;
  const mark = `\x1b]7717;${Array.from(nonce).reverse().join('')}\x07`;
  if (line.length <= longestLine) return { line, mark };
  throw new UserError(
    'usage',
    `the path of the run's folder has ${Buffer.byteLength(dir)} bytes, too many for a terminal`,
    { kind: 'terminalOnNode' },
  );
}
