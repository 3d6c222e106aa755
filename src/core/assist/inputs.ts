// Inputs that several tools have.
import * as z from 'zod/mini';

/** A schema with words for the model. */
export const described = <S extends z.ZodMiniType>(schema: S, description: string): S =>
  schema.check(z.describe(description));

/** The name of a profile. */
export const profileInput = described(z.string(), 'Name of a profile; local is always there.');

/** How a run is named. */
export const runInputs = {
  run: described(z.string(), 'Id of a run, its name, or last for the newest.'),
  profile: described(
    z.optional(z.string()),
    'Whose run. By default the profile on which this machine started it, else local.',
  ),
};

/** How a run is named that is to be changed. */
export const exactRunInputs = {
  ...runInputs,
  run: described(z.string(), 'Whole id of a run.'),
};
