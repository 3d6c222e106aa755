// What Slurm's programs print of one small cluster, version by version. None of it was recorded: it
// is written after the manual pages and the release notes of the versions named. What this version of
// the tests' own Slurm (22.05) prints is read in test/slurm.

/** Partition debug* has n1 and n2 without GPUs; gpu has g1 (3 of 4 in use), g2 (idle), g3 (drained). */
export interface Printed {
  version: string;
  /** `sinfo -h -O`, or where a field is unknown `-h -o`. */
  sinfo: string;
  /** `sinfo -N --json`; null where there is none. */
  json: unknown;
  squeue: string;
  /** `scontrol show job -o`, of a job that ran out of memory. */
  scontrol: string;
  sacct: string;
}

const wide = (used: boolean, drained: string): string =>
  [
    ['debug*', 'up', '30:00', '2', 'idle', '8', '16000', '(null)', '0/16/0/16', '(null)'],
    [
      'gpu',
      'up',
      '1-00:00:00',
      '1',
      'mixed',
      '64',
      '512000',
      'gpu:a100:4(S:0-1)',
      '24/40/0/64',
      'gpu:a100:3(IDX:0,2-3)',
    ],
    [
      'gpu',
      'up',
      '1-00:00:00',
      '1',
      'idle',
      '64',
      '512000',
      'gpu:a100:4(S:0-1)',
      '0/64/0/64',
      'gpu:a100:0(IDX:N/A)',
    ],
    [
      'gpu',
      'up',
      '1-00:00:00',
      '1',
      drained,
      '64',
      '512000',
      'gpu:a100:4(S:0-1)',
      '0/0/64/64',
      'gpu:a100:0(IDX:N/A)',
    ],
  ]
    .map((fields) => (used ? fields : [...fields.slice(0, 9), '']))
    .map((fields) => (used ? `${fields.map((field) => field.padEnd(20)).join('|')}|` : fields.join('|')))
    .join('\n');

interface Node {
  name: string;
  partition: string;
  state: string[];
  cpus: number;
  idle: number;
  gres: string;
  used: string;
}

const gpuNode = (name: string, state: string[], idle: number, used: string): Node => ({
  ...{ name, partition: 'gpu', state, cpus: 64, idle, gres: 'gpu:a100:4(S:0-1)', used },
});
const plainNode = (name: string): Node => ({
  ...{ name, partition: 'debug', state: ['IDLE'], cpus: 8, idle: 8, gres: '', used: '' },
});
const nodes: Node[] = [
  plainNode('n1'),
  plainNode('n2'),
  gpuNode('g1', ['MIXED'], 40, 'gpu:a100:3(IDX:0,2-3)'),
  gpuNode('g2', ['IDLE'], 64, 'gpu:a100:0(IDX:N/A)'),
  gpuNode('g3', ['IDLE', 'DRAIN'], 64, 'gpu:a100:0(IDX:N/A)'),
];

/** The plugins openapi/v0.0.37 and v0.0.38. */
const nodesJson = {
  meta: { plugin: { type: 'openapi/v0.0.37', name: 'Slurm OpenAPI v0.0.37' } },
  errors: [],
  nodes: nodes.map(({ name, partition, state: [state = '', ...flags], cpus, idle, gres, used }) => ({
    ...{ name, hostname: name, partitions: [partition], state: state.toLowerCase(), state_flags: flags },
    ...{ cpus, alloc_cpus: cpus - idle, idle_cpus: idle, gres, gres_used: used },
    real_memory: cpus * 1000,
  })),
};

/** The plugins data_parser/v0.0.39 (23.02) to v0.0.43 (25.05). */
const groupsJson = (plugin: string): unknown => ({
  sinfo: nodes.map(({ name, partition, state, cpus, idle, gres, used }) => ({
    ...{ port: 6818, cluster: 'c', comment: '', reason: '', node: { state }, partition: { name: partition } },
    nodes: { allocated: 0, idle: 1, other: 0, total: 1, hostnames: [], addresses: [], nodes: [name] },
    cpus: { allocated: cpus - idle, idle, other: 0, total: cpus, minimum: cpus, maximum: cpus },
    memory: { minimum: cpus * 1000, maximum: cpus * 1000, allocated: 0 },
    gres: { total: gres, used },
  })),
  meta: { plugin: { type: '', name: '', data_parser: plugin } },
  errors: [],
  warnings: [],
});

const squeue = (reason: string): string =>
  [
    `42|PENDING|N/A|8:00:00|gpu|1001||${reason}`,
    '41|RUNNING|2026-11-24T22:04:17|1-01:59:57|gpu|1002|g[1-2]|None',
    '40|COMPLETING|2026-11-24T20:04:17|0:00|gpu|1002|g1|None',
  ].join('\n');

/** `more` stands between the fields of all versions and those of this one. */
const scontrol = (middle: string, end: string): string =>
  [
    'JobId=39 JobName=20261124-222105-mlp-017a UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A Priority=1001 Nice=0',
    'Account=vision QOS=normal JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null) Requeue=1 Restarts=0',
    `BatchFlag=1 Reboot=0 ExitCode=0:125 RunTime=00:10:00 TimeLimit=08:00:00 TimeMin=N/A ${middle}`,
    'Partition=gpu AllocNode:Sid=login:77 ReqNodeList=(null) ExcNodeList=(null) NodeList=g[1-2] BatchHost=g1',
    `NumNodes=2 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:* ${end}`,
  ].join(' ');

const sacct = [
  '37|CANCELLED by 1000|0:15|None assigned',
  '38|NODE_FAIL|1:0|g2',
  '39|OUT_OF_MEMORY|0:125|g[1-2]',
].join('\n');

export const versions: readonly Printed[] = [
  {
    version: '20.11',
    sinfo: wide(false, 'drained'),
    json: null,
    squeue: squeue('Resources'),
    scontrol: scontrol('AccrueTime=Unknown', 'TRES=cpu=2,node=2,billing=2 Power= NtasksPerTRES:0'),
    sacct,
  },
  {
    version: '21.08',
    sinfo: wide(true, 'drained'),
    json: nodesJson,
    squeue: squeue('Resources'),
    scontrol: scontrol('AccrueTime=Unknown', 'TRES=cpu=2,node=2,billing=2 TresPerNode=gpu:2 Power='),
    sacct,
  },
  {
    version: '22.05',
    sinfo: wide(true, 'drained*'),
    json: nodesJson,
    squeue: squeue('Resources'),
    scontrol: scontrol('AccrueTime=Unknown', 'TRES=cpu=2,node=2,billing=2 TresPerNode=gres:gpu:2 Power='),
    sacct,
  },
  ...[
    ['23.02', 'v0.0.39', 'Power='],
    ['23.11', 'v0.0.40', ''],
    ['24.05', 'v0.0.41', ''],
    ['24.11', 'v0.0.42', ''],
    ['25.05', 'v0.0.43', ''],
  ].map(([version = '', plugin = '', power = '']) => ({
    version,
    sinfo: wide(true, 'drained'),
    json: groupsJson(plugin),
    squeue: squeue('Resources'),
    scontrol: scontrol(
      'AccrueTime=Unknown',
      `ReqTRES=cpu=2,node=2,billing=2,gres/gpu=4 AllocTRES=cpu=2,node=2,billing=2,gres/gpu=4 TresPerNode=gres/gpu:2 ${power}`,
    ),
    sacct,
  })),
];
