// Copies of a node's folder that are written while the node writes, each of which may lose blocks. Invariant: a copy lacks
// the same heights in all streams.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nanosOf } from '../../src/devnet/exchange/node-block.ts'
import { HourlyFile } from '../../src/devnet/files/hourly-file.node.ts'
import { StreamFiles } from '../../src/feeder/stream-files.node.ts'
import { STREAM_FOLDER, type StreamLine } from '../../src/feeder/streams.ts'
import { StreamTail } from '../../src/feeder/tail.node.ts'

const POLL_MS = 20
const KEEP_HOURS = 48
const KEEP_BYTES = 512 * 1024 * 1024
const LOCAL_TIME = /^\{"local_time":"([^"]+)"/

/** Heights, inclusive. */
interface Range {
  readonly from: number
  readonly to: number
}

function overlap(one: Range, two: Range): Range[] {
  const both = { from: Math.max(one.from, two.from), to: Math.min(one.to, two.to) }
  return both.from <= both.to ? [both] : []
}

class Copy {
  readonly lost: Range[] = []
  readonly #files: ReadonlyMap<string, HourlyFile>
  #outFrom: number | null = null

  constructor(folder: string) {
    this.#files = new Map(
      Object.values(STREAM_FOLDER).map((name) => [name, new HourlyFile(join(folder, name), KEEP_HOURS, KEEP_BYTES)]),
    )
  }

  write(stream: string, { height, text }: StreamLine): void {
    if (height >= (this.#outFrom ?? Number.POSITIVE_INFINITY)) return
    if (this.lost.some(({ from, to }) => from <= height && height <= to)) return
    const [, time = ''] = LOCAL_TIME.exec(text) ?? []
    this.#files.get(stream)?.append(text, nanosOf(time))
  }

  goOut(from: number): void {
    this.#outFrom ??= from
  }

  /** Returns what was lost; null if it was not out. */
  comeBack(to: number): Range | null {
    const from = this.#outFrom
    this.#outFrom = null
    if (from === null) return null
    this.lost.push({ from, to })
    return { from, to }
  }

  close(): void {
    for (const file of this.#files.values()) file.close()
  }
}

export class NodeCopies {
  readonly #streams: readonly { readonly name: string; readonly tail: StreamTail }[]
  readonly #copies: ReadonlyMap<string, Copy>
  readonly #ending = new AbortController()
  readonly #copying: Promise<void>
  /** Of all streams. */
  #height = 0

  /** `copies`: folders. A failure to copy is passed to `failed`, and ends it. */
  constructor(node: string, copies: readonly string[], failed: (error: Error) => void) {
    this.#copies = new Map(copies.map((folder) => [folder, new Copy(folder)]))
    this.#streams = Object.values(STREAM_FOLDER).map((name) => ({
      name,
      tail: new StreamTail(new StreamFiles(join(node, name)), 0, () => {}),
    }))
    this.#copying = this.#copyAll().catch(failed)
  }

  /** From the next height on, nothing is written to a copy. */
  goOut(folder: string): void {
    this.#copies.get(folder)?.goOut(this.#height + 1)
  }

  /** All are written again. Returns the heights that this copy lacks. */
  comeBack(folder: string): Range {
    const lost = [...this.#copies].map(([name, copy]) => [name, copy.comeBack(this.#height)] as const)
    const own = lost.find(([name]) => name === folder)?.[1]
    if (!own) throw new Error(`${folder} was not out`)
    return own
  }

  /** Heights that no copy has. */
  lostByAll(): Range[] {
    const [first = [], ...others] = [...this.#copies.values()].map(({ lost }) => lost)
    return others.reduce<Range[]>(
      (all, more) => all.flatMap((one) => more.flatMap((two) => overlap(one, two))),
      [...first],
    )
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#copying
    for (const { tail } of this.#streams) await tail.close()
    for (const copy of this.#copies.values()) copy.close()
  }

  async #copyAll(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const read: (readonly [string, readonly StreamLine[]])[] = []
      for (const { name, tail } of this.#streams) read.push([name, await newLines(tail)])
      // A line of an optional stream that came after the required ones would be late for the feeder.
      for (const [name, lines] of read.reverse())
        for (const line of lines) {
          for (const copy of this.#copies.values()) copy.write(name, line)
          this.#height = Math.max(this.#height, line.height)
        }
      await sleep(POLL_MS)
    }
  }
}

async function newLines(tail: StreamTail): Promise<StreamLine[]> {
  const lines: StreamLine[] = []
  do lines.push(...(await tail.read(Date.now())))
  while (tail.progressed)
  return lines
}
