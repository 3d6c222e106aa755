// Whose Python packages the nodes get for a file that is run on a cluster.
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { namesDependencies, packagesFiles } from '../../../core/environment/kinds.js';
import { mostBytes } from '../../../core/environment/text.js';
import { languageOf } from '../../../core/plan/runFile.js';

/**
 * The files that name the packages of a Python program: those of the nearest folder that has any,
 * from its own up to `folder`.
 */
export function packagesFor(path: string, folder: string): string[] {
  if (languageOf(path) !== 'python') return [];
  for (let at = dirname(path); ; at = dirname(at)) {
    const files = packagesFiles.map((name) => join(at, name)).filter(namesPackages);
    if (files.length > 0 || at === folder || at === dirname(at)) return files;
  }
}

/** A pyproject.toml may well be there for other things than packages. */
function namesPackages(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return false;
  if (basename(file) !== 'pyproject.toml') return true;
  return found.size <= mostBytes && namesDependencies(readFileSync(file, 'utf8'));
}

/**
 * The file whose packages the nodes get, false for none; the answer of the last time is offered
 * first.
 */
export async function askPackages(
  title: string,
  files: readonly string[],
  last: string | boolean = true,
): Promise<string | false | undefined> {
  const items = [
    ...files.map((file) => ({
      label: `$(package) Those of ${vscode.workspace.asRelativePath(file)}`,
      description: 'each node gets them before the start',
      packages: file,
    })),
    {
      label: '$(circle-slash) Those That the Nodes Have',
      description: 'nothing is installed',
      packages: false as const,
    },
  ];
  const isLast = ({ packages }: (typeof items)[number]): boolean =>
    packages === false ? last === false : basename(packages) === last;
  const ordered = [...items.filter(isLast), ...items.filter((item) => !isLast(item))];
  const placeHolder = 'Which Python packages?';
  return (await vscode.window.showQuickPick(ordered, { title, placeHolder, ignoreFocusOut: true }))?.packages;
}
