// devnet: a simulated exchange that writes block files and serves HTTP like a node. One process uses one folder. On
// SIGTERM or SIGINT, it writes a checkpoint and exits.

import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { privateKeyToAddress } from 'viem/accounts'
import { type AnyCommand, program, valueParser } from '../core/command-line.node.ts'
import { wholeNumber } from '../core/whole-number.ts'
import { BookHashOracle } from './book-hashes.node.ts'
import { Chain, ChainError } from './chain.node.ts'
import type { Ledger } from './evm/ledger.ts'
import { fund } from './evm/submission.ts'
import { DECIMALS } from './evm/token.ts'
import { openLedger } from './evm-journal.node.ts'
import { SCALES, ScaleName, SMALL } from './exchange/scale.ts'
import { type DisturbRequest, devnetServer } from './http.node.ts'
import { DEFAULT_SEED, simulatedKey } from './simulated-keys.node.ts'

/** Maximum number of blocks created in a row after a stall. The rest of the lost time is skipped. */
const MAX_BURST = 3
/** A million tokens for the demo wallet. */
const DEMO_AMOUNT = 1_000_000n * 10n ** BigInt(DECIMALS)

/** `name`: the command that starts it. */
export function devnetProgram(name: string): AnyCommand {
  return addOptions(program(name, 'run only the simulated exchange', ['--data exchange --seed 7'])).action(
    run,
  ) as unknown as Command
}

const addOptions = (command: Command) =>
  command
    .requiredOption('--data <dir>', "folder for the node's block files")
    .option('--port <n>', 'HTTP port; 0 picks a free one', valueParser(wholeNumber(0, 65_535)), 3001)
    .option('--seed <n>', 'seed of the random generator', valueParser(wholeNumber(0, 999_999_999)), DEFAULT_SEED)
    .option('--scale <name>', 'size of the exchange: small or mainnet', valueParser(ScaleName), SMALL.name)
    .option(
      '--block-ms <n>',
      'time between blocks, ms (default: small 70, mainnet 69)',
      valueParser(wholeNumber(1, 60_000)),
    )
    .option(
      '--funding-blocks <n>',
      'blocks between fundings (default: small 857, mainnet 52,200)',
      valueParser(wholeNumber(1, 1_000_000)),
    )
    .option('--keep-hours <n>', 'hours for which files are kept', valueParser(wholeNumber(1, 10_000)), 2)
    // With a smaller limit, blocks after a checkpoint could be lost.
    .option(
      '--keep-mb <n>',
      'megabytes kept per stream (default: small 64, mainnet 256)',
      valueParser(wholeNumber(16, 1_000_000)),
    )
    .option('--oracle <dir>', 'folder for the hashes of changed books per block, for tests')
    .option('--json', 'print one line of JSON when ready')
type Options = ReturnType<ReturnType<typeof addOptions>['opts']>

const log = (text: string) => process.stderr.write(`devnet: ${text}\n`)

function fail(text: string): never {
  log(text)
  process.exit(1)
}

function openExchange(options: Options): { readonly chain: Chain; readonly ledger: Ledger } {
  const scale = SCALES[options.scale]
  try {
    const chain = Chain.open({
      data: resolve(options.data),
      seed: options.seed,
      scale,
      fundingBlocks: options.fundingBlocks ?? scale.fundingBlocks,
      keepHours: options.keepHours,
      keepBytes: (options.keepMb ?? scale.keepMb) * 1024 * 1024,
      oracle: options.oracle === undefined ? null : resolve(options.oracle),
    })
    const ledger = openLedger(join(resolve(options.data), 'devnet', 'transactions'))
    const wallet = privateKeyToAddress(simulatedKey(options.seed, 'demo'))
    fund({ origin: chain.engine.exchange, ledger }, wallet, DEMO_AMOUNT)
    return { chain, ledger }
  } catch (error) {
    if (error instanceof ChainError) return fail(error.message)
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return fail(`cannot write to ${options.data}: ${(error as Error).message}.`)
  }
}

/** Nanoseconds since 1970; the last six digits only distinguish blocks. */
const nowNs = () => BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n)

function run(options: Options): void {
  let opened: ReturnType<typeof openExchange> | null = null
  const truth = new BookHashOracle()
  const server = devnetServer(() => ({
    engine: opened!.chain.engine,
    ledger: opened!.ledger,
    truth,
    data: resolve(options.data),
    disturb: (request) => disturb(opened!.chain, request),
  }))
  server.once('error', (error: NodeJS.ErrnoException) => {
    fail(
      error.code === 'EADDRINUSE'
        ? `port ${options.port} is in use.`
        : `cannot listen on port ${options.port}: ${error.message}.`,
    )
  })
  // Listen before the files are opened, so that two processes with the same port cannot both touch them. No request is
  // handled until this callback ends.
  server.listen(options.port, '127.0.0.1', () => {
    opened = openExchange(options)
    const { chain } = opened
    const stop = pace(chain, options.blockMs ?? SCALES[options.scale].blockMs, () =>
      truth.onBlock(chain.engine.exchange),
    )
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { height } = chain.engine
    if (options.json)
      process.stdout.write(`${JSON.stringify({ url, data: resolve(options.data), pid: process.pid, height })}\n`)
    log(`${url}, seed ${options.seed}, height ${height}, files in ${resolve(options.data)}`)
    const end = () => {
      stop()
      void finish(chain)
    }
    process.once('SIGTERM', end)
    process.once('SIGINT', end)
  })
}

function disturb(chain: Chain, request: DisturbRequest): void {
  const untilNs = nowNs() + BigInt('for_ms' in request ? request.for_ms : 0) * 1_000_000n
  switch (request.what) {
    case 'restart':
      return chain.hold(untilNs, request.rewrite)
    case 'pause':
      return chain.hold(untilNs, 0)
    case 'cut':
      return chain.cut(request.stream, untilNs)
    case 'rotate':
      return chain.rotate(request.stream)
    case 'quiet':
      return chain.quiet(request.blocks)
  }
}

async function finish(chain: Chain): Promise<never> {
  try {
    await chain.checkpoint()
    chain.close()
  } catch (error) {
    fail(`cannot write the checkpoint: ${(error as Error).message}.`)
  }
  log(`stopped at height ${chain.engine.height}`)
  process.exit(0)
}

/**
 * Creates a block every `blockMs` and writes what is due, following the wall clock. Returns a function that stops it.
 */
function pace(chain: Chain, blockMs: number, onBlock: () => void): () => void {
  let due = performance.now()
  const tick = () => {
    try {
      if (performance.now() >= due) {
        chain.advance(nowNs())
        onBlock()
        due = Math.max(due + blockMs, performance.now() - MAX_BURST * blockMs)
      }
      const now = nowNs()
      const nextNs = chain.flush(now)
      const writeInMs = nextNs === null ? blockMs : Number(nextNs - now) / 1e6
      timer = setTimeout(tick, Math.max(0, Math.min(due - performance.now(), writeInMs)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      fail(`cannot write block ${chain.engine.height}: ${(error as Error).message}.`)
    }
  }
  let timer = setTimeout(tick, 0)
  return () => clearTimeout(timer)
}
