// What a full disk took, as readers of a run's files tell it: lines that are missing, and a resume
// with another recipe.
import { describe, expect, it } from 'vitest';
import { parseMetric } from '../../../../src/core/contracts/metricsSchema.js';
import { eventLevel, eventText, markOf } from '../../../../src/core/model/marks.js';
import { RunModel } from '../../../../src/core/model/runModel.js';
import { parseEvent } from '../../../../src/core/contracts/runSchema.js';
import { startLine, stepLine } from '../../support/lines.js';

const gap = { kind: 'gap', time: 20, generation: 1, lines: 12, from: 8, to: 19 };

describe('a gap', () => {
  it('of the metrics is a warning in the log, and no step', () => {
    const model = new RunModel();
    for (const line of [startLine(), stepLine(5), gap, stepLine(18)].map(parseMetric)) {
      model.addMetric(line);
    }
    expect(model.metrics.lastStep?.step).toBe(18);
    const said = model.log.since(0).filter(({ text }) => text.includes('could not be written'));
    expect(said.map(({ level }) => level)).toEqual(['warning']);
    expect(said[0]?.text).toContain('12 lines of metrics, over 11 s');
  });

  it('of the journal is a mark of the disk', () => {
    const event = parseEvent(gap);
    expect(eventText(event)).toContain('12 lines of the journal');
    expect(eventLevel(event)).toBe('warning');
    expect(markOf(event)).toMatchObject({ kind: 'disk', time: 20 });
  });
});

describe('a resume with another recipe', () => {
  it('is a warning that names the changes', () => {
    const model = new RunModel();
    model.addMetric(parseMetric({ ...startLine(), recipe_changes: ['augment: standard, now none'] }));
    model.addMetric(parseMetric({ ...startLine(), recipe_changes: [] }));
    const said = model.log.since(0).filter(({ text }) => text.includes('recipe'));
    expect(said).toHaveLength(1);
    expect(said[0]?.text).toContain('augment: standard, now none');
  });
});
