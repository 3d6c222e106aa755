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
    const hosts = await Promise.all(
      nodes.map(async (of) => {
        const { name, node } = of;
        const { cores } = await node.hello();
        const take = async (): Promise<HostSample> => {
          const sample = await (await node.client()).request('host.sample');
          return local ? sample : { ...sample, host: name };
        };
        return { take, of, cores };
      }),
    );
    if (!args.has('watch')) {
      const samples = await Promise.all(hosts.map(({ take }) => take()));
      samples.forEach((sample, index) => {
        const host = hosts[index];
        if (host) show(context, sample, host);
      });
      return exitCodes.done;
    }
    const samplers = hosts.map((host) => {
      const sampler = new HostSampler(host.take);
      sampler.onSample((result) => {
        if ('sample' in result) show(context, result.sample, host);
        else context.output.note(`trainyard: error: ${errorWords(result.error)}`);
      });
      sampler.start();
      return sampler;
    });
    await untilSignal();
    for (const sampler of samplers) sampler.dispose();
    return exitCodes.done;
  },
};

interface Shown {
  of: NamedNode;
  cores: number;
}

function show(context: Context, sample: HostSample, { of, cores }: Shown): void {
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
