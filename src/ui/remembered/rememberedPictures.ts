// The pictures that a checkpoint was asked about last in this workspace.
import { existsSync } from 'node:fs';
import type { Memento } from 'vscode';

const key = 'trainyard.pictures';
/** With more of them, the first ones are kept. */
const mostPictures = 200;

/** Those that are still there. */
export const rememberedPictures = (memory: Memento): readonly string[] =>
  (memory.get<string[]>(key) ?? []).filter((path) => existsSync(path));

export async function rememberPictures(memory: Memento, pictures: readonly string[]): Promise<void> {
  await memory.update(key, pictures.slice(0, mostPictures));
}
