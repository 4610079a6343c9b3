// The exchange on disk: block files, checkpoint, and how both come together again after any stop.
// Law: no height is ever written twice to a stream, and no stream ends without the heights that another one has.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canonicalBook } from '../../book/canonical.ts'
import { createEngine, type Engine, restoreEngine } from '../engine.ts'
import { marketOf } from '../exchange/market.ts'
import { type DevnetBlock, isoNanos, nanosOf, STREAMS, type Stream, streamLine } from '../exchange/node-block.ts'
import { HourlyFile } from './hourly-file.node.ts'
import { recall } from './recall.node.ts'

export interface ChainOptions {
  readonly data: string
  readonly seed: number
  readonly fundingBlocks: number
  readonly keepHours: number
  /** Of each stream. Must be more than the blocks after a checkpoint, or a kill could not be mended. */
  readonly keepBytes: number
  /** Folder of the book hashes per block, or null for none. */
  readonly oracle: string | null
}

/** What a person can put right; its message is one sentence. */
export class ChainError extends Error {}

interface Output {
  readonly stream: Stream | 'oracle'
  readonly file: HourlyFile
  /** Last height in the file; 0 where it is empty. */
  last: number
}

const CHECKPOINT_BLOCKS = 500
const NODE_LINE = /^\{"local_time":"([^"]+)","block_time":"([^"]+)","block_number":(\d+),/
const ORACLE_LINE = /^\{"height":(\d+),/
const BLOCK_NS = 70_000_000n

export class Chain {
  readonly engine: Engine
  readonly #outputs: Output[]
  readonly #checkpointPath: string
  #localNs: bigint

  private constructor(engine: Engine, outputs: Output[], checkpointPath: string) {
    this.engine = engine
    this.#outputs = outputs
    this.#checkpointPath = checkpointPath
    this.#localNs = engine.exchange.block.timeNs
  }

  /** Opens the folder, beginning an exchange in an empty one. Throws ChainError where the folder is not this exchange's. */
  static open(options: ChainOptions): Chain {
    const path = checkpointPath(options.data)
    const saved = existsSync(path) ? readFileSync(path, 'utf8') : null
    const outputs = openOutputs(options)
    const filled = outputs.some(({ stream, file }) => stream !== 'oracle' && file.files().length > 0)
    if (saved === null && filled)
      throw new ChainError(`${options.data} holds block files but no devnet checkpoint: choose an empty folder.`)
    const chain = new Chain(engineOf(options, saved), outputs, path)
    if (saved === null) chain.checkpoint()
    chain.#catchUp()
    return chain
  }

  /** Makes the next block, stamped with a time in nanoseconds, and writes it. */
  advance(nowNs: bigint): DevnetBlock {
    const before = this.engine.exchange.block.timeNs
    const block = this.engine.step(nowNs > before ? nowNs : before + 1n)
    this.#write(block, nowNs)
    if (block.height % CHECKPOINT_BLOCKS === 0) this.checkpoint()
    return block
  }

  /** Puts the state to disk at once or not at all. */
  checkpoint(): void {
    mkdirSync(dirname(this.#checkpointPath), { recursive: true })
    const next = `${this.#checkpointPath}.next`
    writeFileSync(next, this.engine.checkpoint())
    renameSync(next, this.#checkpointPath)
  }

  close(): void {
    for (const { file } of this.#outputs) file.close()
  }

  /** Makes the blocks after the checkpoint again, up to the last one in any stream, and fills in what a stream lacks. */
  #catchUp(): void {
    const times = new Map<number, bigint>()
    let target = this.engine.height
    for (const output of this.#outputs) {
      output.file.mend()
      output.last = readTail(output, this.engine.height, times)
      if (output.stream !== 'oracle') recall(this.engine.past, output.stream, output.file, this.engine.height)
      if (output.stream !== 'oracle' && output.last > target) target = output.last
    }
    while (this.engine.height < target) {
      const { height, exchange } = this.engine
      const timeNs = times.get(height + 1) ?? exchange.block.timeNs + BLOCK_NS
      this.#write(this.engine.step(timeNs), timeNs)
    }
    const { timeNs } = this.engine.exchange.block
    if (timeNs > this.#localNs) this.#localNs = timeNs
  }

  #write(block: DevnetBlock, nowNs: bigint): void {
    for (const output of this.#outputs) {
      // Each stream has its own local time, always rising, so that no line goes back to an earlier hour.
      this.#localNs = (nowNs > this.#localNs ? nowNs : this.#localNs) + 1_000n
      if (block.height <= output.last) continue
      const { stream } = output
      const line = stream === 'oracle' ? this.#oracleLine(block) : streamLine(block, stream, isoNanos(this.#localNs))
      output.file.append(line, this.#localNs)
      output.last = block.height
    }
  }

  #oracleLine(block: DevnetBlock): string {
    const books: Record<string, string> = {}
    for (const coin of block.changed) {
      const levels = this.engine.exchange.books[marketOf(coin)!.id]!.levels()
      books[coin] = createHash('sha256').update(canonicalBook(levels)).digest('hex')
    }
    return JSON.stringify({ height: block.height, books })
  }
}

const checkpointPath = (data: string) => join(data, 'devnet', 'checkpoint.json')

function openOutputs({ data, oracle, keepHours, keepBytes }: ChainOptions): Output[] {
  const outputs: Output[] = STREAMS.map((stream) => ({
    stream,
    file: new HourlyFile(join(data, stream), keepHours, keepBytes),
    last: 0,
  }))
  if (oracle !== null)
    outputs.push({ stream: 'oracle', file: new HourlyFile(oracle, keepHours, Number.POSITIVE_INFINITY), last: 0 })
  return outputs
}

function engineOf({ data, seed, fundingBlocks }: ChainOptions, saved: string | null): Engine {
  if (saved === null) return createEngine(seed, { fundingBlocks })
  const engine = restored(data, saved)
  const { exchange } = engine
  if (exchange.seed !== seed)
    throw new ChainError(`${data} belongs to seed ${exchange.seed}, not ${seed}: choose another folder or seed.`)
  if (exchange.fundingBlocks !== fundingBlocks)
    throw new ChainError(
      `${data} pays funding every ${exchange.fundingBlocks} blocks, not ${fundingBlocks}: choose another folder.`,
    )
  return engine
}

function restored(data: string, saved: string): Engine {
  try {
    return restoreEngine(saved)
  } catch {
    throw new ChainError(
      `${checkpointPath(data)} is not a checkpoint of this version: delete the folder ${data} to begin afresh.`,
    )
  }
}

/** Last height of a stream, noting the block times of the heights after `height` on the way. */
function readTail({ stream, file }: Output, height: number, times: Map<number, bigint>): number {
  let last = 0
  for (const line of file.linesBackward()) {
    const match = (stream === 'oracle' ? ORACLE_LINE : NODE_LINE).exec(line)
    if (match === null) throw new ChainError(`a line in the files of ${stream} was not written by devnet.`)
    const at = Number(stream === 'oracle' ? match[1] : match[3])
    if (last === 0) last = at
    if (at <= height) break
    if (stream !== 'oracle') times.set(at, nanosOf(match[2]!))
  }
  return last
}
