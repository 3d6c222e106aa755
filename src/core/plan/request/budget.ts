// What a run may cost: from what was typed, or the profile says.
import { UserError } from '../../base/errors.js';
import type { RunEntry } from '../../contracts/agentApi.js';
import type { Profile } from '../../contracts/profileSchema.js';
import type { RunBudget } from '../../contracts/runSchema.js';
import { costUntil, moneyText, priceOf } from '../../cost/runCost.js';

/** The share of a budget at which a run warns, where the profile names none. */
const usualWarning = 0.8;

/** In place of what the profile says, or what the run had. */
export interface BudgetWish {
  /** In the profile's currency. */
  budget?: number;
  budgetStop?: boolean;
}

/** An amount of money above 0. `what` is named where it is none. UserError (usage). */
export function amountOf(text: string, what: string): number {
  const amount = /^\d+(\.\d+)?$|^\.\d+$/.test(text) ? Number(text) : NaN;
  if (amount > 0 && Number.isFinite(amount)) return amount;
  throw new UserError('usage', `${what} must be an amount above 0, not "${text}"`, 'Write, say, 12.50');
}

/** Undefined where nobody asked for one. UserError (usage) where there is no price to count with. */
export function budgetOf({ profile, ...wish }: BudgetWish & { profile: Profile }): RunBudget | undefined {
  const amount = wish.budget ?? profile.budget;
  if (amount === undefined) {
    if (wish.budgetStop !== true) return undefined;
    throw new UserError('usage', 'a stop was asked for, and no budget', 'Give the amount of the budget too');
  }
  if (priceOf(profile) === undefined) {
    throw new UserError(
      'usage',
      `a budget needs a price, and profile ${profile.name} has none`,
      'Set "pricePerNodeHour" or "pricePerGpuHour" in the profile',
    );
  }
  const stop = wish.budgetStop ?? profile.budgetStop ?? false;
  return { amount, warnAt: profile.budgetWarning ?? usualWarning, stop };
}

/** UserError (usage) for a run that would stop at once. */
export function assertBudgetLeft({ id, run, state }: RunEntry, { budget, budgetStop }: BudgetWish): void {
  const cost = costUntil(run, state);
  if (budget === undefined || budgetStop !== true || cost === undefined || cost < budget) return;
  const money = (amount: number): string => moneyText(amount, run?.price?.currency ?? '');
  const what = `${id} has cost ${money(cost)}, and its budget is ${money(budget)}`;
  throw new UserError('usage', what, { kind: 'greaterBudget' });
}
