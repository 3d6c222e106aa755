// A fault test has a short form, for every change, and a long one, for `npm run test:faults`, which
// sets the variable.

/** What this form of the tests takes. */
export const form = <T>(short: T, long: T): T => (process.env['TRAINYARD_FAULTS'] === 'long' ? long : short);
