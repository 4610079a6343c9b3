// The exchange on disk: block files and a checkpoint, and their recovery after any stop. Invariants: no height is
// written twice to a stream, except the few that a restarted node writes again; after a recovery, no stream lacks the
// last heights of another stream.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { parseJson } from '../core/json.ts'
import { bookHash } from './book-hashes.node.ts'
import { createEngine, type Engine, restoreEngine } from './engine.ts'
import { marketOf } from './exchange/market.ts'
import {
  type DevnetBlock,
  EVENTS,
  isoNanos,
  nanosOf,
  SPARSE_STREAMS,
  STREAMS,
  type Stream,
  streamLine,
} from './exchange/node-block.ts'
import { replicaLine } from './exchange/replica-line.ts'
import type { Scale } from './exchange/scale.ts'
import { DelayedBlocks, MAX_REWRITTEN } from './files/delayed-blocks.ts'
import { HourlyFile } from './files/hourly-file.node.ts'
import { ReplicaFiles } from './files/replica-files.node.ts'

export interface ChainOptions {
  readonly data: string
  readonly seed: number
  readonly scale: Scale
  readonly fundingBlocks: number
  readonly keepHours: number
  /**
   * Bytes kept per stream. It must exceed the size of the blocks between two checkpoints, or recovery after a kill is
   * impossible.
   */
  readonly keepBytes: number
  /** Folder for the book hashes of each block; null if they are not wanted. */
  readonly oracle: string | null
}

/** An error that the user can fix. Its message is one sentence. */
export class ChainError extends Error {}

interface Output {
  readonly stream: Stream | 'oracle'
  readonly file: HourlyFile
  /** Last height in the file; 0 if it is empty. */
  last: number
  cutUntilNs: bigint
}

const CHECKPOINT_BLOCKS = 500
const NODE_LINE = /^\{"local_time":"([^"]+)","block_time":"([^"]+)","block_number":(\d+),/
const ORACLE_LINE = /^\{"height":(\d+),/
const BLOCK_NS = 70_000_000n

export class Chain {
  readonly engine: Engine
  readonly #outputs: Output[]
  readonly #folder: string
  readonly #delayed: DelayedBlocks
  readonly #replica: ReplicaFiles
  #localNs: bigint
  #isWriting = false

  private constructor(engine: Engine, outputs: Output[], folder: string, replica: ReplicaFiles) {
    this.engine = engine
    this.#outputs = outputs
    this.#folder = folder
    this.#replica = replica
    this.#delayed = new DelayedBlocks(engine.exchange.seed, engine.exchange.scale.writeDelayMs)
    this.#localNs = engine.exchange.block.timeNs
  }

  /**
   * Opens the folder, and starts a new exchange if it is empty. Throws ChainError if the folder belongs to a different
   * exchange.
   */
  static open(options: ChainOptions): Chain {
    const folder = join(options.data, 'devnet')
    mkdirSync(folder, { recursive: true })
    const path = join(folder, CHECKPOINT)
    const saved = existsSync(path) ? readFileSync(path) : null
    const outputs = openOutputs(options)
    const hasBlocks = outputs.some(({ stream, file }) => stream !== 'oracle' && file.files().length > 0)
    if (saved === null && hasBlocks)
      throw new ChainError(`${options.data} contains block files but no devnet checkpoint. Use an empty folder.`)
    const chain = new Chain(
      engineOf(options, path, saved),
      outputs,
      folder,
      new ReplicaFiles(join(options.data, 'replica_cmds')),
    )
    if (saved === null) void chain.checkpoint()
    chain.#catchUp()
    return chain
  }

  /** Creates the next block and writes the blocks that are due. `nowNs`: current time in nanoseconds. */
  advance(nowNs: bigint): DevnetBlock {
    const before = this.engine.exchange.block.timeNs
    const stamp = nowNs - this.#delayed.leastNs
    const block = this.engine.step(stamp > before ? stamp : before + 1n)
    this.#delayed.push(block, nowNs)
    this.flush(nowNs)
    if (block.height % CHECKPOINT_BLOCKS === 0 && !this.#delayed.isHeld(nowNs)) void this.checkpoint()
    return block
  }

  /** Writes the blocks whose delay is over. Returns when the next one is due; null if there is none. */
  flush(nowNs: bigint): bigint | null {
    this.#release(this.#delayed.due(nowNs), nowNs)
    return this.#delayed.nextNs
  }

  /**
   * Pauses writing until the given time. Afterwards, the last `rewritten` heights are written again before the waiting
   * blocks.
   */
  hold(untilNs: bigint, rewritten: number): void {
    this.#delayed.hold(untilNs, rewritten)
  }

  /**
   * Writes the state to disk atomically, and at the small scale synchronously. Does nothing while a write is in
   * progress. Waiting blocks are written first, because every stream must have all blocks up to a checkpoint.
   */
  async checkpoint(): Promise<void> {
    if (this.#isWriting) return
    this.#release(this.#delayed.all(), this.#localNs)
    const bytes = serialize(this.engine.checkpoint())
    const path = join(this.#folder, CHECKPOINT)
    if (this.engine.exchange.crowd === null) writeFileSync(`${path}.next`, bytes)
    else {
      this.#isWriting = true
      await writeFile(`${path}.next`, bytes).finally(() => {
        this.#isWriting = false
      })
    }
    renameSync(`${path}.next`, path)
  }

  /** Writes no lines to the stream until the given time. The skipped lines are never written. */
  cut(stream: Stream, untilNs: bigint): void {
    for (const output of this.#outputs) if (output.stream === stream) output.cutUntilNs = untilNs
  }

  /** Deletes the older half of a stream's lines. */
  rotate(stream: Stream): void {
    this.#outputs.find((output) => output.stream === stream)?.file.rotate()
  }

  /** Leaves the next blocks without events, even if they are created again after a kill. */
  quiet(blocks: number): void {
    const { exchange } = this.engine
    exchange.quietTo = exchange.height + blocks
    void this.checkpoint()
  }

  close(): void {
    for (const { file } of this.#outputs) file.close()
    this.#replica.close()
  }

  /** Creates the blocks after the checkpoint again, up to the last one in any stream, and completes the streams. */
  #catchUp(): void {
    const times = new Map<number, bigint>()
    let target = this.engine.height
    for (const output of this.#outputs) {
      output.file.truncatePartialLines()
      output.last = readTail(output, this.engine.height, times)
      if (output.stream === 'oracle') continue
      loadHistory(this.engine, output.stream, output.file)
      if (output.last > target) target = output.last
    }
    while (this.engine.height < target) {
      const { height, exchange } = this.engine
      const timeNs = times.get(height + 1) ?? exchange.block.timeNs + BLOCK_NS
      this.#write(this.engine.step(timeNs), timeNs, this.engine.exchange.scale.rewritten)
    }
    const { timeNs } = this.engine.exchange.block
    if (timeNs > this.#localNs) this.#localNs = timeNs
  }

  #release(blocks: readonly DevnetBlock[], nowNs: bigint): void {
    for (const block of blocks) {
      this.#write(block, nowNs, MAX_REWRITTEN)
      this.#replica.append(block.height, replicaLine(block), nowNs)
    }
  }

  /** `again`: number of existing heights that are written again. */
  #write(block: DevnetBlock, nowNs: bigint, again = 0): void {
    for (const output of this.#outputs) {
      // Each stream has its own rising local time, so that no line belongs to an earlier hour.
      this.#localNs = (nowNs > this.#localNs ? nowNs : this.#localNs) + 1_000n
      const { stream } = output
      if (block.height <= output.last - again || this.#localNs < output.cutUntilNs) continue
      if (isEmpty(block, stream)) continue
      const line = stream === 'oracle' ? this.#oracleLine(block) : streamLine(block, stream, isoNanos(this.#localNs))
      output.file.append(line, this.#localNs)
      if (block.height > output.last) output.last = block.height
    }
  }

  #oracleLine(block: DevnetBlock): string {
    const books: Record<string, string> = {}
    for (const coin of block.changed) books[coin] = bookHash(this.engine.exchange.books[marketOf(coin)!.id]!)
    return JSON.stringify({ height: block.height, books })
  }
}

const CHECKPOINT = 'checkpoint'

function openOutputs({ data, oracle, keepHours, keepBytes }: ChainOptions): Output[] {
  const output = (stream: Output['stream'], folder: string, bytes: number): Output => ({
    stream,
    file: new HourlyFile(folder, keepHours, bytes),
    last: 0,
    cutUntilNs: 0n,
  })
  const outputs = STREAMS.map((stream) => output(stream, join(data, stream), keepBytes))
  return oracle === null ? outputs : [...outputs, output('oracle', oracle, Number.POSITIVE_INFINITY)]
}

function engineOf({ data, seed, fundingBlocks, scale }: ChainOptions, path: string, saved: Buffer | null): Engine {
  if (saved === null) return createEngine(seed, { fundingBlocks, scale })
  const engine = restoredEngine(data, path, saved, scale)
  const { exchange } = engine
  if (exchange.scale.name !== scale.name)
    throw new ChainError(`${data} has scale ${exchange.scale.name}, not ${scale.name}. Choose another folder or scale.`)
  if (exchange.seed !== seed)
    throw new ChainError(`${data} has seed ${exchange.seed}, not ${seed}. Choose another folder or seed.`)
  if (exchange.fundingBlocks !== fundingBlocks)
    throw new ChainError(
      `${data} pays funding every ${exchange.fundingBlocks} blocks, not ${fundingBlocks}. Choose another folder.`,
    )
  return engine
}

function restoredEngine(data: string, path: string, saved: Buffer, scale: Scale): Engine {
  try {
    return restoreEngine(deserialize(saved), scale)
  } catch {
    throw new ChainError(`${path} is not a checkpoint of this devnet version. Delete the folder ${data} to start over.`)
  }
}

/** True if the stream has no event in this block; a real node then writes no line. */
function isEmpty(block: DevnetBlock, stream: Stream | 'oracle'): boolean {
  return SPARSE_STREAMS.some((sparse) => sparse === stream && block[EVENTS[sparse]].length === 0)
}

/** Returns the last height of a stream. Adds the block times of the heights after `height` to `times`. */
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

interface Line {
  readonly block_time: string
  readonly block_number: number
  readonly events: never[]
}

/**
 * Loads a stream's events of the last blocks, up to the engine's height, into the history. The file must have no
 * partial lines. History is optional, so loading ends at the first unreadable line without an error.
 */
function loadHistory({ history, height, exchange }: Engine, stream: Stream, file: HourlyFile): void {
  const maxBlocks = exchange.scale.recalled[stream] ?? 0
  const lines: Line[] = []
  for (const text of maxBlocks === 0 ? [] : file.linesBackward()) {
    const line = parseJson(text) as Line | undefined
    if (!Array.isArray(line?.events) || line.block_number <= height - maxBlocks) break
    if (line.block_number <= height && line.events.length > 0) lines.push(line)
  }
  const nothing = { fills: [], orderStatuses: [], miscEvents: [] }
  for (const { block_time, events } of lines.reverse())
    history.record({ ...nothing, timeMs: Number(nanosOf(block_time) / 1_000_000n), [EVENTS[stream]]: events })
}
