// What people write for a stage and for a copy from a node.
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { copySource, parseStage, stageSpec } from '../../../../src/core/stage/spec.js';

describe('a stage', () => {
  it.each([
    ['/shared/images', undefined, '/shared/images'],
    ['~/images', undefined, '~/images'],
    ['gpu2:/data', 'gpu2', '/data'],
    ['10.0.0.7:~/data', '10.0.0.7', '~/data'],
    ['/with:colon', undefined, '/with:colon'],
    ['s3://bucket/images', undefined, 's3://bucket/images'],
    ['https://host:9000/train.tar', undefined, 'https://host:9000/train.tar'],
  ])('reads from %s', (from, host, path) => {
    expect(stageSpec({ from, to: '/scratch' })).toEqual({ host, from: path, to: '/scratch' });
  });

  it.each([
    ['images', '/scratch', 'images is no absolute path of a node'],
    ['gpu2:images', '/scratch', 'gpu2:images is no absolute path'],
    ['/images', 'scratch', 'scratch is no absolute path of a node'],
    ['/images', 'C:\\scratch', 'is a path of Windows'],
    ['', '/scratch', 'is no absolute path'],
    ['ftp://host/a', '/scratch', 'ftp://host/a cannot be read. Name a folder, or s3://'],
    ['s3://', '/scratch', 's3:// cannot be read'],
  ])('refuses %s to %s', (from, to, words) => {
    expect(() => stageSpec({ from, to })).toThrow(words);
  });

  it.each([
    ['/a:/b', undefined, '/a', '/b'],
    ['~/a:~/b', undefined, '~/a', '~/b'],
    ['gpu2:/a:/b', 'gpu2', '/a', '/b'],
    ['s3://bucket/a:~/b', undefined, 's3://bucket/a', '~/b'],
    ['http://host:80/a.tar:/b', undefined, 'http://host:80/a.tar', '/b'],
  ])('reads %s as a pair', (text, host, from, to) => {
    expect(parseStage(text)).toEqual({ host, from, to });
  });

  it.each(['/a', '/a:b', 'a:/b', '/a:/b:/c', ':/a:/b', ''])('refuses %s', (text) => {
    expect(() => parseStage(text)).toThrow('does not name two folders');
  });
});

describe('a copy', () => {
  const hosts = ['gpu1', 'gpu2'];
  const to = nodePath('/to');
  it('comes from a node where it names one of the hosts', () => {
    expect(copySource('gpu2:/data', to, hosts)).toEqual({ host: 'gpu2', from: '/data', to });
    expect(() => copySource('gpu2:data', to, hosts)).toThrow('data is no absolute path of gpu2');
  });
  it.each(['./images', 'gpu3:/data', 'C:\\images', './gpu1:/data'])('takes %s for a path of here', (from) => {
    expect(copySource(from, to, hosts)).toBeUndefined();
  });
});
