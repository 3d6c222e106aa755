// A requirements file of pip, as it goes to the nodes: one text, in which what it includes stands.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorText, UserError } from '../base/errors.js';

/** What of a requirements file goes to the nodes. */
export interface Requirements {
  /** The whole path, on this machine. */
  file: string;
  /** One requirement or option on a line. */
  text: string;
  /** The same of the files that it names as constraints; empty where it names none. */
  constraints: string;
  /** Of its lines those that say where pip looks, and what it may take. */
  options: string[];
  /** Whether its packages have hashes, which pip then compares. */
  hashed: boolean;
}

/** Bytes. Requirements with the hashes of some hundred packages are a tenth of that. */
const mostBytes = 1e6;
const mostFiles = 20;

/** Options of pip that a node can follow as they stand. */
const kept =
  /^(?:-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--trusted-host|--pre|--prefer-binary|--only-binary|--no-binary|--require-hashes|--use-feature)(?=[\s=]|$)/;
/** Those of them that the versions, once decided on, no longer need. */
const onlyToDecide = /^(?:--pre|--require-hashes)\b/;
const included = /^(?:-r|--requirement)(?:\s+|=)?(.+)$/;
const constrained = /^(?:-c|--constraint)(?:\s+|=)?(.+)$/;
const editable = /^(?:-e|--editable)\b/;
/** A path of this machine: a folder, or a file of a package. */
const path = /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|~[\\/]|[A-Za-z]:[\\/]|file:|[^-\s@;#][^\s@;#]*[\\/])/;
const packageFile = /^[^\s:@]+\.(?:whl|tar\.gz|zip)$/;
/** `NAME`, with extras and versions, an address or a condition (PEP 508). */
const requirement = /^[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*(?:$|[<>;@(]|[=!~]=|--)/;
/** Of `//NAME:PASSWORD@`, and of a token in the place of a name. A variable of pip's is none. */
const password = /:\/\/[^/\s@]*:(?!\$\{)[^/\s@]+@|https?:\/\/(?!\$\{)[^/\s@]+@/;

/** UserError (usage) for a file that cannot be read, and for lines that a node cannot follow. */
export async function readRequirements(file: string): Promise<Requirements> {
  const reading = new Reading();
  const lines = await reading.linesOf(resolve(file), []);
  if (!lines.some((line) => !line.startsWith('-'))) {
    throw new UserError('usage', `${file} names no package`, 'Write one on a line, say torch==2.9.1');
  }
  return {
    file: resolve(file),
    text: joined(lines),
    constraints: joined(reading.constraints),
    options: [...lines, ...reading.constraints].filter(
      (line) => line.startsWith('-') && !onlyToDecide.test(line),
    ),
    hashed: lines.some((line) => /\s--hash[=\s]/.test(line)),
  };
}

/**
 * UserError (preflight) for what is none of `options` and packages with their versions, as a node
 * that is not to be trusted might answer: pip would run what such a line names.
 */
export function assertDecided(options: readonly string[], packages: readonly string[], node: string): void {
  const wrong =
    packages.find((line) => !/^[A-Za-z0-9][\w.-]*(?:==[\w.!+-]+| @ \S+)$/.test(line)) ??
    options.find((line) => !kept.test(line) || /[\r\n]/.test(line));
  if (wrong === undefined) return;
  const what = `${node} says that "${wrong.slice(0, 100)}" is a package of the run`;
  throw new UserError('preflight', what, 'Look at that node, and start a new run with the requirements');
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

class Reading {
  readonly constraints: string[] = [];
  private files = 0;

  /** The lines of a file, with those of the files that it includes in their place. */
  async linesOf(file: string, above: readonly string[]): Promise<string[]> {
    if (above.includes(file)) {
      throw new UserError('usage', `${file} includes itself`, 'Take that line out');
    }
    this.files += 1;
    if (this.files > mostFiles) {
      throw new UserError('usage', `${above[0] ?? file} includes more than ${mostFiles} files`, 'Join some');
    }
    const lines: string[] = [];
    for (const line of logicalLines(await textOf(file))) {
      const inclusion = included.exec(line)?.[1];
      const constraint = constrained.exec(line)?.[1];
      const named = inclusion ?? constraint ?? '';
      if (/^https?:/.test(named.trim())) {
        const what = `${file}: "${line}" is an address, and addresses of requirements are not followed`;
        throw new UserError('usage', what, 'Download it, and name the file');
      }
      if (inclusion !== undefined) {
        lines.push(...(await this.linesOf(besides(file, inclusion), [...above, file])));
      } else if (constraint !== undefined) {
        this.constraints.push(...(await this.linesOf(besides(file, constraint), [...above, file])));
      } else {
        assertForNodes(line, file);
        lines.push(line);
      }
    }
    return lines;
  }
}

const besides = (file: string, name: string): string =>
  resolve(dirname(file), name.trim().replace(/^(["'])(.*)\1$/, '$2'));

async function textOf(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > mostBytes) {
      const what = `${file} has ${(bytes.length / 1e6).toFixed(1)} MB, which is no requirements file`;
      throw new UserError('usage', what, 'Name a file with one package on a line');
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const what =
      error instanceof TypeError
        ? `${file} is no text in UTF-8`
        : `the requirements cannot be read: ${errorText(error)}`;
    throw new UserError('usage', what, 'Name a requirements file of pip', { cause: error });
  }
}

/**
 * Without comments and empty lines; a line that ends with a backslash goes on in the next one, but
 * for a comment. Options that stand on one line are lines of their own.
 */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let begun = '';
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const isComment = /^\s*#/.test(line);
    if (!isComment && line.endsWith('\\')) {
      begun += `${line.slice(0, -1)} `;
      continue;
    }
    lines.push(begun + (isComment ? '' : line));
    begun = '';
  }
  return [...lines, begun]
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .flatMap((line) => (line.startsWith('-') ? line.split(/\s+(?=--?[a-z])/) : [line]))
    .filter((line) => line !== '');
}

/** UserError (usage) for a line that means something on this machine alone, or holds a secret. */
function assertForNodes(line: string, file: string): void {
  const refuse = (what: string, hint: string): never => {
    throw new UserError('usage', `${file}: "${line}" ${what}`, hint);
  };
  if (password.test(line)) {
    throw new UserError(
      'usage',
      `${file}: an address has a password, which would be stored with every run`,
      'Keep it in the pip.conf or .netrc of the nodes',
    );
  }
  if (editable.test(line) || path.test(line) || packageFile.test(line) || /@\s*file:/.test(line)) {
    refuse(
      'is a folder or file of this machine',
      'Let your code go along with the run, and name packages here',
    );
  }
  if (/^(?:-f|--find-links)(?:\s+|=)(?!\s|https?:|\/)/.test(line)) {
    refuse('is a folder of this machine', 'Name an address, or a folder that each node has');
  }
  if (line.startsWith('-')) {
    if (!kept.test(line)) refuse('is an option that the nodes do not take', 'Take it out');
    return;
  }
  if (!requirement.test(line)) refuse('is no requirement', 'Write, say, torch==2.9.1');
  if (line.includes('${')) {
    refuse('has a variable, which pip takes in options alone', 'Name the package without it');
  }
  const [option = ''] = /\s--(?!hash[=\s])\S+/.exec(line) ?? [];
  if (option !== '') refuse(`has the option${option}, which is not followed`, 'Take it out');
}
