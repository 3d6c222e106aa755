// What tests did, in numbers.

/**
 * `unsteady`: names of tests that failed beside others and passed by themselves; they are in `passed`.
 * @typedef {{ passed: number, failed: number, skipped: number, unsteady?: readonly string[] }} Counts
 */

/** @type {Readonly<Counts>} */
export const none = { passed: 0, failed: 0, skipped: 0 };

/**
 * @param {Counts} a
 * @param {Counts} b
 * @returns {Counts}
 */
export const added = (a, b) => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
  unsteady: [...(a.unsteady ?? []), ...(b.unsteady ?? [])],
});
