// The core has two users, the terminal and the editor. So none of its texts names a flag or a
// command of the terminal, a command of the editor, or a script of this repository: what to do
// about an error is a Remedy, which each user interface words.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../../src/core');

/** A flag; a verb of the terminal; a script; the title of a command of the editor. */
const foreign = /(?:^|[^\w-])--[a-z]|\btrainyard [a-z]|\bnpm (?:run|test|ci)\b|\bTrainyard: /;

/** Words for programs and files, not for people: argv, flags that are looked for, and `sbatch`. */
const forPrograms: Readonly<Record<string, RegExp>> = {
  // The command line that a model writes.
  'assist/actTools.ts': /^Words of the command: /,
  'bakeoff/candidates.ts': /^--[a-z-]+$/,
  'checkpoints/begin.ts': /^--device$/,
  'checkpoints/evaluate.ts': /^--[a-z-]+$/,
  'checkpoints/predict.ts': /^--[a-z-]+$/,
  'cluster/dataFlags.ts': /^--[a-z-]+$/,
  'cluster/check/deepCheck.ts': /^--[a-z-]+$/,
  'cluster/check/deepGpus.ts': /^--[a-z-]+$/,
  'cluster/formData.ts': /^--(data|eval-data)$/,
  'cluster/holdOut.ts': /^--[a-z-]+$/,
  'cluster/localMachine.ts': /^--help$/,
  // Of git, and of programs that start Python.
  'code/listing.ts': /^--[a-z-]+$/,
  'code/program.ts': /^--[a-z_-]+$/,
  'code/snapshot.ts': /^--[a-z-]+$/,
  'cluster/sshMachine.ts': /^--help$/,
  // About fields that are handed to sbatch.
  'contracts/slurmSchema.ts': /^(`--[a-z-]+` of sbatch|Further options of sbatch)/,
  // Of pip, and of uv.
  'environment/locked.ts': /^--extra-index-url $/,
  'environment/pylock.ts': /^ --hash=$/,
  'environment/uvLock.ts': /^--[a-z-]+$/,
  'measure/bakeOff.ts': /^--[a-z-]+$/,
  'measure/deepCheck.ts': /^--[a-z-]+$/,
  'measure/measureScaling.ts': /^--[a-z-]+$/,
  'plan/evaluated.ts': /^--[a-z-]+$/,
  'plan/demo.ts': /^--[a-z-]+$/,
  'model/earlyStop.ts': /^--early-stop$/,
  'plan/request/flagCheck.ts': /^--help$/,
  // Of Python.
  'plan/request/debugWish.ts': /^--check-hash-based-pycs$/,
  'plan/request/flags.ts': /^--[a-z-]+$/,
  'plan/origin.ts': /^--[a-z-]+$/,
  'plan/preflight.ts': /^--(json|data|eval-data)$/,
  'plan/proposal.ts': /^--[a-z-]+$/,
  'plan/resume.ts': /^--planned-ranks$/,
  // An option of sbatch, as the profile has it.
  'plan/request/hostWish.ts': /^--nodelist=$/,
  'plan/request/recordedRun.ts': /^--(eval-data|device)$/,
  'plan/request/request.ts': /^--[a-z-]+$/,
  'plan/form/runForm.ts': /^--[a-z-]+$/,
  'plan/spec.ts': /^--[a-z-]+$/,
  'plan/request/trainDefaults.ts': /^--[a-z-]+$/,
  'plan/request/trainerHelp.ts': /^--(help|model|device)$/,
  // Variables of CSS.
  'scaling/html.ts': /^\}\nbody\{/,
  'slurm/step.ts': /^--[a-z-]+(=[a-z0-9]*)?$/,
  'slurm/script.ts': /^--[a-z-]+(=[A-Za-z:@0-9]+)?$/,
  'sweep/metric.ts': /^--eval-data$/,
  'sweep/prune.ts': /^--steps$/,
  'sweep/trialWords.ts': /^--run-dir$/,
  'setup/pythonRuntime.ts': /^--[a-z-]+$/,
  'setup/wheels.ts': /^--[a-z-]+(=:all:)?$/,
};

interface Text {
  file: string;
  line: number;
  text: string;
}

/** Every string, and every part of a template, but not what is imported from where. */
function textsOf(file: string): Text[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const texts: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      texts.push({ file, line: line + 1, text: node.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'))
  .sort();
const found = files.flatMap(textsOf).filter(({ text }) => foreign.test(text));

it('no text of the core names a flag, a command or a script', () => {
  const wrong = found.filter(({ file, text }) => forPrograms[file]?.test(text) !== true);
  expect(wrong.map(({ file, line, text }) => `src/core/${file}:${line}: ${text}`)).toEqual([]);
});

it('every exception is in use', () => {
  const used = new Set(found.map(({ file }) => file));
  expect(Object.keys(forPrograms).filter((file) => !used.has(file))).toEqual([]);
});

it.each(['Use --ranks 4', '--yes', 'see trainyard runs', 'npm run build', 'use "Trainyard: Connect"'])(
  'would find: %s',
  (text) => {
    expect(text).toMatch(foreign);
  },
);

it.each(['trainyard-node', '~/.trainyard', 'install Trainyard again', 'a -- b', 'trainyard: said'])(
  'lets pass: %s',
  (text) => {
    expect(text).not.toMatch(foreign);
  },
);
