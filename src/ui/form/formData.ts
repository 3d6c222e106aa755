// The data that the form names, looked at on the nodes a moment after it was typed.
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import { remedyOf } from '../../core/base/errors.js';
import {
  contentOf,
  lackOf,
  lookAtData,
  type DataContent,
  type DataLook,
} from '../../core/cluster/formData.js';
import { halvesOf, validationBeside, type Halves } from '../../core/cluster/halves.js';
import { canHoldOut } from '../../core/cluster/holdOut.js';
import type { Machine } from '../../core/cluster/nodes/machine.js';
import type { NodePath } from '../../core/base/nodePath.js';
import type { NamedData } from '../../core/plan/request/request.js';
import type { RunFormValues } from '../../core/plan/form/runFormValues.js';
import { formWords } from './formWords.js';

/** Milliseconds without a change, after which the nodes are asked. */
const pause = 400;

const fields = { data: 'data', 'eval-data': 'evalData', stage: 'stage' } as const;
type DataField = (typeof fields)[keyof typeof fields];

const isValidation = ({ name }: NamedData): boolean => name === 'eval-data';

export class FormData implements Disposable {
  private timer: NodeJS.Timeout | undefined;
  private machine: Machine | undefined;
  private data: readonly NamedData[] = [];
  private looks: readonly DataLook[] | undefined;
  /** Of the training images. */
  content: DataContent | undefined;
  /** Images for validation that are there, while none are named. */
  halves: Required<Halves> | undefined;
  /** What a start said of a field, until its text changes. */
  private refused: { field: DataField; text: string; typed: string } | undefined;

  /** `onChange`: the nodes have answered. `log`: of a node that did not. */
  constructor(
    private readonly onChange: () => void,
    private readonly log: (error: unknown) => void,
  ) {}

  /** What is named now, at the machine of the profile, where that is connected. */
  watch(machine: Machine | undefined, data: readonly NamedData[]): void {
    if (machine === this.machine && JSON.stringify(data) === JSON.stringify(this.data)) return;
    this.machine = machine;
    this.data = data;
    this.lookAgain(pause);
  }

  /** After so many milliseconds. */
  lookAgain(delay = 0): void {
    clearTimeout(this.timer);
    this.looks = undefined;
    this.content = undefined;
    this.halves = undefined;
    const { machine, data } = this;
    if (!machine || data.length === 0) return;
    this.timer = setTimeout(() => void this.look(machine, data), delay);
  }

  /** Whether the nodes have yet to say whether it is there. */
  get isLooking(): boolean {
    return this.machine !== undefined && this.data.length > 0 && this.looks === undefined;
  }

  /**
   * A folder of classes of which a part could be held out, while no images for validation are
   * named.
   */
  get whole(): { folder: NodePath; images: number | undefined } | undefined {
    const { machine, data, content, halves } = this;
    const [folder, ...others] = data;
    if (!machine || !folder || others.some(isValidation) || !content || halves) return undefined;
    return canHoldOut(machine) ? { folder: folder.path, images: content.images } : undefined;
  }

  /** Whether the error of a start is one of the data; then it stands at its field. */
  refuse(error: unknown, values: RunFormValues): boolean {
    const remedy = remedyOf(error);
    if (remedy?.kind !== 'correctData') return false;
    const field =
      fields[remedy.flag === 'eval-data' ? 'eval-data' : remedy.flag === 'stage' ? 'stage' : 'data'];
    this.refused = { field, text: formWords(error), typed: values[field] };
    this.lookAgain();
    return true;
  }

  /** What is wrong, by field. */
  problems(values: RunFormValues, profile?: Profile): Record<string, string> {
    const { refused, looks = [] } = this;
    const wrong: Record<string, string> = {};
    const said = refused?.typed === values[refused?.field ?? 'data'] ? refused : undefined;
    // What the nodes say now is newer than what the start said.
    const isSeen = looks.some(({ name }) => fields[name] === said?.field);
    if (said && !isSeen) wrong[said.field] = said.text;
    for (const look of looks) {
      const field = fields[look.name];
      const lack = lackOf(look, values[field].trim(), values, profile);
      if (lack !== undefined) wrong[field] = lack;
    }
    return wrong;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.machine = undefined;
  }

  private async count(machine: Machine, { path }: DataLook, data: readonly NamedData[]): Promise<void> {
    try {
      const content = await contentOf(machine, path);
      if (machine !== this.machine || data !== this.data) return;
      this.content = content;
      this.onChange();
    } catch (error) {
      this.log(error); // the form says nothing of them then
    }
  }

  private async look(machine: Machine, data: readonly NamedData[]): Promise<void> {
    let looks: readonly DataLook[] = [];
    try {
      looks = await lookAtData(machine, data, { partial: true });
    } catch (error) {
      this.log(error); // a start says it
    }
    if (machine !== this.machine || data !== this.data) return;
    this.looks = looks;
    this.onChange();
    const images = looks.find(({ name }) => name === 'data');
    if (!images) return;
    if (!data.some(isValidation)) await this.lookForHalves(machine, images, data);
    if (images.found[0]?.what === 'folder') await this.count(machine, images, data);
  }

  private async lookForHalves(
    machine: Machine,
    { path, found }: DataLook,
    data: readonly NamedData[],
  ): Promise<void> {
    try {
      const isFolder = found[0]?.what === 'folder';
      const halves = isFolder
        ? await halvesOf(machine, path)
        : { data: path, evalData: await validationBeside(machine, path) };
      if (machine !== this.machine || data !== this.data || halves.evalData === undefined) return;
      this.halves = { data: halves.data, evalData: halves.evalData };
      this.onChange();
    } catch (error) {
      this.log(error); // the form offers none then
    }
  }
}
