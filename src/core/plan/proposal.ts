// The command line that Run Training proposes, to be changed and completed by the user.

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

/** Words for a training on `data` (`--data …`). Its device is chosen when it starts. */
export const proposeTraining = (model: string, data: readonly string[]): string[] => [
  ...['train', '--model', model, ...data, '--epochs', '10', '--batch-size', '32'],
];
