// What the run form says and does of a training that names no images for validation.
import type { NodePath } from '../../core/base/nodePath.js';
import { holdingOut, type HeldOut } from '../../core/cluster/holdOut.js';
import { commandLineOf } from '../../core/plan/request/commandLine.js';
import type { RunFormValues } from '../../core/plan/form/runFormValues.js';
import type { FormValidation } from '../../webview/formProtocol.js';

/** Holds out a part of the images of a folder on the nodes of a profile. UserError, Cancelled. */
export type HoldOut = (profile: string, folder: NodePath, images: number | undefined) => Promise<HeldOut>;

/** What holding out needs of the form. */
interface FilledIn {
  readonly values: RunFormValues;
  replace: (values: RunFormValues) => void;
  say: (text: string) => void;
}

export class HoldingOut {
  isBusy = false;

  /** The fields are filled in, unless they were changed meanwhile. UserError, Cancelled. */
  async run(
    form: FilledIn,
    { folder, images }: { folder: NodePath; images: number | undefined },
    act: HoldOut,
  ): Promise<void> {
    if (this.isBusy) return;
    const { profile, data } = form.values;
    this.isBusy = true;
    form.say('');
    try {
      const made = await act(profile, folder, images);
      const { values } = form;
      const isSame = values.profile === profile && values.data === data && values.evalData.trim() === '';
      if (isSame) form.replace({ ...values, data: made.data, evalData: made.evalData });
      this.isBusy = false;
      form.say(`Held out: ${made.said}`);
    } catch (error) {
      this.isBusy = false;
      form.say('');
      throw error;
    }
  }
}

/** Null where validation images are named, or none are needed. */
export function validationOf(
  { what, data, evalData }: RunFormValues,
  /** What is wrong with the images; nothing can be held out of them then. */
  lack: string | undefined,
  validation: FormValidation,
): FormValidation | null {
  const isAsked = what === 'train' && evalData.trim() === '' && !data.startsWith('synthetic');
  return isAsked && lack === undefined ? validation : null;
}

/** Empty while no folder is named. One rank makes the shards, wherever it runs. */
export function holdOutCommand({ profile, data }: RunFormValues, images: number | undefined): string {
  const from = data.trim().replace(/(.)\/+$/, '$1');
  if (!/^(\/|~\/)/.test(from)) return '';
  return commandLineOf({ profile, ranks: 1, words: holdingOut(from, `${from}-shards`, images) });
}
