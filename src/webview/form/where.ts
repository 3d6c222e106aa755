// Where the run goes, and what it may take there: profile, nodes, GPUs, Slurm, money.
import { html, nothing, type TemplateResult } from 'lit';
import type { FormBudget, FormSlurmField, FormValues, FormView, FromForm } from '../formProtocol.js';
import { checkBox, choiceField, textField } from './fields.js';
import { nodesOf } from './nodes.js';

/** The fields that a person changed. */
export type FormChange = Partial<FormValues>;
type ChangeForm = (change: FormChange) => void;

export const aboutSlots =
  'A slot is a place for one process on a node: a free GPU, or without GPUs what the profile\'s "slots" says';

/** In the list of profiles; a profile's name has no such letters. */
const adding = '+';

export function where(
  values: FormValues,
  view: FormView,
  change: ChangeForm,
  post: (message: FromForm) => void,
): TemplateResult {
  const { problems, isHere, usualNodes, budget, slurm } = view;
  const set =
    (name: keyof FormValues) =>
    (value: string): void => {
      change({ [name]: value });
    };
  const devices = ['auto', 'cpu', 'cuda'].map((value) => ({ value, label: value, group: '' }));
  return html`<fieldset>
      <legend>Where</legend>
      ${choiceField({
        id: 'profile',
        label: 'Profile',
        value: values.profile,
        choices: [...view.profiles, { value: adding, label: 'Add a cluster…', group: '' }],
        problem: problems['profile'],
        wide: true,
        change: (value) => {
          if (value === adding) post({ type: 'addCluster' });
          else set('profile')(value);
        },
      })}
      ${nodesOf(view, post)}
      ${
        isHere
          ? nothing
          : textField({
              id: 'nodes',
              label: 'Nodes',
              placeholder: usualNodes,
              value: values.nodes,
              problem: problems['nodes'],
              change: set('nodes'),
            })
      }
      ${
        isHere || slurm.length > 0
          ? nothing
          : textField({
              id: 'hosts',
              label: 'Hosts',
              placeholder: 'all',
              help: 'Only these, in place of a number: gpu1,gpu3.',
              value: values.hosts,
              problem: problems['hosts'],
              change: set('hosts'),
            })
      }
      ${textField({
        id: 'gpus',
        label: isHere ? 'GPUs' : 'GPUs of each node',
        placeholder: values.what === 'train' ? 'free ones, one a rank' : 'none',
        help: slurm.length > 0 ? 'A number; Slurm chooses which.' : '2 is any two, 0,2 are these.',
        value: values.gpus,
        problem: problems['gpus'],
        change: set('gpus'),
      })}
      ${textField({
        id: 'ranks',
        label: 'Ranks',
        placeholder: values.what === 'train' ? 'all that fit' : 'one',
        help: 'Processes of the run.',
        title: `Each takes a slot. ${aboutSlots}`,
        value: values.ranks,
        problem: problems['ranks'],
        change: set('ranks'),
      })}
      ${
        values.what === 'train'
          ? choiceField({
              id: 'device',
              label: 'Device',
              value: values.device,
              choices: devices,
              problem: problems['device'],
              change: set('device'),
            })
          : nothing
      }
      ${textField({
        id: 'timeLimit',
        label: 'Stops after',
        placeholder: 'no limit',
        help: 'With a checkpoint: 90s, 30m, 2h or 1d.',
        value: values.timeLimit,
        problem: problems['timeLimit'],
        change: set('timeLimit'),
      })}
      ${
        isHere
          ? nothing
          : textField({
              id: 'stage',
              label: 'Stage',
              placeholder: '/shared/images:/scratch/images',
              help: 'FROM:TO, a folder or address (s3://, https://) that each node gets on its own disk before; left out: what the profile says.',
              value: values.stage,
              problem: problems['stage'],
              wide: true,
              change: set('stage'),
            })
      }
      <div class="tabs wide">
        ${
          slurm.length > 0
            ? nothing
            : checkBox(
                'wait',
                'Wait in the queue for GPUs that are held; this window may be closed',
                values.wait,
                (wait) => {
                  change({ wait });
                },
              )
        }
        ${checkBox('tensorboard', 'Start TensorBoard with it', values.tensorboard, (tensorboard) => {
          change({ tensorboard });
        })}
      </div>
    </fieldset>
    ${
      slurm.length === 0
        ? nothing
        : html`<fieldset>
            <legend>Slurm, for this run</legend>
            ${slurm.map((one) => slurmField(one, values, view, change))}
          </fieldset>`
    }
    ${budget === null ? nothing : budgetFields(budget, values, view, change)}`;
}

function slurmField(
  { key, label, help, initial, choices }: FormSlurmField,
  values: FormValues,
  view: FormView,
  change: ChangeForm,
): TemplateResult {
  const common = {
    id: `slurm-${key}`,
    label,
    help,
    value: values.slurm[key] ?? '',
    problem: view.problems[`slurm.${key}`],
    wide: key === 'partition' && choices.length > 0,
    change: (value: string): void => {
      const others = Object.fromEntries(Object.entries(values.slurm).filter(([name]) => name !== key));
      change({ slurm: value === '' ? others : { ...others, [key]: value } });
    },
  };
  if (choices.length > 0) return choiceField({ ...common, choices });
  return textField({ ...common, placeholder: initial === '' ? "Slurm's own" : initial });
}

function budgetFields(
  { currency, initial, stops }: FormBudget,
  values: FormValues,
  { problems }: FormView,
  change: ChangeForm,
): TemplateResult {
  return html`<fieldset class="two">
    <legend>Cost</legend>
    ${textField({
      id: 'budget',
      label: `Budget in ${currency}`,
      placeholder: initial === '' ? 'none' : initial,
      help: 'What the run may cost.',
      value: values.budget,
      problem: problems['budget'],
      change: (value) => {
        change({ budget: value });
      },
    })}
    ${choiceField({
      id: 'budgetStop',
      label: 'Once it is spent',
      value: values.budgetStop,
      choices: [
        { value: '', label: `${stops ? 'stop' : 'go on'} (of the profile)`, group: '' },
        { value: 'stop', label: 'stop after a checkpoint', group: '' },
        { value: 'goOn', label: 'say so, and go on', group: '' },
      ],
      problem: undefined,
      change: (value) => {
        if (value === '' || value === 'stop' || value === 'goOn') change({ budgetStop: value });
      },
    })}
  </fieldset>`;
}
