// A price as a person types it: `2.50`, `2.50 EUR`, `0.90 USD per GPU`.
import type { Profile } from '../contracts/profileSchema.js';
import { priceOf } from './runCost.js';

type PriceFields = Pick<Profile, 'pricePerNodeHour' | 'pricePerGpuHour' | 'currency'>;

/** What `typedPrice` reads: of a profile that has no price, an empty text. */
export function priceAsTyped(profile: Profile): string {
  const price = priceOf(profile);
  if (!price) return '';
  return `${price.amount} ${price.currency}${price.per === 'gpu' ? ' per GPU' : ''}`;
}

/**
 * The fields of a profile that stand for this price of an hour; none for an empty text. Undefined
 * where the text is no price. A node is meant where no GPU is named, and USD where no currency is.
 */
export function typedPrice(text: string): PriceFields | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  const [, amount, currency, unit] =
    /^(\d+(?:\.\d+)?)(?:\s*([a-z]{3}))?(?:\s+per\s+(node|gpu))?$/i.exec(trimmed) ?? [];
  if (amount === undefined) return undefined;
  return {
    ...(unit?.toLowerCase() === 'gpu'
      ? { pricePerGpuHour: Number(amount) }
      : { pricePerNodeHour: Number(amount) }),
    ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
  };
}

/** The profile with this price in place of the one that it had. */
export function withPrice(profile: Profile, price: PriceFields): Profile {
  const rest = { ...profile };
  delete rest.pricePerNodeHour;
  delete rest.pricePerGpuHour;
  delete rest.currency;
  return { ...rest, ...price };
}
