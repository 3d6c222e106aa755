// What was thrown may be anything, as far as types go.

/**
 * The code of a system error (`ENOENT` ...), if it is one.
 * @param {unknown} error
 */
export const codeOf = (error) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));
