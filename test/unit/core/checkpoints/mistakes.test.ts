// What a model gets wrong: of predictions in memory, and of a table that is read in chunks.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import {
  accuracyOf,
  MistakeCount,
  mistakesOf,
  mostConfusions,
  mostSurest,
} from '../../../../src/core/checkpoints/mistakes.js';
import { mistakesOfTable, readPredictionTable } from '../../../../src/core/checkpoints/predictionTable.js';
import { mistakeLines } from '../../../../src/cli/mistakeTables.js';
import { predictionLine } from '../../../../src/cli/verbs/checkpoints/predict.js';
import { temporaryFolder } from '../../support/temporary.js';

const names = ['cat', 'dog', 'owl'];
const prediction = (file: string, label: string, probability: number) => ({
  file,
  top5: [
    { class: label, probability },
    { class: 'owl', probability: 0 },
  ],
});
const some = [
  prediction('/d/cat/1.jpg', 'cat', 0.9),
  prediction('/d/cat/2.jpg', 'dog', 0.6),
  prediction('/d/cat/3.jpg', 'dog', 0.8),
  prediction('/d/cat/4.jpg', 'owl', 0.99),
  prediction('C:\\d\\dog\\1.jpg', 'dog', 0.7),
  prediction('/d/dog/2.jpg', 'cat', 0.7),
  prediction('/d/unsorted/1.jpg', 'cat', 0.9),
  { file: '/d/owl/bad.jpg', top5: [] },
];

it('counts right ones, confusions, and the surest mistakes, by the folders of the pictures', () => {
  expect(mistakesOf(some, names)).toEqual({
    images: 6,
    right: 2,
    unlabelled: 1,
    classes: [
      { class: 'cat', images: 4, right: 1 },
      { class: 'dog', images: 2, right: 1 },
    ],
    confusions: [
      { class: 'cat', predicted: 'dog', images: 2 },
      { class: 'cat', predicted: 'owl', images: 1 },
      { class: 'dog', predicted: 'cat', images: 1 },
    ],
    surest: [
      { file: '/d/cat/4.jpg', class: 'cat', predicted: 'owl', probability: 0.99 },
      { file: '/d/cat/3.jpg', class: 'cat', predicted: 'dog', probability: 0.8 },
      { file: '/d/dog/2.jpg', class: 'dog', predicted: 'cat', probability: 0.7 },
      { file: '/d/cat/2.jpg', class: 'cat', predicted: 'dog', probability: 0.6 },
    ],
  });
});

it('says nothing where no picture lies in a folder of a class', () => {
  expect(mistakesOf([prediction('/d/new/1.jpg', 'cat', 0.9)], names)).toBeUndefined();
  expect(mistakesOf([{ file: '/d/cat/bad.jpg', top5: [] }], names)).toBeUndefined();
});

it('takes the folder of a path of Windows, and of a relative one by where one is', () => {
  const count = new MistakeCount(names);
  count.add('C:\\data\\dog\\1.jpg', 'dog', 1);
  count.add('1.jpg', 'dog', 1);
  expect(count.result).toMatchObject({ images: 1, right: 1, unlabelled: 1 });
  const here = process.cwd().split(/[/\\]/).at(-1) ?? '';
  expect(mistakesOf([prediction('1.jpg', 'x', 0.5)], [here])).toMatchObject({ images: 1, right: 0 });
});

it('keeps the surest mistakes alone, the first of equal ones, and no more confusions than are told', () => {
  const many = Array.from({ length: 40 }, (_, at) => `c${String(at).padStart(2, '0')}`);
  const count = new MistakeCount(many);
  let at = 0;
  for (const label of many) {
    for (const predicted of many) count.add(`/d/${label}/${at++}.jpg`, predicted, (at % 50) / 50);
  }
  const { images, right, classes, confusions, surest } = count.result!;
  expect([images, right, classes.length]).toEqual([1600, 40, 40]);
  expect(confusions).toHaveLength(mostConfusions);
  expect(surest).toHaveLength(mostSurest);
  expect(surest.every(({ probability }) => probability === 0.98)).toBe(true);
  expect(surest[0]?.file).toBe('/d/c01/48.jpg');
  expect(accuracyOf(classes[0]!)).toBe(1 / 40);
});

async function* piecesOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield await Promise.resolve(text.slice(at, at + size));
}
async function rowsOf(text: string, size = 7): Promise<unknown[]> {
  const rows: unknown[] = [];
  await readPredictionTable(piecesOf(text, size), 'p.csv', (row) => {
    rows.push(row);
  });
  return rows;
}
const head = 'path,class,probability,top5';

it('reads a table in pieces of any size: quotes, commas, line breaks, logits', async () => {
  const table = [
    `${head},logit_cat,"logit_a,b"`,
    '/d/cat/1.jpg,cat,0.9,cat:0.9 dog:0.1,3,-1',
    '"/d/cat/a,""b""\n2.jpg",dog,1e-05,"x,y:1",0,0',
    '/d/dog/3.jpg,"a,b",1,z:1,0,0',
  ];
  const expected = [
    { path: '/d/cat/1.jpg', class: 'cat', probability: 0.9 },
    { path: '/d/cat/a,"b"\n2.jpg', class: 'dog', probability: 0.00001 },
    { path: '/d/dog/3.jpg', class: 'a,b', probability: 1 },
  ];
  for (const size of [1, 2, 3, 7, 64, 1000]) {
    expect(await rowsOf(`${table.join('\n')}\n`, size)).toEqual(expected);
    expect(await rowsOf(table.join('\n'), size)).toEqual(expected);
  }
  expect(await rowsOf(`${head}\r\n/d/cat/1.jpg,cat,0.5,cat:0.5\r\n`)).toEqual([
    { path: '/d/cat/1.jpg', class: 'cat', probability: 0.5 },
  ]);
  expect(await rowsOf(`${head}\n`)).toEqual([]);
});

it('passes over a byte order mark, and empty lines at the end', async () => {
  const expected = [{ path: '/d/cat/1.jpg', class: 'cat', probability: 0.5 }];
  for (const end of ['', '\n', '\n\n', '\r\n\r\n', '\n\n\n', '\n\r']) {
    for (const size of [1, 7, 1000]) {
      expect(await rowsOf(`\ufeff${head}\n/d/cat/1.jpg,cat,0.5,${end}`, size)).toEqual(expected);
    }
  }
});

it.each([
  ['', 'p.csv is empty'],
  ['a,b\n1,2\n', 'p.csv is no table of predictions'],
  ['\ufeff', 'p.csv is no table of predictions'],
  [`${head}\n/d/1.jpg,cat,0.5,\n/d/2.jpg,cat\n`, 'image 2 of p.csv has no probability'],
  [`${head}\n/d/1.jpg,cat,1.5,\n`, 'image 1 of p.csv has no probability'],
  [`${head}\n/d/1.jpg,cat,many,\n`, 'image 1 of p.csv has no probability'],
  [`${head}\n/d/1.jpg,cat,nan,\n`, 'image 1 of p.csv has no probability'],
  [`${head}\n/d/1.jpg,cat,,\n`, 'image 1 of p.csv has no probability'],
  [`${head}\n/d/1.jpg\n`, 'image 1 of p.csv has no class'],
  [`${head}\n,cat,0.5,\n`, 'image 1 of p.csv has no path'],
  [`${head}\n/d/1.jpg,cat,0.5,\n\n/d/3.jpg,cat,0.5,\n`, 'image 2 of p.csv has no path'],
  [`${head}\n"/d/1.jpg,cat,0.5,\n`, 'p.csv ends between quotes'],
])('refuses %j', async (text, error) => {
  await expect(rowsOf(text)).rejects.toThrow(error);
});

it('counts a table of 50,000 rows', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'p.csv');
  const row = (_: unknown, at: number): string => {
    const label = names[at % 3] ?? '';
    return `/d/${label}/${at}.jpg,${at % 10 === 0 ? 'owl' : label},0.5,x:0.5`;
  };
  writeFileSync(file, [head, ...Array.from({ length: 50_000 }, row), ''].join('\n'));
  const { images, right, confusions } = await mistakesOfTable(file, names);
  expect([images, right]).toEqual([50_000, 46_666]);
  expect(confusions.map((each) => each.images)).toEqual([1667, 1667]);
  const another = `${file} is of another model: this one has no class owl. Name a table of this model.`;
  await expect(mistakesOfTable(file, ['cat', 'dog'])).rejects.toMatchObject({
    code: 'usage',
    message: another,
  });
  writeFileSync(file, `${head}\n/d/new/1.jpg,cat,0.5,cat:0.5\n`);
  await expect(mistakesOfTable(file, names)).rejects.toThrow('no image of');
  await expect(mistakesOfTable(join(folder, 'none.csv'), names)).rejects.toThrow('no such file');
});

it('keeps nothing of the text alive that it was given', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const many = Array.from({ length: 64 }, (_, at) => `a class of a long name ${at}`);
  const count = new MistakeCount(many);
  async function* rowPieces(): AsyncGenerator<string> {
    yield `${head}\n`;
    for (const [at, label] of many.entries()) {
      const probability = (at + 1) / many.length;
      const row = `/pictures/${label}/${at}.jpg,${many.at(at - 1) ?? ''},${probability},x`;
      yield await Promise.resolve(`${row}${','.repeat(1024 * 1024)}\n`);
    }
  }
  collect();
  const before = process.memoryUsage().heapUsed;
  await readPredictionTable(rowPieces(), 'p.csv', (row) => {
    count.add(row.path, row.class, row.probability);
  });
  collect();
  const kept = process.memoryUsage().heapUsed - before;
  expect(count.result).toMatchObject({ images: 64, right: 0, unlabelled: 0 });
  expect(kept).toBeLessThan(12 * 1024 * 1024); // of 64 MiB; of 20 where files alone keep it
});

it('shows no control characters of a name', () => {
  const bad = 'c\u001b[2Jat\n';
  const odd = prediction(`/d/${bad}/\u202e1.jpg`, 'dog', 0.5);
  const text = mistakeLines(mistakesOf([odd], [bad, 'dog'])!).join('\n');
  expect(text).toContain('c\\x1b[2Jat');
  expect(text).toContain('\\u202e1.jpg');
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u202e');
  expect(predictionLine({ file: 'a\n\u001b]0;b.jpg', top5: [{ class: bad, probability: 0.5 }] })).toBe(
    'a \\x1b]0;b.jpg: c\\x1b[2Jat 50.0%',
  );
});

it('is printed as tables, and as one line where all are right', () => {
  const lines = mistakeLines(mistakesOf(some.slice(0, 4).concat(some.slice(5)), names)!);
  expect(lines.join('\n')).toBe(
    [
      'right: 1 of 5 pictures in class folders, 20.0%, and 1 picture in no class folder',
      '',
      'least accurate classes:',
      'CLASS  RIGHT  PICTURES  ACCURACY',
      'dog        0         1      0.0%',
      'cat        1         4     25.0%',
      '',
      'most frequent mistakes:',
      'CLASS  TAKEN FOR  PICTURES',
      'cat    dog               2',
      'cat    owl               1',
      'dog    cat               1',
      '',
      'surest mistakes:',
      ' SURE  CLASS  TAKEN FOR  PICTURE',
      '99.0%  cat    owl        /d/cat/4.jpg',
      '80.0%  cat    dog        /d/cat/3.jpg',
      '70.0%  dog    cat        /d/dog/2.jpg',
      '60.0%  cat    dog        /d/cat/2.jpg',
    ].join('\n'),
  );
  expect(mistakeLines(mistakesOf(some.slice(0, 1), names)!)).toEqual([
    'right: 1 of 1 picture in class folders, 100.0%',
  ]);
});
