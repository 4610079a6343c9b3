// devnet: a simulated exchange that writes a node's block files and answers a node's HTTP.
// One process, one folder; it ends on SIGTERM or SIGINT after a checkpoint.

import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { wholeNumber } from '../core/whole-number.ts'
import { FUNDING_BLOCKS } from './engine.ts'
import { RecentTimes } from './evm.ts'
import { Chain, ChainError } from './files/chain.node.ts'
import { devnetServer } from './http.node.ts'

const USAGE =
  'Usage: npm run devnet -- --data DIR [--port N] [--seed N] [--block-ms N] [--funding-blocks N] [--keep-hours N] [--keep-mb N] [--oracle DIR] [--json]'
/** After a stall at most this many blocks follow at once; the rest of the lost time stays lost. */
const MAX_BURST = 3

const Options = z.object({
  data: z.string().min(1),
  port: wholeNumber(0, 65_535).default(3001),
  seed: wholeNumber(0, 999_999_999).default(1),
  'block-ms': wholeNumber(1, 60_000).default(70),
  'funding-blocks': wholeNumber(1, 1_000_000).default(FUNDING_BLOCKS),
  'keep-hours': wholeNumber(1, 10_000).default(2),
  // Less would not hold the blocks after a checkpoint.
  'keep-mb': wholeNumber(16, 1_000_000).default(64),
  oracle: z.string().min(1).optional(),
  json: z.boolean().default(false),
})
type Options = z.infer<typeof Options>

const say = (text: string) => process.stderr.write(`devnet: ${text}\n`)

function fail(text: string): never {
  say(text)
  process.exit(1)
}

function readOptions(): Options {
  const value = { type: 'string' } as const
  const options = {
    data: value,
    port: value,
    seed: value,
    'block-ms': value,
    'funding-blocks': value,
    'keep-hours': value,
    'keep-mb': value,
    oracle: value,
  }
  const read = Options.safeParse(commandLine({ ...options, json: { type: 'boolean' } }, USAGE).values)
  if (read.success) return read.data
  const issue = read.error.issues[0]!
  refuseArgs(`--${issue.path.join('.')} ${issue.code === 'invalid_type' ? 'is missing' : issue.message}.`, USAGE)
}

function openChain(options: Options): Chain {
  try {
    return Chain.open({
      data: resolve(options.data),
      seed: options.seed,
      fundingBlocks: options['funding-blocks'],
      keepHours: options['keep-hours'],
      keepBytes: options['keep-mb'] * 1024 * 1024,
      oracle: options.oracle === undefined ? null : resolve(options.oracle),
    })
  } catch (error) {
    if (error instanceof ChainError) return fail(error.message)
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return fail(`cannot write to ${options.data}: ${(error as Error).message}.`)
  }
}

/** Nanoseconds since 1970; the last six digits only tell blocks apart. */
const nowNs = () => BigInt(Date.now()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n)

function run(options: Options): void {
  const times = new RecentTimes()
  let chain: Chain | null = null
  const server = devnetServer(() => ({ engine: chain!.engine, times, data: resolve(options.data) }))
  server.once('error', (error: NodeJS.ErrnoException) => {
    fail(
      error.code === 'EADDRINUSE'
        ? `port ${options.port} is in use.`
        : `cannot listen on port ${options.port}: ${error.message}.`,
    )
  })
  // The port first: two programs on one port must not both touch the files. No request is served before this ends.
  server.listen(options.port, '127.0.0.1', () => {
    chain = openChain(options)
    const stop = pace(chain, options['block-ms'], times)
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { height } = chain.engine
    if (options.json)
      process.stdout.write(`${JSON.stringify({ url, data: resolve(options.data), pid: process.pid, height })}\n`)
    say(`${url}, seed ${options.seed}, height ${height}, files in ${resolve(options.data)}`)
    const end = () => {
      stop()
      finish(chain!)
    }
    process.once('SIGTERM', end)
    process.once('SIGINT', end)
  })
}

function finish(chain: Chain): never {
  try {
    chain.checkpoint()
    chain.close()
  } catch (error) {
    fail(`the checkpoint could not be written: ${(error as Error).message}.`)
  }
  say(`stopped at height ${chain.engine.height}`)
  process.exit(0)
}

/** Makes a block every `blockMs`, keeping to the wall clock; answers how to stop. */
function pace(chain: Chain, blockMs: number, times: RecentTimes): () => void {
  let due = performance.now()
  const tick = () => {
    try {
      const { height, timeMs } = chain.advance(nowNs())
      times.add(height, timeMs)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      fail(`cannot write block ${chain.engine.height}: ${(error as Error).message}.`)
    }
    const now = performance.now()
    due = Math.max(due + blockMs, now - MAX_BURST * blockMs)
    timer = setTimeout(tick, Math.max(0, due - now))
  }
  let timer = setTimeout(tick, 0)
  return () => clearTimeout(timer)
}

run(readOptions())
