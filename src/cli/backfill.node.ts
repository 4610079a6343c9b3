// `weir backfill --from … --to … SOURCE`: imports blocks that the archive lacks, older than the gateway or in its gaps.

import type { Command } from '@commander-js/extra-typings'
import { valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { type BackfillResult, BackfillRun } from './backfill/backfill-run.ts'
import { openSource, type SourceOptions, sourceName } from './backfill/open-source.node.ts'
import { type ProgressMeter, progressMeter } from './backfill/progress-meter.node.ts'
import { SourceError } from './backfill/read-blocks.ts'
import { RepairedBooks } from './backfill/repaired-books.node.ts'
import { SourceLists } from './backfill/sources.node.ts'
import { readTarget, sendBatch } from './backfill/target.node.ts'
import { ArchivedRange, type Bound, BoundValue, isReversed } from './backfill/window.ts'
import type { GatewayClient } from './gateway.node.ts'
import { type CommandResult, commandRunner, gatewayProgram, type Shell } from './shell.node.ts'

const MB = 1_000_000

interface Options extends SourceOptions {
  readonly from: Bound
  readonly to?: Bound | undefined
}

export function backfillProgram(shell: Shell, meter: ProgressMeter = progressMeter()): Command {
  const program = gatewayProgram('backfill', [
    '--from 2026-11-01 --to 2026-11-08 /data/node',
    '--from 985148182 /data/copied-archive',
    '--from 2026-10-01 --yes s3://hl-mainnet-node-data/node_fills_by_block',
    '--from 2026-10-01 https://weir.example.workers.dev',
  ])
  const act = commandRunner(shell)
  program
    .argument('<source>', 'folder with node files or an archive, s3://BUCKET/PREFIX, or the URL of a different gateway')
    .requiredOption('--from <block>', 'first block: a height, a UTC day or a time', valueParser(BoundValue))
    .option('--to <block>', 'last block (default: up to the last archived block)', valueParser(BoundValue))
    .option('--yes', 'fetch from a bucket and accept the cost')
    .option('--key <key>', 'API key of the other gateway with product data; prefer WEIR_KEY in the environment')
    .action(act((gateway, source, options) => backfill(gateway, source, options, shell, meter)))
  return program as Command
}

/** Imports what the archive of the gateway lacks. */
export async function backfill(
  gateway: GatewayClient,
  named: string,
  options: Options,
  shell: Shell,
  meter: ProgressMeter,
): Promise<Result<CommandResult, string>> {
  const { from, to } = options
  const [name, source] = sourceName(named)
  if (to !== undefined && isReversed(from, to)) return err('--to is before --from. Swap them.')
  const target = await readTarget(gateway)
  if (!target.ok) return target
  const { chain, end } = target.value
  const held = new ArchivedRange(target.value.from, end, target.value.gaps)
  const last = 'height' in from ? { height: end.height - 1 } : { timeMs: end.time }
  if (isReversed(from, last))
    return err(
      `--from must not be after block ${end.height - 1} of ${new Date(end.time).toISOString()}, the last archived block.`,
    )
  const window = { from, to: to ?? last }
  try {
    const opened = await openSource(source, window, { chain, held }, options, { ...shell, lists: new SourceLists() })
    if (!opened.ok) return opened
    meter.start(shell.note)
    const books = new RepairedBooks(opened.value.books, { gateway, held, note: meter.note })
    const filling = new BackfillRun(window, held, {
      complete: (block) => books.complete(block),
      send: async (batch) => {
        const checkpoint = await books.upload(batch)
        if (!checkpoint.ok) return checkpoint
        const options = { checkpoint: checkpoint.value, note: meter.note, isStopped: () => meter.isStopped }
        const sent = await sendBatch(gateway, name, batch, options)
        return sent.ok ? sent : err(sent.error.sentence)
      },
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
