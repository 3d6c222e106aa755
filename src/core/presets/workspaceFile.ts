// What a workspace keeps, in `.vscode/trainyard.json` of its folder: presets of runs, and profiles
// for others to import.
import { chmod, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { applyEdits, getNodeValue, modify } from 'jsonc-parser';
import { errorText, systemCode, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { lineOfProblem, parseLocated } from '../base/locatedJson.js';
import { check, problemsText } from '../base/validation.js';
import {
  presetSchema,
  workspaceFileSchema,
  type Preset,
  type WorkspaceContents,
} from '../contracts/presetSchema.js';
import type { Profile } from '../contracts/profileSchema.js';
import { workspacePlace } from './workspacePlace.js';

const emptyFile = '{\n  "version": 1\n}\n';
const format = { formattingOptions: { tabSize: 2, insertSpaces: true, eol: '\n' } };

/** The file of one workspace. Comments and trailing commas in it are accepted and kept. */
export class WorkspaceFile {
  constructor(readonly path: string) {}

  /** That of the workspace of this folder. */
  static in(folder: string): WorkspaceFile {
    return new WorkspaceFile(join(folder, workspacePlace));
  }

  /** None where there is no file. UserError (usage) with the line of what is wrong. */
  async presets(): Promise<Preset[]> {
    const text = await this.read();
    return text === undefined ? [] : (this.parse(text).presets ?? []);
  }

  /** None where there is no file. UserError (usage) with the line of what is wrong. */
  async profiles(): Promise<Profile[]> {
    const text = await this.read();
    return text === undefined ? [] : (this.parse(text).profiles ?? []);
  }

  /** UserError (usage): what is wrong with the file, or which presets there are. */
  async preset(name: string): Promise<Preset> {
    const all = await this.presets();
    const found = all.find((preset) => preset.name === name);
    if (found) return found;
    const names = all.map((preset) => preset.name).join(', ');
    const hint = names === '' ? 'Save one from the form of a new run' : `Choose one of: ${names}`;
    throw new UserError('usage', `${this.path} has no preset named ${name}`, hint);
  }

  /**
   * Adds the preset, or replaces the one of its name. UserError (usage) where the preset is not
   * right, and for a file that is not, which is left as it is.
   */
  async savePreset(preset: Preset): Promise<void> {
    const result = check(presetSchema, preset);
    if (!result.ok) {
      const what = `this cannot be a preset: ${problemsText(result.problems)}`;
      throw new UserError('usage', what, 'Correct it');
    }
    await this.save('presets', preset);
  }

  /**
   * Adds the profile, or replaces the one of its name. UserError (usage) for a file that is not
   * right, which is left as it is.
   */
  saveProfile(profile: Profile): Promise<void> {
    return this.save('profiles', profile);
  }

  private async save(list: 'presets' | 'profiles', entry: Preset | Profile): Promise<void> {
    const text = (await this.read()) ?? emptyFile;
    const entries: readonly { name: string }[] = this.parse(text)[list] ?? [];
    const index = entries.findIndex(({ name }) => name === entry.name);
    const edits = modify(text, [list, index], entry, { ...format, isArrayInsertion: index < 0 });
    const changed = applyEdits(text, edits);
    this.parse(changed);
    await mkdir(dirname(this.path), { recursive: true });
    const target = await realpath(this.path).catch(() => this.path); // a link stays one
    const info = await stat(target).catch(() => undefined);
    await writeFileAtomic(target, changed, 0o644); // others of the workspace read it too
    if (info) await chmod(target, info.mode & 0o777);
  }

  private async read(): Promise<string | undefined> {
    try {
      return (await readFile(this.path, 'utf8')).replace(/^\uFEFF/, '');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      const what = `${this.path} cannot be read: ${errorText(error)}`;
      throw new UserError('usage', what, 'Check its permissions', { cause: error });
    }
  }

  private parse(text: string): WorkspaceContents {
    const at = (line: number, what: string): UserError =>
      new UserError('usage', `${this.path}:${line}: ${what}`, { kind: 'correctWorkspaceFile', line });
    const tree = parseLocated(text, at);
    const result = check(workspaceFileSchema, getNodeValue(tree));
    if (result.ok) return result.data;
    const [first = { path: [], message: 'invalid' }] = result.problems;
    throw at(lineOfProblem(text, tree, first), problemsText(result.problems));
  }
}
