// `npm run backfill -- --from … --to … SOURCE`: puts what is older than a gateway into its archive. Invariant: a body is sent
// again where no answer came, since one that is there already is passed over.

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { backoffMs } from '../core/backoff.ts'
import { runProgram, valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type BackfillResult, BackfillRun, type BatchResult } from './backfill/backfill-run.ts'
import { type ProgressMeter, progressMeter } from './backfill/progress-meter.node.ts'
import { type ReadBlock, SourceError } from './backfill/read-blocks.ts'
import { blockFiles, isNeeded, type PlannedFile } from './backfill/source-files.ts'
import { billText, bucketFiles, folderFiles, gatewayFiles } from './backfill/sources.node.ts'
import { ArchivedRange, type ArchiveGap, type Bound, BoundValue, isReversed, type Window } from './backfill/window.ts'
import type { GatewayClient } from './gateway.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, processShell, type Shell } from './shell.node.ts'

const PATH = '/admin/history/backfill'
const TRIES = 6
const RETRY = { firstMs: 1_000, capMs: 30_000, jitter: 0.5 }

const STATE = ['chain', 'from', 'before', 'gaps', 'next'] as const

interface BackfillTarget {
  readonly chain: string
  readonly held: ArchivedRange
}

const NOTHING_ARCHIVED =
  'The gateway has archived no block of its own yet, and what is older than its first is unknown: start a feeder, and run this a minute later.'

/** What the gateway has; or why it takes nothing. */
async function readTarget(gateway: GatewayClient): Promise<Result<BackfillTarget, string>> {
  const gaps: ArchiveGap[] = []
  for (let after = 0; ; ) {
    const state = await gateway.request<Responses['showBackfill']>('GET', `${PATH}?after=${after}`, STATE)
    if (!state.ok) return state
    const { chain, from, before, next } = state.value
    gaps.push(...state.value.gaps)
    if (before === null) return err(NOTHING_ARCHIVED)
    if (next === null) return ok({ chain, held: new ArchivedRange(from, before, gaps) })
    after = next
  }
}

/** Sends a body, and again while that may help. */
async function sendBatch(
  gateway: GatewayClient,
  body: readonly ReadBlock[],
  note: (sentence: string) => void,
  isStopped: () => boolean,
): Promise<Result<BatchResult, string>> {
  const packed = gzipSync(body.map(({ line }) => line).join('\n'))
  for (let tries = 0; ; tries++) {
    const taken = await gateway.sendPacked<Responses['backfill']>(PATH, ['blocks', 'segments', 'bytes', 'next'], packed)
    if (taken.ok) return taken
    const { sentence, isPassing } = taken.error
    if (!isPassing || tries === TRIES || isStopped()) return err(`${sentence} (Blocks ${rangeText(body)}.)`)
    const waitMs = backoffMs(RETRY, tries, Math.random())
    note(`${sentence} Trying again in ${Math.ceil(waitMs / 1_000)} s.`)
    await sleep(waitMs)
  }
}

const rangeText = (body: readonly ReadBlock[]) => `${body[0]?.height} to ${body.at(-1)?.height}, as lines`

const MB = 1_000_000

interface Options {
  readonly from: Bound
  readonly to?: Bound | undefined
  readonly yes?: true | undefined
  readonly key?: string | undefined
}

/** Files in their order; the number is of credits that they cost so far. */
interface OpenedSource {
  readonly files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>
  readonly credits: () => number
}

/** The program, on a shell. */
export function backfillProgram(shell: Shell, meter: ProgressMeter): Command {
  const program = gatewayProgram('npm run backfill --', 'puts what is older than a gateway into its archive', [
    '--from 2026-11-01 --to 2026-11-08 /data/node',
    '--from 985148182 /data/copied-archive',
    '--from 2026-10-01 --yes s3://hl-mainnet-node-data/node_fills_by_block',
    '--from 2026-10-01 https://weir.example.workers.dev',
  ])
  const act = commandRunner(shell)
  program
    .argument(
      '<source>',
      'a folder of node files or of an archive, s3://BUCKET/PREFIX, or the address of another gateway',
    )
    .requiredOption('--from <block>', 'the first: a height, a UTC day or a time', valueParser(BoundValue))
    .option('--to <block>', 'the last; up to where the gateway archives itself unless said', valueParser(BoundValue))
    .option('--yes', 'of a bucket: fetch, and pay for it')
    .option('--key <key>', 'of the other gateway, with data as a product; better WEIR_KEY of the environment')
    .action(act((gateway, source, options) => backfill(gateway, source, options, shell, meter)))
  return program as Command
}

async function backfill(
  gateway: GatewayClient,
  source: string,
  options: Options,
  shell: Shell,
  meter: ProgressMeter,
): Promise<Result<CommandResult, string>> {
  const { from, to } = options
  if (to !== undefined && isReversed(from, to)) return err('--to lies before --from: swap them.')
  const sink = await readTarget(gateway)
  if (!sink.ok) return sink
  const { liveFrom } = sink.value.held
  const beforeText = `block ${liveFrom.height} of ${new Date(liveFrom.time).toISOString()}`
  if (isReversed(from, 'height' in from ? { height: liveFrom.height - 1 } : { timeMs: liveFrom.time }))
    return err(`--from is not older than ${beforeText}, from which on the gateway archives itself.`)
  const window = { from, to: to ?? ('height' in from ? { height: liveFrom.height - 1 } : { timeMs: liveFrom.time }) }
  try {
    const opened = await openSource(source, window, sink.value, options, shell)
    if (!opened.ok) return opened
    meter.start(shell.note)
    const filling = new BackfillRun(window, sink.value.held, {
      send: (body) => sendBatch(gateway, body, meter.note, () => meter.isStopped),
      note: meter.note,
      progress: meter.update,
      isStopped: () => meter.isStopped,
    })
    const filled = await filling.run(opened.value.files)
    meter.end()
    return filled.ok ? ok(resultOf(filled.value, opened.value.credits())) : filled
  } catch (error) {
    meter.end()
    if (error instanceof SourceError) return err(error.message)
    throw error
  }
}

async function openSource(
  source: string,
  window: Window,
  { chain, held }: BackfillTarget,
  options: Options,
  { env, note }: Shell,
): Promise<Result<OpenedSource, string>> {
  if (/^https?:\/\//.test(source)) return openGateway(source, window, { chain, held }, options.key ?? env.WEIR_KEY)
  if (/^\w+:\/\//.test(source) && !source.startsWith('s3://'))
    return err(`${source} is no source: name a folder, s3://BUCKET/PREFIX, or the https:// address of a gateway.`)
  if (!source.startsWith('s3://')) {
    const files = await folderFiles(source)
    const planned = files.ok ? blockFiles(source, files.value, chain) : files
    return planned.ok ? ok({ files: planned.value, credits: () => 0 }) : planned
  }
  return openBucket(source, window, { chain, held }, options, { env, note })
}

async function openBucket(
  source: string,
  window: Window,
  { chain, held }: BackfillTarget,
  { yes }: Options,
  { env, note }: Pick<Shell, 'env' | 'note'>,
): Promise<Result<OpenedSource, string>> {
  const listed = await bucketFiles(source, env)
  if (!listed.ok) return listed
  const planned = blockFiles(source, listed.value.files, chain)
  if (!planned.ok) return planned
  if ('height' in window.from && planned.value[0]?.form.kind === 'node')
    return err('The files of a bucket are named by the hour: say --from as a time, such as 2026-11-01.')
  const wanted = planned.value.filter(({ form }) => isNeeded(form, window, held))
  const bytes = wanted.reduce((sum, file) => sum + file.bytes, 0)
  const bill = billText(wanted.length, bytes, listed.value.lists)
  if (wanted.length > 0 && yes !== true) return err(`${bill} Nothing was fetched: say --yes to fetch it.`)
  note(bill)
  return ok({ files: wanted, credits: () => 0 })
}

function openGateway(
  source: string,
  { from, to }: Window,
  { chain, held }: BackfillTarget,
  key: string | undefined,
): Result<OpenedSource, string> {
  if (!key) return err(`${source} needs a key of its own: set WEIR_KEY in the environment, or say --key.`)
  if ('height' in from)
    return err('Files of another gateway are listed by time: say --from as one, such as 2026-11-01.')
  let credits = 0
  const toMs = 'timeMs' in to ? Math.min(to.timeMs, held.liveFrom.time) : held.liveFrom.time
  const url = new URL(source).origin
  const files = gatewayFiles({ url, key, chain, fromMs: from.timeMs, toMs }, (cost) => {
    credits += cost
  })
  return ok({ files, credits: () => credits })
}

function resultOf(filled: BackfillResult, credits: number): CommandResult {
  const { sent, blocks, segments, bytes, faults, last, isStopped } = filled
  const reached = last ? `, up to block ${last.height} of ${new Date(last.time).toISOString()}` : ''
  const text =
    sent === 0
      ? 'The source has nothing there that the archive has not.'
      : `${blocks} blocks are new, in ${segments} segments of ${(bytes / MB).toFixed(1)} MB${reached}.`
  const notes = [
    ...(credits > 0 ? [`The links cost ${Number(credits.toFixed(6))} credits of the other gateway.`] : []),
    ...(faults > 0 ? [`${faults} lines or files could not be read: what they hold stays a gap until they can.`] : []),
    ...(isStopped ? ['Stopped: the same command goes on from there.'] : []),
  ]
  return { json: { ...filled, credits }, text, notes, isFailure: faults > 0 || isStopped }
}

if (import.meta.main) await runProgram(backfillProgram(processShell(), progressMeter()), process.argv.slice(2))
