// Errors in the words of the run form, which has fields where a command line has flags.
import { errorWords } from '../../core/base/errors.js';
import type { Remedy } from '../../core/base/remedy.js';
import { adviceText } from '../remedies.js';

/** The message of anything that was thrown, with what to do about it in the form. */
export const formWords = (error: unknown): string => errorWords(error, remedyWords);

function remedyWords(remedy: Remedy): string {
  if (remedy.kind === 'correctData') {
    const more = remedy.profile === undefined ? 'put the data there' : 'upload the folder';
    return `Correct the path here, or ${more}`;
  }
  if (remedy.kind !== 'useCpu') return adviceText(remedy);
  const others: Record<typeof remedy.or, string> = {
    profileWithGpus: 'choose a profile with GPUs',
    otherGpus: 'wait, or name other "gpus" in the profile',
    packageIndex: 'look at the network there and at the package index that pip is set to',
    cudaBuild: 'install a build of the extension with CUDA',
  };
  return `Choose the device cpu, or ${others[remedy.or]}`;
}
