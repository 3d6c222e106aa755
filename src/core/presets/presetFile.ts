// The presets of a workspace: `.vscode/trainyard.json` in its folder.
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { applyEdits, getNodeValue, modify } from 'jsonc-parser';
import { errorText, systemCode, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { lineOfProblem, parseLocated } from '../base/locatedJson.js';
import { check, problemsText } from '../base/validation.js';
import { presetFileSchema, presetSchema, type Preset } from '../contracts/presetSchema.js';

/** The file's place below the folder of the workspace. */
export const presetPlace = '.vscode/trainyard.json';

const emptyFile = '{\n  "version": 1,\n  "presets": []\n}\n';
const format = { formattingOptions: { tabSize: 2, insertSpaces: true, eol: '\n' } };

/** The presets of one workspace. Comments and trailing commas in the file are accepted and kept. */
export class PresetFile {
  readonly path: string;

  /** `folder`: that of the workspace. */
  constructor(folder: string) {
    this.path = join(folder, presetPlace);
  }

  /** None where there is no file. UserError (usage) with the line of what is wrong. */
  async list(): Promise<Preset[]> {
    const text = await this.read();
    return text === undefined ? [] : this.parse(text);
  }

  /** UserError (usage): what is wrong with the file, or which presets there are. */
  async get(name: string): Promise<Preset> {
    const all = await this.list();
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
  async save(preset: Preset): Promise<void> {
    const result = check(presetSchema, preset);
    if (!result.ok) {
      const what = `this cannot be a preset: ${problemsText(result.problems)}`;
      throw new UserError('usage', what, 'Correct it');
    }
    const text = (await this.read()) ?? emptyFile;
    const index = this.parse(text).findIndex(({ name }) => name === preset.name);
    const edits = modify(text, ['presets', index], preset, { ...format, isArrayInsertion: index < 0 });
    const changed = applyEdits(text, edits);
    this.parse(changed);
    await mkdir(dirname(this.path), { recursive: true });
    await writeFileAtomic(this.path, changed);
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

  private parse(text: string): Preset[] {
    const at = (line: number, what: string): UserError =>
      new UserError('usage', `${this.path}:${line}: ${what}`, { kind: 'correctPresets', line });
    const tree = parseLocated(text, at);
    const result = check(presetFileSchema, getNodeValue(tree));
    if (result.ok) return result.data.presets;
    const [first = { path: [], message: 'invalid' }] = result.problems;
    throw at(lineOfProblem(text, tree, first), problemsText(result.problems));
  }
}
