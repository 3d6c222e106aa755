// What an address holds on two nodes' own disks: the head asks, and only for what has changed.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { stageSpec } from '../../../src/core/stage/spec.js';
import type { Staged } from '../../../src/core/stage/staging.js';
import { serveBucket, type S3Bucket } from '../../support/s3Bucket.js';
import { serve } from '../../support/webServer.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-stage-address-'));
const account = { id: 'AKIDEXAMPLE', secret: 'wJalr/XUtn+FEMI' };
const shard = Buffer.alloc(3_000_000, 'some bytes of a shard, ');
let cluster: TestCluster;
let machine: SshMachine;
let bucket: S3Bucket;

const stage = (from: string, to: string): Promise<Staged> =>
  machine.stage(cluster.profile, stageSpec({ from, to }));
const got = ({ nodes }: Staged): number[] => nodes.map(({ files }) => files);
const homes = (): string[] => cluster.practice.nodes.map(({ home }) => home);
const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.trainyard-stage')
    .sort();

/** As `aws configure` leaves them, on the head alone. */
function writeAccount(secret: string): void {
  const [head = ''] = homes();
  mkdirSync(join(head, '.aws'), { recursive: true });
  const keys = `aws_access_key_id = ${account.id}\naws_secret_access_key = ${secret}`;
  writeFileSync(join(head, '.aws/credentials'), `[default]\n${keys}\n`);
  writeFileSync(join(head, '.aws/config'), `[default]\nendpoint_url = ${bucket.url}\n`);
}

beforeAll(async () => {
  bucket = await serveBucket('pictures', account);
  bucket.objects.set('flowers/train/1.jpg', Buffer.from('one'));
  bucket.objects.set('flowers/train/a name+&.jpg', Buffer.from('two'));
  bucket.objects.set('flowers/train/', Buffer.alloc(0));
  bucket.objects.set('flowers/shard', shard);
  bucket.objects.set('flowers/empty', Buffer.alloc(0));
  bucket.objects.set('flowers-of-others/3.jpg', Buffer.from('three'));
  cluster = await testCluster(dir, { nodes: 2 });
  machine = cluster.machine();
});
beforeEach(() => {
  bucket.asked.length = 0;
  writeAccount(account.secret);
});
afterAll(async () => {
  await cluster.stop();
  await bucket.close();
  rmSync(dir, { recursive: true, force: true });
});

it('gets the objects below a prefix once, and goes on where a connection broke', async () => {
  bucket.cuts = [1_000_000];
  expect(got(await stage('s3://pictures/flowers', '~/flowers'))).toEqual([4, 4]);
  for (const home of homes()) {
    const to = join(home, 'flowers');
    expect(namesIn(to)).toEqual(['empty', 'shard', 'train', 'train/1.jpg', 'train/a name+&.jpg']);
    expect(readFileSync(join(to, 'shard')).equals(shard)).toBe(true);
    expect(readFileSync(join(to, 'train/a name+&.jpg'), 'utf8')).toBe('two');
  }
  const objects = bucket.asked.filter((key) => key !== '?').sort();
  const shards = ['flowers/shard', 'flowers/shard'];
  expect(objects).toEqual(['flowers/empty', ...shards, 'flowers/train/1.jpg', 'flowers/train/a name+&.jpg']);
});

it('asks for the list alone where nothing has changed', async () => {
  expect(got(await stage('s3://pictures/flowers', '~/flowers'))).toEqual([0, 0]);
  expect(new Set(bucket.asked)).toEqual(new Set(['?']));
});

it('gets what has changed, and removes what the bucket no longer has', async () => {
  bucket.objects.set('flowers/train/1.jpg', Buffer.from('uno'));
  bucket.objects.delete('flowers/empty');
  expect(got(await stage('s3://pictures/flowers', '~/flowers'))).toEqual([1, 1]);
  expect(bucket.asked.filter((key) => key !== '?')).toEqual(['flowers/train/1.jpg']);
  for (const home of homes()) {
    expect(readFileSync(join(home, 'flowers/train/1.jpg'), 'utf8')).toBe('uno');
    expect(existsSync(join(home, 'flowers/empty'))).toBe(false);
  }
});

it('takes one object by its whole name', async () => {
  expect(got(await stage('s3://pictures/flowers/shard', '~/one'))).toEqual([1, 1]);
  for (const home of homes()) expect(namesIn(join(home, 'one'))).toEqual(['shard']);
});

it('says who may not read, or that nothing is there, and makes nothing in its place', async () => {
  writeAccount('another');
  const refused = stage('s3://pictures/flowers', '~/refused');
  await expect(refused).rejects.toThrow(/127\.0\.0\.\d+: s3:.* may not be read with key AKIDEXAMPLE/);
  writeAccount(account.secret);
  await expect(stage('s3://pictures/trees', '~/refused')).rejects.toThrow('there is no object below');
  await expect(stage('s3://films/all', '~/refused')).rejects.toThrow('there is no s3://films/all');
  bucket.objects.set('odd/../../x', Buffer.from('x'));
  await expect(stage('s3://pictures/odd', '~/refused')).rejects.toThrow('leads out of the folder');
  for (const home of homes()) expect(existsSync(join(home, 'refused'))).toBe(false);
});

it('refuses objects of which one is the folder of another', async () => {
  bucket.objects.set('both/a', Buffer.from('a'));
  bucket.objects.set('both/a/b', Buffer.from('b'));
  await expect(stage('s3://pictures/both', '~/both')).rejects.toThrow('is a file and a folder in one');
});

it('takes a file of the web, and asks whether it has changed', async () => {
  const web = await serve(shard);
  try {
    const stageAgain = async (): Promise<number[]> => got(await stage(`${web.url}/train.tar`, '~/web'));
    expect(await stageAgain()).toEqual([1, 1]);
    expect(await stageAgain()).toEqual([0, 0]);
    for (const home of homes()) expect(readFileSync(join(home, 'web/train.tar')).equals(shard)).toBe(true);
    expect(web.asked.map(({ ifNoneMatch }) => ifNoneMatch === undefined)).toEqual([true, false]);
    await expect(stage(`${web.url}/`, '~/none')).rejects.toThrow('names no file');
  } finally {
    await web.close();
  }
});
