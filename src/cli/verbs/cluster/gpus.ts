import { exitCodes } from '../../../core/base/errors.js';
import type { NamedNode } from '../../../core/cluster/nodes/machine.js';
import type { HostSample } from '../../../core/contracts/metricsSchema.js';
import { HostSampler } from '../../../core/model/hosts/hostSampler.js';
import { lockHolder, processWords } from '../../../core/model/hosts/gpuHolders.js';
import { gpuNotes, missingFigures } from '../../../core/model/hosts/gpuTrouble.js';
import { cudaBuildLines } from '../../../core/setup/cudaBuild.js';
import type { Context, Verb } from '../../context.js';
import { bytesText } from '../../format.js';
import { errorWords } from '../../remedies.js';
import { untilSignal } from '../../signals.js';

export const gpus: Verb = {
  verb: 'gpus',
  summary: "shows a profile's cores, memory and GPUs",
  words: ['P'],
  flags: [{ name: 'watch', help: 'once a second, until Ctrl-C' }],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const { nodes } = context.machine;
    const local = nodes.length === 1 && profile.kind === 'local';
    const hosts = nodes.map((of): AskedHost => {
      const host: AskedHost = {
        of,
        cores: 0,
        take: async () => {
          host.cores = (await of.node.hello()).cores;
          const sample = await (await of.node.client()).request('host.sample');
          return local ? sample : { ...sample, host: of.name };
        },
      };
      return host;
    });
    if (!args.has('watch')) return once(context, hosts);
    const samplers = hosts.map((host) => {
      const sampler = new HostSampler(host.take);
      let trouble = '';
      sampler.onSample((result) => {
        const words = 'error' in result ? errorWords(result.error) : '';
        if ('sample' in result) show(context, result.sample, host);
        else if (words !== trouble) tell(context, words);
        trouble = words;
      });
      sampler.start();
      return sampler;
    });
    await untilSignal();
    for (const sampler of samplers) sampler.dispose();
    return exitCodes.done;
  },
};

interface AskedHost {
  of: NamedNode;
  /** Known once the host has answered. */
  cores: number;
  take: () => Promise<HostSample>;
}

/**
 * Shows every host once. The error of a host that does not answer goes to stderr. Where no host
 * answers, the first error is thrown.
 */
async function once(context: Context, hosts: readonly AskedHost[]): Promise<number> {
  const answers = await Promise.allSettled(hosts.map(({ take }) => take()));
  const errors = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as unknown] : [],
  );
  if (errors.length === hosts.length) throw errors[0];
  answers.forEach((answer, index) => {
    const host = hosts[index];
    if (host && answer.status === 'fulfilled') show(context, answer.value, host);
  });
  for (const error of errors) tell(context, errorWords(error));
  return errors.length === 0 ? exitCodes.done : exitCodes.connection;
}

function tell(context: Context, words: string): void {
  context.output.note(`trainyard: error: ${words}`);
}

function show(context: Context, sample: HostSample, { of, cores }: AskedHost): void {
  const { cudaBuild } = of;
  if (context.json) {
    const cuda_build = cudaBuild ? { release: cudaBuild.release ?? null, why: cudaBuild.why } : null;
    context.output.json({ type: 'sample', ...sample, cuda_build });
    return;
  }
  const memory = `${bytesText(sample.memory_used)} of ${bytesText(sample.memory_total)}`;
  const cpu = `${cores} ${cores === 1 ? 'core' : 'cores'} at ${sample.cpu_percent.toFixed(0).padStart(3)}%`;
  context.output.line(
    `${sample.host}  ${cpu}, memory ${memory}${
      sample.disk_free === null ? '' : `, ${bytesText(sample.disk_free)} of disk free`
    }`,
  );
  for (const words of missingFigures(sample)) context.output.line(`  ${words}; what is shown is older`);
  const asked = !sample.missing?.some(({ what }) => what === 'gpus');
  if (sample.gpus.length === 0 && asked) context.output.line('  no GPUs');
  for (const words of cudaBuildLines(cudaBuild, sample.gpus.length)) context.output.line(`  ${words}`);
  for (const gpu of sample.gpus) {
    const used = `${bytesText(gpu.memory_used)} of ${bytesText(gpu.memory_total)}`;
    const load = gpu.utilization === null ? '' : `, ${gpu.utilization.toFixed(0).padStart(3)}%`;
    const heat = gpu.temperature === null ? '' : `, ${gpu.temperature.toFixed(0)} °C`;
    const power = gpu.power_watts === null ? '' : `, ${gpu.power_watts.toFixed(0)} W`;
    const notes = gpuNotes(gpu).map((words) => `, ${words}`);
    context.output.line(`  GPU ${gpu.index}  ${gpu.name}  ${used}${load}${heat}${power}${notes.join('')}`);
    const lock = lockHolder(gpu);
    if (lock !== undefined) context.output.line(`    held by ${lock}`);
    for (const process of gpu.processes) {
      const size = process.memory_used === null ? '' : `, ${bytesText(process.memory_used)}`;
      context.output.line(`    ${processWords(process)}${size}`);
    }
  }
  for (const { gpus, count, by } of sample.waiting ?? []) {
    const who = by === '' ? 'a start' : by;
    context.output.line(`  ${who} waits for ${count} of GPU ${gpus.join(', ')}`);
  }
}
