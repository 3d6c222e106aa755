import { describe, expect, it } from 'vitest';
import { Cancelled, UserError } from '../../../../src/core/base/errors.js';
import { Questions, RetryPolicy } from '../../../../src/core/cluster/nodes/retry.js';
import { Unreached } from '../../../../src/core/ssh/base/failures.js';

const lost = new Error('lost');

describe('RetryPolicy', () => {
  it('waits longer and longer, thirty seconds at most, and forgets it all after a success', () => {
    const policy = new RetryPolicy();
    let now = 1_000_000;
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      policy.admit(now);
      policy.failed(lost, false, 'gpu1', now);
      const began = now;
      for (let admitted = false; !admitted;) {
        now += 100;
        try {
          policy.admit(now);
          admitted = true;
        } catch (error) {
          expect(error).toBe(lost);
        }
      }
      pauses.push(now - began);
    }
    expect(pauses[0]).toBeLessThanOrEqual(800);
    expect(pauses[4]).toBeGreaterThan(5000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(37_600);
    policy.succeeded();
    policy.admit(now);
    policy.failed(lost, false, 'gpu1', now);
    expect(() => {
      policy.admit(now + 300);
    }).toThrow(lost);
    policy.admit(now + 800);
  });

  it('goes on asking often where nobody answers, so that a healed link is used soon', () => {
    const policy = new RetryPolicy();
    const silent = new Unreached('gpu1 did not answer', 'Check the network');
    for (let attempt = 0; attempt < 20; attempt++) policy.failed(silent, false, 'gpu1', 1_000_000);
    expect(() => {
      policy.admit(1_000_000);
    }).not.toThrow(); // nobody asked before
    policy.failed(silent, false, 'gpu1', 1_000_000);
    expect(() => {
      policy.admit(1_002_000);
    }).toThrow(silent);
    policy.admit(1_003_800);
  });

  it('tries at once after sleep', () => {
    const policy = new RetryPolicy();
    let now = 1_000_000;
    for (let attempt = 0; attempt < 8; attempt++) policy.failed(lost, false, 'gpu1', now);
    now += 1000;
    policy.admit(now); // nobody asked before
    policy.failed(lost, false, 'gpu1', now);
    expect(() => {
      policy.admit(now + 1000);
    }).toThrow(lost);
    policy.admit(now + 4 * 3_600_000);
  });

  it('does not ask a person twice', () => {
    const policy = new RetryPolicy();
    policy.failed(lost, true, 'gpu1', 0);
    expect(() => {
      policy.admit(9_999_999);
    }).toThrow(
      expect.objectContaining({
        message: 'the login to gpu1 did not succeed: lost.',
        hint: { kind: 'askAgain', host: 'gpu1' },
      }),
    );
  });

  it('takes an attempt that was given up for no failure, unless a person gave up a question', () => {
    const policy = new RetryPolicy();
    policy.admit(1_000_000);
    policy.failed(new Cancelled(), false, 'gpu1', 1_000_000);
    policy.admit(1_000_001);
    policy.failed(new Cancelled('the login to gpu1 was given up'), true, 'gpu1', 1_000_002);
    expect(() => {
      policy.admit(9_999_999);
    }).toThrow(/the login to gpu1 did not succeed/);
  });

  it('passes on what is to be done before a person is asked again', () => {
    const policy = new RetryPolicy();
    const first = { kind: 'correctKeyFile', host: 'gpu1' } as const;
    policy.failed(new UserError('connection', 'the key is not there', first), true, 'gpu1', 0);
    expect(() => {
      policy.admit(9_999_999);
    }).toThrow(expect.objectContaining({ hint: { kind: 'askAgain', host: 'gpu1', first } }));
  });
});

it('Questions remembers about which hosts somebody was asked', async () => {
  const questions = new Questions({
    secret: () => Promise.resolve('x'),
    trust: () => Promise.resolve(true),
  });
  expect(questions.takeAsked('a')).toBe(false);
  await questions.secret({ host: 'a', user: 'u', kind: 'password', prompt: '', echo: false });
  await questions.trust([{ host: 'b', address: 'b', port: 22, type: 't', fingerprint: 'f' }]);
  expect([questions.takeAsked('a'), questions.takeAsked('a'), questions.takeAsked('b')]).toEqual([
    true,
    false,
    true,
  ]);
});
