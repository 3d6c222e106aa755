// Set Price.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { priceAsTyped, typedPrice, withPrice } from '../../../core/cost/typedPrice.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { changed, demandValid, isOwn } from './saveProfile.js';

/** Asks what an hour costs; an empty answer takes the price away. UserError (usage), Cancelled. */
export async function setPrice(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Set Price', isOwn);
  if (!session) return;
  const { profile } = session;
  const typed = await vscode.window.showInputBox({
    title: `Set Price of ${profile.name}`,
    prompt:
      'Of one node for one hour, for example 2.50 EUR; of one GPU: 0.90 USD per GPU. Empty: none. Runs that start from now on show what they cost',
    value: priceAsTyped(profile),
    ignoreFocusOut: true,
    validateInput: (text) =>
      typedPrice(text) ? undefined : 'Type an amount, as in 2.50 EUR or 0.90 USD per GPU',
  });
  const price = typed === undefined ? undefined : typedPrice(typed);
  if (!price) return;
  const store = (await ui.services.backend()).profiles();
  await store.change(profile.name, (current) => {
    const priced = withPrice(current, price);
    demandValid(priced);
    return priced;
  });
  await changed(ui);
}
