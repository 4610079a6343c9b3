// `npm run bench`: speed and memory, each figure beside a bare baseline of the platform measured in the same run, and
// a Markdown table at the end. `--quick` is a smoke run, `--only NAME[,NAME]` runs some sections, and `--month` prints the
// bill of a month.

import { commandLine, failUsage, program } from '../../src/core/command-line.node.ts'
import { monthTable } from '../../src/http/platform/month-bill.ts'
import { billingLines } from './billing.node.ts'
import { coreLine } from './core.node.ts'
import { creditLines } from './credits.node.ts'
import { fileLines } from './files.node.ts'
import { hubLine } from './hub.node.ts'
import { machineLines } from './machine.node.ts'
import { mainnetLines } from './mainnet.node.ts'
import { neighborLines } from './neighbors.node.ts'
import { pastBookLines } from './past-books.node.ts'
import { pipelineLines } from './pipelines.node.ts'
import { repairLines } from './repair.node.ts'
import { infoLines, rpcLines, snapshotLines } from './requests.node.ts'
import { STREAM_SECTIONS } from './streams.node.ts'
import { type Line, tableOf } from './table.ts'
import { type Bench, RELAY_SOCKETS, startBench } from './targets.node.ts'
import { upstreamLines } from './upstream.node.ts'
import { x402Lines } from './x402.node.ts'

const SECTIONS: Readonly<Record<string, (bench: Bench) => Promise<Line[]>>> = {
  ...STREAM_SECTIONS,
  info: infoLines,
  credits: creditLines,
  upstream: upstreamLines,
  rpc: rpcLines,
  snapshot: snapshotLines,
}
/** Those that start what they need, before the others. */
const ALONE: Readonly<Record<string, (bench: Pick<Bench, 'quick' | 'say'>) => Promise<Line[]>>> = {
  core: async ({ quick }) => [coreLine(quick)],
  hub: async ({ quick }) => [hubLine(quick)],
  mainnet: mainnetLines,
  billing: billingLines,
  files: fileLines,
  books: pastBookLines,
  pipelines: pipelineLines,
  neighbors: neighborLines,
  repair: repairLines,
  x402: x402Lines,
  machine: machineLines,
}
const NAMES = [...Object.keys(ALONE), ...Object.keys(SECTIONS)]
/** More than this beside us, and the figures say more of the others than of Weir. */
const CALM_CORES = 0.2
/** Whatever hangs ends here. */
const LIMIT_MS = 3_000_000

const say = (text: string) => void process.stderr.write(`${text}\n`)

function options(): { quick: boolean; archive: boolean; month: boolean; names: readonly string[] } {
  const bench = program('npm run bench --', 'speed and memory beside a bare baseline', ['', '--only core,info'])
    .option('--quick', 'a smoke run')
    .option('--no-archive', 'a gateway without the archive')
    .option('--only <names>', `some sections: ${NAMES.join(',')}`)
    .option('--month', 'the bill of a month from counted operations, without a run')
  const { quick = false, archive, month = false, only } = commandLine(bench).opts()
  const names = only?.split(',') ?? NAMES
  const unknown = names.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) failUsage(bench, `option '--only <names>': there is no section '${unknown}'`)
  return { quick, archive, month, names }
}

async function run({ quick, archive, names }: ReturnType<typeof options>): Promise<Line[]> {
  const lines: Line[] = []
  const add = (some: readonly Line[]) => {
    lines.push(...some)
    for (const { what, bare = '', weir, ratio = '', cpu, load, goal } of some)
      say(
        `  ${what}: ${bare} bare, ${weir} Weir, ${ratio}${goal ? ` (goal ${goal})` : ''}` +
          `${cpu ? `; CPU ${cpu}` : ''}${load ? `; load ${load} cores` : ''}`,
      )
  }
  for (const [name, section] of Object.entries(ALONE)) if (names.includes(name)) add(await section({ quick, say }))
  if (names.every((name) => name in ALONE)) return lines
  say(`starting both (one relay takes all sockets, as the bare object does: RELAY_SOCKETS=${RELAY_SOCKETS})`)
  const bench = await startBench(quick, archive, say)
  const end = () => bench.stop().finally(() => process.exit(130))
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  try {
    for (const [name, section] of Object.entries(SECTIONS)) {
      if (!names.includes(name)) continue
      say(name)
      await bench.load.call('busy')
      const some = await section(bench)
      const load = (await bench.load.call('busy')).toFixed(2)
      add(some.map((line) => ({ load, ...line })))
    }
    const others = await bench.others()
    if (others > CALM_CORES) say(`other programs kept ${others.toFixed(1)} cores busy: repeat on a calm machine`)
  } finally {
    await bench.stop()
  }
  return lines
}

const limit = setTimeout(() => {
  say(`still not done after ${LIMIT_MS / 1000} s`)
  process.kill(process.pid, 'SIGTERM')
}, LIMIT_MS)
const start = performance.now()
try {
  const chosen = options()
  const table = chosen.month ? monthTable() : tableOf(await run(chosen))
  process.stdout.write(`\n${table}\n\n`)
  if (!chosen.month) say(`${((performance.now() - start) / 1000).toFixed(0)} s`)
} catch (error) {
  say(`the bench could not be finished: ${(error as Error).stack}`)
  process.exitCode = 1
} finally {
  clearTimeout(limit)
}
