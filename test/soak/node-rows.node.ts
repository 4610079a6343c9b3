// Rows of a node's files, read while they are written: status files are trimmed within two minutes. Invariant: fills
// and statuses have one line per height; if one is missing, the rows cannot serve as truth, which is reported.

import { join } from 'node:path'
import { StreamFiles } from '../../src/feeder/stream-files.node.ts'
import { nodeTimeMs, STREAM_FOLDER, type StreamLine } from '../../src/feeder/streams.ts'
import { StreamTail } from '../../src/feeder/tail.node.ts'
import type { UserFill } from '../../src/protocol/feed/block.ts'
import { rowOfStatus, rowsOfFills, type TrueRow } from './rows.ts'

const POLL_MS = 250
type StatusRow = Parameters<typeof rowOfStatus>[0]

interface Stream {
  readonly tail: StreamTail
  height: number
  readonly take: (events: never[], timeMs: number) => TrueRow[]
}

export class NodeRows {
  readonly rows: TrueRow[] = []
  readonly troubles: string[] = []
  readonly #streams: readonly Stream[]
  readonly #wallets = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** From the first height that is still there; `data` is the node's folder. */
  constructor(data: string) {
    const of = (name: 'fills' | 'statuses', take: Stream['take']): Stream => {
      const files = new StreamFiles(join(data, STREAM_FOLDER[name]))
      return { tail: new StreamTail(files, 0, () => {}), height: -1, take }
    }
    const isWanted = ({ user }: StatusRow) => this.#wallets.has(user)
    this.#streams = [
      of('fills', (fills: UserFill[]) => rowsOfFills(fills)),
      of('statuses', (all: StatusRow[], timeMs) => all.filter(isWanted).map((row) => rowOfStatus(row, timeMs))),
    ]
    this.#poll()
  }

  /** Statuses of these are rows from now on. */
  want(wallets: readonly string[]): void {
    for (const wallet of wallets) this.#wallets.add(wallet)
  }

  get height(): number {
    return Math.min(...this.#streams.map(({ height }) => height))
  }

  builders(): string[] {
    return [...new Set(this.rows.flatMap(({ builder }) => builder ?? []))].sort()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #poll(): void {
    this.#timer = setTimeout(async () => {
      for (const stream of this.#streams) await this.#read(stream).catch((error) => this.troubles.push(String(error)))
      if (this.#timer !== undefined) this.#poll()
    }, POLL_MS)
  }

  async #read(stream: Stream): Promise<void> {
    do {
      for (const line of await stream.tail.read(Date.now())) this.#line(stream, line)
    } while (stream.tail.progressed)
  }

  /** Heights that are written again are as they were. */
  #line(stream: Stream, { height, time, text }: StreamLine): void {
    if (height <= stream.height) return
    if (stream.height >= 0 && height !== stream.height + 1)
      this.troubles.push(`rows of the node between ${stream.height} and ${height} were not read`)
    stream.height = height
    const { events } = JSON.parse(text) as { events: never[] }
    for (const row of stream.take(events, nodeTimeMs(time))) this.rows.push(row)
  }
}
