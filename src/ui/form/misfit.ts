// Which fields of the run form do not fit what the nodes have.
import { UserError } from '../../core/base/errors.js';
import type { RunRequest } from '../../core/plan/request/request.js';
import { formWords } from './formWords.js';

/** What is wrong, by field. */
type FieldProblems = Record<string, string>;

/** The same run, with what one field alone asks for. */
const alone: Record<'gpus' | 'ranks', (request: RunRequest) => RunRequest> = {
  gpus: (request) => ({ ...request, ranks: undefined }),
  ranks: (request) => ({
    ...request,
    gpus: undefined,
    device: request.kind === 'train' ? 'auto' : undefined,
  }),
};

/**
 * `error`: why the run has no place. `place` throws where a run has none. Nothing where no field is
 * at fault, or what lacks can be waited for.
 */
export async function misfitFields(
  request: RunRequest,
  error: unknown,
  place: (request: RunRequest) => Promise<unknown>,
): Promise<FieldProblems> {
  if (!(error instanceof UserError) || request.wait) return {};
  const text = formWords(error);
  if (typeof error.hint === 'object' && error.hint.kind === 'fewerNodes') return { nodes: text };
  const asked = (['gpus', 'ranks'] as const).filter((field) => request[field] !== undefined);
  if (asked.length < 2) return Object.fromEntries(asked.map((field) => [field, text]));
  const wrong: FieldProblems = {};
  for (const field of asked) {
    try {
      await place(alone[field](request));
    } catch (reason) {
      wrong[field] = formWords(reason);
    }
  }
  // Each alone would do: it is both together that do not.
  return Object.keys(wrong).length > 0 ? wrong : { ranks: text };
}
