// What a run may cost: what was typed goes before the profile, and a spent budget is not begun anew.
import { expect, it } from 'vitest';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { amountOf, assertBudgetLeft, budgetOf } from '../../../../src/core/plan/request/budget.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';

const priced: Profile = { name: 'lab', kind: 'local', pricePerNodeHour: 2, currency: 'EUR' };

it('takes the amount and the stop that were typed, else those of the profile', () => {
  expect(budgetOf({ profile: priced })).toBeUndefined();
  expect(budgetOf({ profile: priced, budget: 5 })).toEqual({ amount: 5, warnAt: 0.8, stop: false });
  const profile: Profile = { ...priced, budget: 50, budgetWarning: 0.5, budgetStop: true };
  expect(budgetOf({ profile })).toEqual({ amount: 50, warnAt: 0.5, stop: true });
  expect(budgetOf({ profile, budget: 1 })).toEqual({ amount: 1, warnAt: 0.5, stop: true });
  expect(budgetOf({ profile: { ...profile, budgetStop: false }, budgetStop: true })?.stop).toBe(true);
});

it('refuses what cannot be counted', () => {
  expect(() => budgetOf({ profile: { name: 'free', kind: 'local' }, budget: 5 })).toThrow(/needs a price/);
  expect(() => budgetOf({ profile: priced, budgetStop: true })).toThrow(/no budget/);
  expect(amountOf('12.50', 'it')).toBe(12.5);
  for (const wrong of ['0', '-1', '1e9', '5 EUR', '', 'NaN']) {
    expect(() => amountOf(wrong, 'it')).toThrow(/above 0/);
  }
});

it('refuses a run that would stop at once, by hand calculation', () => {
  // 2 EUR an hour: 1 h before, and half an hour now.
  const run = {
    price: { per: 'node', amount: 2, currency: 'EUR' },
    earlier: [{ from: 0, to: 3600, perHour: 2, currency: 'EUR' }],
  };
  const entry = {
    id: 'r',
    run,
    state: { started: 10_000, ended: 11_800, updated: 11_800 },
  } as unknown as RunEntry;
  expect(() => {
    assertBudgetLeft(entry, { budget: 3, budgetStop: true });
  }).toThrow('r has cost 3.00 EUR, and its budget is 3.00 EUR');
  assertBudgetLeft(entry, { budget: 3.01, budgetStop: true });
  assertBudgetLeft(entry, { budget: 1 }); // it only warns
});

it('is in the command line that starts the run again', () => {
  const line = commandLineOf({ profile: 'lab', words: ['true'], budget: 2.5, budgetStop: true });
  expect(line).toBe('trainyard run lab --budget 2.5 --budget-stop -- true');
  const goesOn = commandLineOf({ profile: 'lab', words: ['true'], budget: 2.5, budgetStop: false });
  expect(goesOn).toBe('trainyard run lab --budget 2.5 --no-budget-stop -- true');
});
