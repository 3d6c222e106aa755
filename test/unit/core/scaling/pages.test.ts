// The pages of a report, and the folder that has them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { measuredWords } from '../../../../src/core/measure/measureScaling.js';
import { newStudy, openStudy, writeReport } from '../../../../src/core/measure/scalingFolder.js';
import { scalingHtml } from '../../../../src/core/scaling/html.js';
import { scalingMarkdown } from '../../../../src/core/scaling/markdown.js';
import { reportOf } from '../../../../src/core/scaling/report.js';
import type { ScalingStudy, StudyPoint } from '../../../../src/core/scaling/study.js';
import { temporaryFolder } from '../../../support/harness.js';
import { madePoint } from './made.js';

const folder = temporaryFolder('scaling-pages');
afterAll(folder.remove);

const words = ['train', '--model', 'resnet20', '--data', '/a<b>&"c"'];
const point = (made: Parameters<typeof madePoint>[0]): StudyPoint => ({
  ...madePoint(made),
  run: `run-${made.replicas ?? 1}`,
  command: `trainyard run lab --ranks ${made.replicas ?? 1} -- ${words.join(' ')}`,
});
const study: ScalingStudy = {
  ...newStudy('lab', words, 30, 1_795_000_000),
  model: 'resnet20',
  device: 'cpu',
  allReduce: 'ring',
  currency: 'EUR',
  points: [
    point({ replicas: 1, perHour: 3.6 }),
    point({ replicas: 2, hosts: 2, step: 110, comm: 10, allReduceMs: 10, perHour: 7.2 }),
    point({ replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 80, perHour: 14.4 }),
  ],
  probe: { batch: 128, imagesPerSec: 330, run: 'run-p', command: 'trainyard run lab --ranks 1 -- train' },
  failed: [
    { mode: 'weak', replicas: 8, message: 'gpu4 was not reached', command: 'trainyard run lab --ranks 8' },
  ],
};

describe('a report', () => {
  const report = reportOf(study);

  it('has efficiency, bottleneck, predictions and the next node', () => {
    // 4 replicas: 128 / 0.18 s = 711.1 images/s, of 4 x 320 = 1,280.
    expect(report.weak.at(-1)?.efficiency.median).toBeCloseTo(711.11 / 1280, 4);
    expect(report.bottleneck?.kind).toBe('link');
    expect(report.predictions.map(({ replicas, hosts }) => [replicas, hosts])).toEqual([
      [8, 8],
      [32, 32],
      [256, 256],
      [1024, 1024],
    ]);
    expect(report.nextNode).toMatchObject({ replicas: 5, hosts: 5 });
    expect(report.nextNode?.morePerHour).toBeCloseTo(3.6, 9);
    // 14.40 / 3,600 s over 711.1 images/s: 5.625 a million.
    expect(report.nextNode?.millionNow).toBeCloseTo(5.625, 3);
    expect(report.leftOut).toHaveLength(3);
  });

  it('predicts nothing of one more node where more replicas were no faster', () => {
    const slower = reportOf({
      ...study,
      points: [
        point({ replicas: 1 }),
        point({ replicas: 2, hosts: 2, step: 250, comm: 150, allReduceMs: 90 }),
      ],
    });
    // 320 images/s alone, and 64 / 0.25 s with two.
    expect(slower.nextNode).toBeNull();
    const text = scalingMarkdown(slower);
    expect(text).toContain(
      'No gain was measured: 256.0 images/s with 2 replicas, and 320.0 images/s with 1 replica. So nothing is predicted of one more node.',
    );
    expect(text).not.toContain('1 replicas');
    expect(scalingHtml(slower)).not.toMatch(/\b1 (replicas|hosts)/);
  });

  it('is Markdown with tables and commands', () => {
    const text = scalingMarkdown(report);
    expect(text).toContain('**The link between the replicas holds them up: 44% of a step with 4 replicas.**');
    expect(text).toContain(
      '| 4 | 4 | 32 | 711.1 | 711.1 to 711.1 | 2.22 | 55.6% | 180 | 55.6% | 44.4% | 0.0% | 80 |',
    );
    expect(text).toContain('## Prediction (not measured)');
    expect(text).toContain('A million images cost 5.63 EUR now');
    expect(text).toContain('- weak scaling with 8 replicas failed: gpu4 was not reached');
    for (const { command } of [...study.points, ...study.failed]) expect(text).toContain(command);
  });

  it('is one HTML page that loads nothing and escapes what it shows', () => {
    const page = scalingHtml(report);
    expect(page).not.toMatch(/<script|<link|https?:|url\(/);
    expect(page).toContain('/a&lt;b&gt;&amp;&quot;c&quot;');
    expect(page).not.toContain('<b>');
    expect(page.match(/<svg/g)).toHaveLength(2);
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
    expect(page).toContain('prefers-color-scheme:dark');
  });

  it('predicts nothing where no point crosses hosts, unless the link is named', () => {
    const inside = { ...study, points: study.points.map((each) => ({ ...each, hosts: 1 })) };
    const silent = reportOf(inside);
    expect(silent.predictions).toEqual([]);
    expect(silent.nextNode).toBeNull();
    expect(silent.notes.join(' ')).toContain('nothing is known of the link between hosts');
    const named = reportOf(inside, { bitsPerSecond: 1e10, latency: 5e-5 });
    expect(named.predictions).toHaveLength(4);
    expect(named.notes.join(' ')).toContain('predictions rest on the link that was named');
  });

  it('says that crowded points tell of communication alone', () => {
    const crowded = {
      ...study,
      points: [point({ replicas: 1, cores: 2 }), point({ replicas: 4, cores: 2 })],
    };
    expect(reportOf(crowded).notes[0]).toMatch(/^With 4 replicas the ranks of a machine share fewer cores/);
    expect(reportOf({ ...study, points: [] }).bottleneck).toBeNull();
    expect(scalingHtml(reportOf({ ...study, points: [] }))).not.toMatch(/NaN|undefined/);
  });
});

describe('its folder', () => {
  const asked = newStudy('lab', words, 30, 1);

  it('is gone on with, where it has the same measurement', async () => {
    const path = join(folder.path, 'a', 'b');
    expect(await openStudy(path, asked)).toBe(asked);
    await writeReport(path, study);
    expect(await openStudy(path, asked)).toEqual(study);
    expect(readFileSync(join(path, 'scaling.html'), 'utf8')).toContain('<h1>Scaling</h1>');
    const data = JSON.parse(readFileSync(join(path, 'scaling.json'), 'utf8')) as { report: object };
    expect(data.report).toMatchObject({ bottleneck: { kind: 'link' } });
    await expect(openStudy(path, newStudy('lab', words, 31, 1))).rejects.toThrow(/has another measurement/);
    await expect(openStudy(path, newStudy('other', words, 30, 1))).rejects.toThrow(/on lab, 30 steps/);
  });

  it('is refused where its file is none', async () => {
    writeFileSync(join(folder.path, 'scaling.json'), '{"version":');
    await expect(openStudy(folder.path, asked)).rejects.toThrow(/is not JSON/);
    writeFileSync(join(folder.path, 'scaling.json'), '{"version":1}');
    await expect(openStudy(folder.path, asked)).rejects.toThrow(/is no measurement of scaling/);
    writeFileSync(join(folder.path, 'file'), '');
    await expect(writeReport(join(folder.path, 'file'), study)).rejects.toThrow(/cannot be written/);
  });
});

it('measures a training, with flags of its own left out', () => {
  const evaluated = ['--eval-data', 'x', '--eval-on', 'ranks', '--early-stop', '3'];
  expect(measuredWords([...words, '--epochs', '3', '--log-every=5', ...evaluated])).toEqual(words);
  expect(() => measuredWords(['python', 'a.py'])).toThrow(/only a training of the trainer/);
});
