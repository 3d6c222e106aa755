// A price that a person types for a profile.
import { expect, it } from 'vitest';
import { priceAsTyped, typedPrice, withPrice } from '../../../../src/core/cost/typedPrice.js';
import { profileSchema } from '../../../../src/core/contracts/profileSchema.js';
import { demand } from '../../../../src/core/base/validation.js';

it('is of a node in USD, or of what is named', () => {
  expect(typedPrice(' 2.50 ')).toEqual({ pricePerNodeHour: 2.5 });
  expect(typedPrice('2.50 eur')).toEqual({ pricePerNodeHour: 2.5, currency: 'EUR' });
  expect(typedPrice('3 CHF per node')).toEqual({ pricePerNodeHour: 3, currency: 'CHF' });
  expect(typedPrice('0.9USD per GPU')).toEqual({ pricePerGpuHour: 0.9, currency: 'USD' });
  expect(typedPrice('0.9 per gpu')).toEqual({ pricePerGpuHour: 0.9 });
  expect(typedPrice('')).toEqual({});
});

it('is nothing else', () => {
  for (const text of ['cheap', '-1', '2,50', '1e3', '2 dollars', '2 USD a day', '.5', '1.']) {
    expect(typedPrice(text), text).toBeUndefined();
  }
});

it('is shown as it may be typed again', () => {
  for (const text of ['', '2.5 EUR', '0.9 USD per GPU', '3 USD']) {
    const fields = typedPrice(text);
    const profile = demand(profileSchema, { name: 'lab', kind: 'local', ...fields }, 'the profile');
    expect(priceAsTyped(profile)).toBe(text);
  }
});

it('takes the place of the price that was there', () => {
  const before = { name: 'lab', kind: 'local' as const, pricePerNodeHour: 2, currency: 'EUR' };
  expect(withPrice(before, { pricePerGpuHour: 0.9 })).toEqual({
    name: 'lab',
    kind: 'local',
    pricePerGpuHour: 0.9,
  });
  expect(withPrice(before, {})).toEqual({ name: 'lab', kind: 'local' });
});
