// How each file of the workspace was run last, and on which profile.
import type { Memento } from 'vscode';
import type { Spread } from '../../core/plan/runFile.js';

/** What was answered for a file. `line`: the arguments, as one text. */
export interface FileAnswers {
  spread: Spread;
  line: string;
  /**
   * The name of the file whose packages the nodes were to get, or whether they were to get any;
   * undefined where there was no such file.
   */
  packages?: string | boolean;
}

const profileKey = 'trainyard.fileProfile';
const filesKey = 'trainyard.fileAnswers';
/** Files beyond these, the longest unused ones, are forgotten. */
const mostFiles = 100;

export const rememberedProfile = (memory: Memento): string | undefined => memory.get<string>(profileKey);

export const rememberedFile = (memory: Memento, path: string): FileAnswers | undefined =>
  new Map(memory.get<[string, FileAnswers][]>(filesKey)).get(path);

export async function rememberFile(
  memory: Memento,
  path: string,
  profile: string,
  answers: FileAnswers,
): Promise<void> {
  const others = (memory.get<[string, FileAnswers][]>(filesKey) ?? []).filter(([file]) => file !== path);
  await memory.update(filesKey, [[path, answers], ...others].slice(0, mostFiles));
  await memory.update(profileKey, profile);
}
