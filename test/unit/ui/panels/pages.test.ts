import { describe, expect, it } from 'vitest';
import { contentPolicy, escapeHtml, makeNonce, page } from '../../../../src/ui/panels/html.js';
import { htmlPage } from '../../../../src/core/scaling/html.js';
import { palettes } from '../../../../src/core/scaling/palettes.js';
import { dashboardPage } from '../../../../src/ui/panels/dashboardPage.js';
import { mistakesOf } from '../../../../src/core/checkpoints/mistakes.js';
import { predictionPage } from '../../../../src/ui/panels/predictionPage.js';
import { bakeOffHtml } from '../../../../src/core/bakeoff/pages.js';
import { untried, type BakeOffResult } from '../../../../src/core/bakeoff/result.js';
import { lostReportPage, reportOfState, reportPage } from '../../../../src/ui/panels/reportPage.js';
import { tensorboardPage, tensorboardQuery } from '../../../../src/ui/panels/tensorboardPage.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { duration, size } from '../../../../src/ui/figureText.js';

const run = { profile: 'local', id: 'r</script><b>', dir: '/w' };

describe('pages of webviews', () => {
  it('run only scripts with their nonce, and load nothing from elsewhere', () => {
    const policy = contentPolicy({ source: 'https://cdn', nonce: 'n' });
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'nonce-n'");
    expect(policy).not.toMatch(/script-src[^;]*(unsafe|\*)/);
    expect(policy).not.toContain('frame-src');
    expect(makeNonce()).not.toBe(makeNonce());
  });

  it('escape what they are given', () => {
    expect(escapeHtml(`<a href="x">'&`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;');
    expect(page({ nonce: 'n' }, '<t>', '', '')).toContain('<title>&lt;t&gt;</title>');
  });
});

it("a run's dashboard says that it connects before its script is there", () => {
  const place = { source: 'https://cdn', nonce: 'n', style: 'https://cdn/s.css', script: 'https://cdn/s.js' };
  const html = dashboardPage({ ...run, dir: nodePath('/w') }, place);
  expect(html).toMatch(/<div id="app" [^>]*><main [^>]*><p role="status">Connecting to the run…<\/p>/);
  expect(html).toContain('src="https://cdn/s.js"');
  expect(html).not.toContain('<b>');
});

const predictionPlace = {
  source: 'https://cdn',
  style: 'https://cdn/s.css',
  nonce: 'n',
  addressOf: (file: string) => `https://cdn${file}`,
};

it('a page of predictions tells what is wrong, where the folders name the classes', () => {
  const top5 = [{ class: 'rose', probability: 0.9 }];
  const predictions = ['/rose/1.jpg', '/a&b/2.jpg', '/new/3.jpg'].map((file) => ({ file, top5 }));
  const pageOf = (count: number): string => {
    const shown = predictions.slice(0, count);
    const mistakes = mistakesOf(shown, ['rose', 'a&b']);
    return predictionPage({ run: 'r', step: 1, predictions: shown, mistakes }, predictionPlace);
  };
  expect(pageOf(3)).toContain('<p>r · 3 pictures · 1 of 2 in class folders are right (50.0%)</p>');
  expect(pageOf(3)).toContain('<tr><td>a&amp;b</td><td>0 of 1</td><td>0.0%</td></tr>');
  expect(pageOf(3)).toContain('<tr><td>a&amp;b</td><td>rose</td><td>1</td></tr>');
  expect(pageOf(1)).toContain('1 of 1 in class folders are right (100.0%)');
  expect(pageOf(1)).not.toContain('<table>');
});

it('a page of predictions has each picture with its classes, and says what is none', () => {
  const top5 = [
    { class: 'rose <b>', probability: 0.914 },
    { class: 'tulip', probability: 0.05 },
  ];
  const html = predictionPage(
    {
      run: 'r',
      step: 1040,
      predictions: [
        { file: '/p/a&b.jpg', top5 },
        { file: '/p/text.jpg', top5: [] },
      ],
      mistakes: undefined,
    },
    predictionPlace,
  );
  expect(html).not.toContain('<table>');
  expect(html).toContain('<p>r · 2 pictures · 1 cannot be read as a picture</p>');
  expect(html).toContain('src="https://cdn/p/a&amp;b.jpg"');
  expect(html).toContain('<span>rose &lt;b&gt;</span><span>91.4%</span>');
  expect(html.match(/<img/g)).toHaveLength(1);
  expect(html).toContain('Use JPEG or PNG.');
  expect(html).toMatch(/h2 {[^}]*text-transform: none/); // a file's name as it is
});

describe("TensorBoard's tab", () => {
  it('shows TensorBoard in a frame of its own origin alone', () => {
    const html = tensorboardPage(
      { kind: 'serving', url: 'http://h:1/proxy/6006/?a=1&b', origin: 'http://h:1' },
      run,
      'n',
    );
    expect(html).toContain('frame-src http://h:1"');
    expect(html).toContain('src="http://h:1/proxy/6006/?a=1&amp;b"');
    expect(html).not.toContain('</script><b>');
    expect(tensorboardQuery(true)).toContain('darkMode=true');
  });

  it('says what is happening until then, and what helps', () => {
    expect(tensorboardPage({ kind: 'starting', what: 'connecting' }, run, 'n')).toContain('connecting…');
    const gone = tensorboardPage({ kind: 'gone', message: 'exit 1', lastLines: ['<x>'] }, run, 'n');
    expect(gone).toContain('exit 1');
    expect(gone).toContain('&lt;x&gt;');
    expect(gone).toContain('id="restart"');
  });
});

describe("a report's tab", () => {
  const place = { title: 'Bake-off of </script>', folder: 'bakeoff-lab-2026', file: 'bakeoff.html' };
  const exported = htmlPage('Bake-off of lab', ['<h1>Bake-off</h1>']);

  it("has the editor's colours, and keeps where its file is", () => {
    const html = reportPage(exported, place, 'n');
    expect(html).toContain("script-src 'nonce-n'");
    expect(html).toContain('--back:var(--vscode-editor-background)');
    expect(html).toContain(`body.vscode-dark,body.vscode-high-contrast{--text:${palettes.dark.text}`);
    const [, kept = ''] =
      /<script nonce="n">acquireVsCodeApi\(\)\.setState\((.*)\);<\/script>/.exec(html) ?? [];
    expect(reportOfState(JSON.parse(kept))).toEqual(place);
    expect(html.match(/<script/g)).toHaveLength(1);
    // The file alone has neither.
    expect(exported).not.toMatch(/vscode|<script/);
    expect(exported).toContain('@media (prefers-color-scheme:dark)');
  });

  it('offers a run with the settings that won', () => {
    const won = { ...untried({ ranks: 2, flags: ['--threads', '1'] }, 'trainyard run lab'), rates: [9] };
    const result: BakeOffResult = {
      ...{ version: 1, profile: "ada's", words: ['train', '--data', '/a "b" <c>'], created: 0 },
      ...{ model: null, device: null, leftOut: [], rounds: [], running: null, cancelled: false },
      ...{ budget: 60, spent: 60, candidates: [{ ...won, outcome: 'won' }] },
    };
    const html = reportPage(bakeOffHtml(result), place, 'n');
    const [, command, query = ''] = /<a href="command:([^?"]+)\?([^"]*)">New Run<\/a>/.exec(html) ?? [];
    expect(command).toBe('trainyard.newRun');
    expect(JSON.parse(decodeURIComponent(query))).toEqual([
      { profile: "ada's", words: [...result.words, '--threads', '1'], ranks: 2 },
    ]);
    expect(bakeOffHtml(result)).not.toContain('command:');
    expect(bakeOffHtml(result)).toContain("--ranks 2 -- train --data '/a");
    expect(reportPage(bakeOffHtml({ ...result, candidates: [] }), place, 'n')).not.toContain('New Run');
  });

  it('comes back from a name in the folder of reports alone', () => {
    for (const bad of [
      null,
      {},
      { ...place, folder: '..' },
      { ...place, file: 'a/b.html' },
      { ...place, folder: 1 },
    ]) {
      expect(reportOfState(bad)).toBeUndefined();
    }
    const lost = lostReportPage(place, '/home/<ada>/bakeoff.html', 'no such file', 'n');
    expect(lost).toContain('The report cannot be read from /home/&lt;ada&gt;/bakeoff.html: no such file.');
    expect(lost).toContain('setState');
  });
});

it('figures read well', () => {
  expect([0, 45, 59.6, 3600, 11_400, 180_000].map(duration)).toEqual([
    '0 s',
    '45 s',
    '1 min',
    '1 h',
    '3 h 10 min',
    '2 d 2 h',
  ]);
  expect([0, 999, 2_176_594, 204e6, 1.34e12].map(size)).toEqual([
    '0 B',
    '999 B',
    '2.2 MB',
    '204 MB',
    '1.3 TB',
  ]);
});
