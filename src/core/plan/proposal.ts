// The command line that Run Training proposes, to be changed and completed by the user.
import type { AgentNode } from '../agent/agentNode.js';

/** A network of the trainer, with a line about it. */
export interface ProposedModel {
  label: string;
  description: string;
}

/** Models of the trainer, each once. */
export const proposedModels: readonly ProposedModel[] = [
  { label: 'resnet20', description: 'small residual network for images of about 32 pixels' },
  { label: 'resnet56', description: 'a deeper one for images of about 32 pixels' },
  { label: 'resnet18', description: 'residual network for images of about 224 pixels' },
  { label: 'resnet34', description: 'twice as deep' },
  {
    label: 'resnet50',
    description: 'the usual choice for photographs: bottleneck blocks, 26 million weights',
  },
  { label: 'resnet101', description: 'the same with 45 million weights' },
  { label: 'resnet152', description: 'the same with 60 million weights' },
  { label: 'inception_v3', description: 'branches of several widths, for images of 299 pixels and more' },
  { label: 'mlp', description: 'two dense layers; quick, for trying things out' },
];

/**
 * Words for a training on `data` (`--data …`). On the GPUs where the head has some, since a run's
 * first rank is there. UserError (connection), Cancelled.
 */
export async function proposeTraining(
  machine: { readonly node: Pick<AgentNode, 'client'> },
  model: string,
  data: readonly string[],
): Promise<string[]> {
  const { gpus } = await (await machine.node.client()).request('host.sample');
  const device = gpus.some(({ problem }) => !problem) ? ['--device', 'cuda'] : [];
  return ['train', '--model', model, ...data, '--epochs', '10', '--batch-size', '32', ...device];
}
