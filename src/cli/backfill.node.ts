// `npm run backfill -- --from … --to … SOURCE`: fills the archive with blocks older than the gateway. Invariant: a batch without
// a response is sent again, which is safe because the gateway skips archived blocks.

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
  'The gateway has not archived any block itself yet, so the end of the backfill is unknown. Start a feeder, and run this command a minute later.'

/** The archived range of the gateway, or why it accepts no backfill. */
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

/** Sends a batch, with retries while they may help. */
async function sendBatch(
  gateway: GatewayClient,
  batch: readonly ReadBlock[],
  note: (message: string) => void,
  isStopped: () => boolean,
): Promise<Result<BatchResult, string>> {
  const packed = gzipSync(batch.map(({ line }) => line).join('\n'))
  for (let tries = 0; ; tries++) {
    const sent = await gateway.sendPacked<Responses['backfill']>(PATH, ['blocks', 'segments', 'bytes', 'next'], packed)
    if (sent.ok) return sent
    const { sentence, isPassing } = sent.error
    if (!isPassing || tries === TRIES || isStopped()) return err(`${sentence} (Blocks ${rangeText(batch)}.)`)
    const waitMs = backoffMs(RETRY, tries, Math.random())
    note(`${sentence} Retrying in ${Math.ceil(waitMs / 1_000)} s.`)
    await sleep(waitMs)
  }
}

const rangeText = (batch: readonly ReadBlock[]) => `${batch[0]?.height} to ${batch.at(-1)?.height}`

const MB = 1_000_000

interface Options {
  readonly from: Bound
  readonly to?: Bound | undefined
  readonly yes?: true | undefined
  readonly key?: string | undefined
}

/** Files in order, and the credits spent on them so far. */
interface OpenedSource {
  readonly files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>
  readonly credits: () => number
}

export function backfillProgram(shell: Shell, meter: ProgressMeter): Command {
  const program = gatewayProgram('npm run backfill --', 'fill the archive of a gateway with older blocks', [
    '--from 2026-11-01 --to 2026-11-08 /data/node',
    '--from 985148182 /data/copied-archive',
    '--from 2026-10-01 --yes s3://hl-mainnet-node-data/node_fills_by_block',
    '--from 2026-10-01 https://weir.example.workers.dev',
  ])
  const act = commandRunner(shell)
  program
    .argument('<source>', 'folder with node files or an archive, s3://BUCKET/PREFIX, or the URL of a different gateway')
    .requiredOption('--from <block>', 'first block: a height, a UTC day or a time', valueParser(BoundValue))
    .option(
      '--to <block>',
      'last block (default: up to the first block that the gateway archived itself)',
      valueParser(BoundValue),
    )
    .option('--yes', 'fetch from a bucket and accept the cost')
    .option('--key <key>', 'API key of the other gateway with product data; prefer WEIR_KEY in the environment')
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
  if (to !== undefined && isReversed(from, to)) return err('--to is before --from. Swap them.')
  const sink = await readTarget(gateway)
  if (!sink.ok) return sink
  const { liveFrom } = sink.value.held
  const beforeText = `block ${liveFrom.height} of ${new Date(liveFrom.time).toISOString()}`
  if (isReversed(from, 'height' in from ? { height: liveFrom.height - 1 } : { timeMs: liveFrom.time }))
    return err(`--from must be older than ${beforeText}, the first block that the gateway archived itself.`)
  const window = { from, to: to ?? ('height' in from ? { height: liveFrom.height - 1 } : { timeMs: liveFrom.time }) }
  try {
    const opened = await openSource(source, window, sink.value, options, shell)
    if (!opened.ok) return opened
    meter.start(shell.note)
    const filling = new BackfillRun(window, sink.value.held, {
      send: (batch) => sendBatch(gateway, batch, meter.note, () => meter.isStopped),
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
    return err(`${source} is not a valid source. Pass a folder, s3://BUCKET/PREFIX, or the https:// URL of a gateway.`)
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
    return err('Files in a bucket are named by hour. Pass --from as a time, such as 2026-11-01.')
  const needed = planned.value.filter(({ form }) => isNeeded(form, window, held))
  const bytes = needed.reduce((sum, file) => sum + file.bytes, 0)
  const bill = billText(needed.length, bytes, listed.value.lists)
  if (needed.length > 0 && yes !== true) return err(`${bill} Nothing was fetched. Pass --yes to accept the cost.`)
  note(bill)
  return ok({ files: needed, credits: () => 0 })
}

function openGateway(
  source: string,
  { from, to }: Window,
  { chain, held }: BackfillTarget,
  key: string | undefined,
): Result<OpenedSource, string> {
  if (!key) return err(`${source} needs an API key of that gateway. Set WEIR_KEY in the environment, or pass --key.`)
  if ('height' in from) return err('Another gateway lists files by time. Pass --from as a time, such as 2026-11-01.')
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
      ? 'The archive already has every block of this source and period.'
      : `Archived ${blocks} new blocks in ${segments} segments (${(bytes / MB).toFixed(1)} MB)${reached}.`
  const notes = [
    ...(credits > 0 ? [`Downloads used ${Number(credits.toFixed(6))} credits of the other gateway.`] : []),
    ...(faults > 0
      ? [`${faults} lines or files could not be read. Their blocks stay gaps until a later run can read them.`]
      : []),
    ...(isStopped ? ['Stopped. Run the same command to continue.'] : []),
  ]
  return { json: { ...filled, credits }, text, notes, isFailure: faults > 0 || isStopped }
}

if (import.meta.main) await runProgram(backfillProgram(processShell(), progressMeter()), process.argv.slice(2))
