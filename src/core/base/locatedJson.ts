// JSON as people write it, with comments and trailing commas, and the lines on which it is wrong.
import { findNodeAtLocation, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import type { Problem } from './validation.js';

/** Makes the error of a line, from 1. */
export type AtLine = (line: number, what: string) => Error;

/** The text as a tree. Throws what `at` makes of the first thing that is no JSON. */
export function parseLocated(text: string, at: AtLine): Node {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first === undefined && tree !== undefined) return tree;
  const what = first === undefined ? 'the file is empty' : readable(printParseErrorCode(first.error));
  throw at(lineOf(text, first?.offset ?? 0), what);
}

/** The line of a problem, from 1: where the deepest part of its path that exists stands. */
export function lineOfProblem(text: string, tree: Node, { path }: Problem): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    if (node) return lineOf(text, node.offset);
  }
  return lineOf(text, tree.offset);
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `CommaExpected` as "comma expected". */
const readable = (code: string): string =>
  code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
