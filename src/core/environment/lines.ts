// Lines of a requirements file of pip: which of them a node can follow.
import { UserError } from '../base/errors.js';

/** Options of pip that a node can follow as they stand. */
const kept =
  /^(?:-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--trusted-host|--pre|--prefer-binary|--only-binary|--no-binary|--require-hashes|--use-feature)(?=[\s=]|$)/;
/** Those of them that the versions, once decided on, no longer need. */
const onlyToDecide = /^(?:--pre|--require-hashes)\b/;
const editable = /^(?:-e|--editable)\b/;
/** A path of this machine: a folder, or a file of a package. */
const path = /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|~[\\/]|[A-Za-z]:[\\/]|file:|[^-\s@;#][^\s@;#]*[\\/])/;
const packageFile = /^[^\s:@]+\.(?:whl|tar\.gz|zip)$/;
/** `NAME`, with extras and versions, an address or a condition (PEP 508). */
const requirement = /^[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\])?\s*(?:$|[<>;@(]|[=!~]=|--)/;
/** Of `//NAME:PASSWORD@`, and of a token in the place of a name. A variable of pip's is none. */
const password = /:\/\/[^/\s@]*:(?!\$\{)[^/\s@]+@|https?:\/\/(?!\$\{)[^/\s@]+@/;

const hash = /\s--hash[=\s]\S+/g;
/** Characters of a line without its hashes. */
const longest = 4000;
/** Of a package; pip takes `-C` too. */
const options = /\s-(?!-hash[=\s])[-A-Za-z]\S*/;

/** Of lines those that say where pip looks, and what it may take. */
export const optionsOf = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith('-') && !onlyToDecide.test(line));

/** Lines as the text of a file. */
export const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Whether a package has a hash. */
export const hasHash = (line: string): boolean => /\s--hash[=\s]/.test(line);

/** A package's name as indexes compare it (PEP 503). */
export const normalized = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** The name that a requirement begins with; empty where it begins with none. */
export const nameOf = (line: string): string => normalized(/^[A-Za-z0-9][\w.-]*/.exec(line)?.[0] ?? '');

/** UserError (usage) for a line that means something on this machine alone, or holds a secret. */
export function assertForNodes(line: string, file: string): void {
  const refuse = (what: string, hint: string): never => {
    throw new UserError('usage', `${file}: "${line}" ${what}`, hint);
  };
  if (line.replaceAll(hash, '').length > longest) {
    throw new UserError(
      'usage',
      `${file}: "${line.slice(0, 60)}…" is too long for a line of pip`,
      'Correct it',
    );
  }
  if (password.test(line)) {
    throw new UserError(
      'usage',
      `${file}: an address has a password, which would be stored with every run`,
      'Keep it in the pip.conf or .netrc of the nodes',
    );
  }
  // Where pip would begin another line, which nobody has looked at.
  if (/[\p{Cc}\u2028\u2029]|\\$/u.test(line.replaceAll('\t', ' '))) {
    refuse('is no single line', 'Take out its control characters');
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
  const [option = ''] = options.exec(line) ?? [];
  if (option !== '') refuse(`has the option${option}, which is not followed`, 'Take it out');
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
