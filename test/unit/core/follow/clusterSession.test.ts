// A session that is closed while it connects, or whose profile changes. The machine is a stand-in,
// which answers when the test says so.
import { describe, expect, it } from 'vitest';
import { ClusterSession } from '../../../../src/core/follow/clusterSession.js';
import { Cancelled } from '../../../../src/core/base/errors.js';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';

const profile: Profile = { name: 'lab', kind: 'local' };

interface StandIn {
  answer: () => void;
  fail: () => void;
  disposed: boolean;
}

function sessionOfStandIns(by: Profile = profile): { session: ClusterSession; made: StandIn[] } {
  const made: StandIn[] = [];
  const session = new ClusterSession(by, () => {
    const own: StandIn = { answer: () => undefined, fail: () => undefined, disposed: false };
    const hello = new Promise((resolve, reject) => {
      own.answer = () => {
        resolve({ cores: 2, host: 'gpu1' });
      };
      own.fail = () => {
        reject(new Error('the connection was lost'));
      };
    });
    made.push(own);
    const machine = {
      node: { hello: () => hello },
      dispose: () => {
        own.disposed = true;
      },
    };
    return machine as unknown as Machine;
  });
  return { session, made };
}

describe('a session that is closed while it connects', () => {
  it.each(['disconnect', 'dispose'] as const)('by %s keeps no machine', async (close) => {
    const { session, made } = sessionOfStandIns();
    const opening = session.machine();
    session[close]();
    expect(made[0]?.disposed).toBe(true);
    made[0]?.answer();
    await expect(opening).rejects.toBeInstanceOf(Cancelled);
    expect(session.connected).toBeUndefined();
    expect(session.state.kind).not.toBe('connected');
  });

  it('connects anew at once, and the first attempt changes nothing any more', async () => {
    const { session, made } = sessionOfStandIns();
    const first = session.machine();
    session.disconnect();
    const second = session.machine();
    made[1]?.answer();
    expect(await second).toBe(session.connected);
    made[0]?.fail();
    await expect(first).rejects.toBeInstanceOf(Cancelled);
    expect(session.state).toEqual({ kind: 'connected', cores: 2, host: 'gpu1' });
    expect(made[1]?.disposed).toBe(false);
    session.dispose();
    expect(made[1]?.disposed).toBe(true);
  });
});

describe('a session that somebody has disconnected', () => {
  it('is not connected again by what goes on by itself, before somebody connects it', async () => {
    const { session, made } = sessionOfStandIns();
    const first = session.machineUnlessLeft();
    made[0]?.answer();
    expect(await first).toBe(session.connected);
    session.disconnect();
    await expect(session.machineUnlessLeft()).rejects.toMatchObject({
      code: 'connection',
      what: 'profile lab was disconnected',
    });
    expect(session.state.kind).toBe('disconnected');
    expect(made).toHaveLength(1);
    const wanted = session.machine();
    expect(session.isLeft).toBe(false);
    made[1]?.answer();
    expect(await session.machineUnlessLeft()).toBe(await wanted);
  });
});

describe('a session of a profile that changes', () => {
  it('is outdated where the way to a host changed, and not where fields only changed places', async () => {
    const { session, made } = sessionOfStandIns({
      name: 'lab',
      kind: 'ssh',
      hosts: [{ identityFile: '~/.ssh/lab', port: 2222, host: 'gpu1' }],
    });
    const opening = session.machine();
    made[0]?.answer();
    await opening;
    expect(session.isOutdated).toBe(false);
    // As the profile file gives it, in the schema's order.
    const host = { host: 'gpu1', port: 2222, identityFile: '~/.ssh/lab' };
    session.profile = { name: 'lab', kind: 'ssh', hosts: [host], portRange: '47000-47100' };
    expect(session.isOutdated).toBe(false);
    session.profile = { name: 'lab', kind: 'ssh', hosts: [{ ...host, identityFile: '~/.ssh/other' }] };
    expect(session.isOutdated).toBe(true);
    session.profile = { name: 'lab', kind: 'ssh', hosts: [host], head: 'gpu1' };
    expect(session.isOutdated).toBe(true);
  });
});
