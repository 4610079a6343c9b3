// `weir repair SOURCE …`: fills the gaps of a gateway's archive from other sources, again and again. It runs beside a
// feeder or anywhere else, and several may run at once: the gateway skips blocks that it has.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import type { Responses } from '../console/responses.ts'
import { valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { MINUTE_MS } from '../core/time.ts'
import { visible } from '../core/visible.ts'
import { wholeNumber } from '../core/whole-number.ts'
import { BackfillRun } from './backfill/backfill-run.ts'
import { openSource, type SourceOptions, sourceName, UNNAMED_FOLDER } from './backfill/open-source.node.ts'
import { SourceError } from './backfill/read-blocks.ts'
import { RepairedBooks } from './backfill/repaired-books.node.ts'
import { SourceLists } from './backfill/sources.node.ts'
import { readTarget, sendBatch } from './backfill/target.node.ts'
import type { ArchivedRange, Window } from './backfill/window.ts'
import type { GatewayClient } from './gateway.node.ts'
import { pauseMs, restMs } from './repair/repair-plan.ts'
import { type PassResult, type RepairPorts, repairPass, type SourceResult } from './repair/repairer.ts'
import { type CommandResult, commandRunner, gatewayProgram, type Shell } from './shell.node.ts'

const SECOND_MS = 1_000
const MAX_SECONDS = 86_400
const DEFAULT_EVERY_S = 30
const DEFAULT_AGE_S = (10 * MINUTE_MS) / SECOND_MS

interface Options extends SourceOptions {
  readonly once?: true | undefined
  readonly every: number
  readonly minAge: number
  readonly pace: number
}

/** `signal` ends the program after the current batch. */
export function repairProgram(shell: Shell, signal: AbortSignal): Command {
  const program = gatewayProgram('repair', [
    'tokyo=/data/node',
    'tokyo=/data/node https://weir.example.workers.dev',
    '--yes tokyo=/data/node s3://hl-mainnet-node-data/node_fills_by_block',
  ])
  const act = commandRunner(shell)
  const seconds = valueParser(wholeNumber(0, MAX_SECONDS))
  const positive = valueParser(wholeNumber(1, MAX_SECONDS))
  program
    .argument(
      '<source...>',
      'sources in the order of trial, as for "weir backfill"; a folder needs a name: NAME=FOLDER',
    )
    .option('--once', 'make one pass and exit')
    .option('--every <seconds>', 'pause between passes', positive, DEFAULT_EVERY_S)
    .option('--min-age <seconds>', 'leave younger gaps to the feeders', seconds, DEFAULT_AGE_S)
    .option('--pace <percent>', 'delays between attempts, in percent of the usual', positive, 100)
    .option('--yes', 'fetch from a bucket and accept the cost')
    .option('--key <key>', 'API key of the other gateway with product data; prefer WEIR_KEY in the environment')
    .action(act((gateway, sources, options) => repair(gateway, sources, options, shell, signal)))
  return program as Command
}

async function repair(
  gateway: GatewayClient,
  named: readonly string[],
  options: Options,
  shell: Shell,
  signal: AbortSignal,
): Promise<Result<CommandResult, string>> {
  const sources = new Map(named.map(sourceName))
  if (sources.has(UNNAMED_FOLDER))
    return err(
      `Name the folder, as in tokyo=${sources.get(UNNAMED_FOLDER)}. Other hosts may repair from a folder, too.`,
    )
  if (sources.size < named.length) return err('Two sources have the same name. Name them, as in tokyo=/data/node.')
  const policy = { minAgeMs: options.minAge * SECOND_MS, pace: options.pace / 100 }
  for (let last: PassResult | null = null, failures = 0; ; ) {
    const pass = await repairPass(portsOf(gateway, sources, options, shell, signal), policy)
    if (options.once || signal.aborted) return pass.ok ? ok(resultOf(pass.value)) : pass
    failures = pass.ok ? 0 : failures + 1
    const waitMs = pauseMs(options.every * SECOND_MS, failures)
    if (!pass.ok) shell.note(`${pass.error} Trying again in ${waitMs / SECOND_MS} s.`)
    else if (pass.value.blocks > 0 || pass.value.open !== last?.open) shell.note(resultOf(pass.value).text)
    if (pass.ok) last = pass.value
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
  }
}

function resultOf({ blocks, open, beyond }: PassResult): CommandResult {
  const text = `Repaired ${blocks} blocks. Gaps: ${open} open, ${beyond} beyond repair.`
  return { json: { blocks, open, beyond }, text, isFailure: open > 0 }
}

/** Ports of one pass, in which each source is listed once. */
function portsOf(
  gateway: GatewayClient,
  sources: ReadonlyMap<string, string>,
  options: SourceOptions,
  shell: Shell,
  signal: AbortSignal,
): RepairPorts {
  const isStopped = () => signal.aborted
  const lists = new SourceLists()
  return {
    sources: [...sources.keys()],
    readTarget: (from) => readTarget(gateway, from),
    importFrom: (name, window, chain, held) =>
      importFrom(
        { name, source: sources.get(name) ?? '' },
        { window, chain, held },
        { gateway, options, shell, lists, isStopped },
      ),
    record: (attempt) =>
      gateway.request<Responses['recordRepairAttempt']>('POST', '/admin/history/attempts', ['recorded'], attempt),
    note: (message) => shell.note(`${new Date(shell.now()).toISOString()} ${visible(message)}`),
    isStopped,
  }
}

interface ImportPorts {
  readonly gateway: GatewayClient
  readonly options: SourceOptions
  readonly shell: Shell
  readonly lists: SourceLists
  readonly isStopped: () => boolean
}

async function importFrom(
  { name, source }: { readonly name: string; readonly source: string },
  { window, chain, held }: { readonly window: Window; readonly chain: string; readonly held: ArchivedRange },
  { gateway, options, shell, lists, isStopped }: ImportPorts,
): Promise<Result<SourceResult, string>> {
  const faults: string[] = []
  let refusal: string | null = null
  let restUntilMs = 0
  try {
    const opened = await openSource(source, window, { chain, held }, options, { ...shell, lists, note: () => {} })
    if (!opened.ok) return ok({ kind: 'failed', message: opened.error })
    const books = new RepairedBooks(opened.value.books, { gateway, held, note: shell.note })
    const run = new BackfillRun(window, held, {
      complete: (block) => books.complete(block),
      send: async (batch) => {
        await shell.wait(Math.max(0, restUntilMs - shell.now()))
        const startMs = shell.now()
        const checkpoint = await books.upload(batch)
        if (!checkpoint.ok) return checkpoint
        const options = { checkpoint: checkpoint.value, note: shell.note, isStopped }
        const sent = await sendBatch(gateway, name, batch, options)
        restUntilMs = shell.now() + restMs(shell.now() - startMs, sent.ok ? sent.value.blocks : 0)
        if (sent.ok) return sent
        if (sent.error.isRefused) refusal = sent.error.sentence
        return err(sent.error.sentence)
      },
      note: (fault) => faults.push(fault),
      progress: () => {},
      isStopped,
    })
    const done = await run.run(opened.value.files)
    if (done.ok) return ok({ kind: 'read', result: done.value, faults })
    refusal ??= books.refusal
    return refusal === null ? done : ok({ kind: 'refused', message: refusal })
  } catch (error) {
    if (error instanceof SourceError) return ok({ kind: 'failed', message: error.message })
    throw error
  }
}
