// Thread that requests a snapshot from the node and reads the file. On the real exchange, the file has hundreds of
// megabytes, so reading it in the main thread would block the feeder. For `books`, the thread sends the coins whose
// digests differ from the feeder's, in parts of a thousand orders. For `l4`, it sends the orders of some coins as
// encoded frames. Each part waits until the feeder has accepted the previous part.

import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { EMPTY_DIGEST } from '../block-log/level-digest.ts'
import { CoinOrders, type SavedOrder } from './coin-orders.ts'
import { errorMessage, requestSnapshot } from './node-info.node.ts'
import { coinNameOf, l4Frames, readCoin, type SnapshotCoin, SnapshotScanner } from './snapshot-file.ts'

/** Consumes the coins of a snapshot: one string per coin, then the end. */
interface SnapshotConsumer {
  onCoin(text: string): Promise<void>
  onEnd(): Promise<void>
}

type SendAndWait = (message: ThreadMessage) => Promise<unknown>

class BooksComparison implements SnapshotConsumer {
  readonly #send: SendAndWait
  readonly #selection: BooksSelection
  readonly #seen = new Set<string>()

  constructor(send: SendAndWait, selection: BooksSelection) {
    this.#send = send
    this.#selection = selection
  }

  async onCoin(text: string): Promise<void> {
    const { digests, suspects } = this.#selection
    const snapshot = readCoin(text)
    const ours = digests?.get(snapshot.coin) ?? EMPTY_DIGEST
    this.#seen.add(snapshot.coin)
    const isNeeded = digests === null || suspects.has(snapshot.coin) || ours !== digestOf(snapshot)
    if (isNeeded) await this.#sendParts(snapshot)
  }

  /** Sends an empty book for a coin that the snapshot lacks, because such a coin has no orders. */
  async onEnd(): Promise<void> {
    const { digests, suspects } = this.#selection
    const ours = new Map([...[...suspects].map((coin) => [coin, EMPTY_DIGEST] as const), ...(digests ?? [])])
    for (const [coin, digest] of ours)
      if (!this.#seen.has(coin) && (digest !== EMPTY_DIGEST || suspects.has(coin)))
        await this.#sendParts({ coin, orders: [] })
  }

  async #sendParts({ coin, orders }: SnapshotCoin): Promise<void> {
    for (const [index, lines] of snapshotLines(orders).entries())
      await this.#send({ kind: 'part', coin, isMore: index > 0, lines })
  }
}

class L4Export implements SnapshotConsumer {
  readonly #send: SendAndWait
  readonly #selection: L4Selection
  readonly #remaining: Set<string>

  constructor(send: SendAndWait, selection: L4Selection) {
    this.#send = send
    this.#selection = selection
    this.#remaining = new Set(selection.coins)
  }

  async onCoin(text: string): Promise<void> {
    const coin = coinNameOf(text)
    if (!this.#remaining.delete(coin)) return
    for (const [part, frame] of l4Frames(text, this.#selection).entries())
      if (!(await this.#send({ kind: 'l4', coin, isFirst: part === 0, frame }))) return
  }

  /** Sends an empty book for a coin that the snapshot lacks, so that its requester does not wait forever. */
  async onEnd(): Promise<void> {
    for (const coin of this.#remaining) await this.onCoin(JSON.stringify([coin, [[], []]]))
  }
}

async function readSnapshot({ infoUrl, path, use: kind }: SnapshotTask, send: SendAndWait): Promise<void> {
  await requestSnapshot(infoUrl, path)
  const scanner = new SnapshotScanner()
  /** The feeder selects the coins once it knows the height. */
  const start = async (): Promise<SnapshotConsumer> => {
    const { height } = scanner
    if (height === null) throw new Error("the node's snapshot has no height")
    const selection = await send({ kind: 'height', height })
    return kind === 'books'
      ? new BooksComparison(send, selection as BooksSelection)
      : new L4Export(send, selection as L4Selection)
  }
  let use: SnapshotConsumer | null = null
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 }))
    for (const text of scanner.push(chunk as string)) {
      use ??= await start()
      await use.onCoin(text)
    }
  if (!scanner.isComplete) throw new Error("the node's snapshot is incomplete")
  use ??= await start()
  await use.onEnd()
}

function digestOf({ coin, orders }: SnapshotCoin): number {
  const book = new CoinOrders(coin, true)
  for (const { oid, side, px, sz } of orders) book.add(oid, side, px, sz)
  book.settle()
  return book.digest
}

async function run(port: MessagePort): Promise<void> {
  const post = (message: ThreadMessage) => port.postMessage(message)
  const send: SendAndWait = async (message) => {
    post(message)
    const [reply] = await once(port, 'message')
    return reply
  }
  await readSnapshot(workerData as SnapshotTask, send).then(
    () => post({ kind: 'end' }),
    (error) => post({ kind: 'failed', sentence: errorMessage(error) }),
  )
  port.close()
}

/** Orders per part. A part takes the feeder a millisecond or two. */
const PART_ORDERS = 1_000

/** The node's URL, the file that the node writes, and the purpose. */
export interface SnapshotTask {
  readonly infoUrl: string
  readonly path: string
  readonly use: SnapshotUse
}

/** `books`: compare with the feeder's books. `l4`: send the orders of some coins. */
export type SnapshotUse = 'books' | 'l4'

/** Digests of the feeder's books at the snapshot's height. Null: the feeder has no books and wants every coin. */
export interface BooksSelection {
  readonly digests: Map<string, number> | null
  /** Coins wanted even if their digests match: different orders can add up to equal levels. */
  readonly suspects: ReadonlySet<string>
}

/** Coins whose orders are wanted, with the height and time for the frames. */
export interface L4Selection {
  readonly coins: ReadonlySet<string>
  readonly height: number
  readonly time: number
}

/**
 * Messages to the feeder. The feeder replies to `height` with its selection, to `part` with any value once it has
 * accepted the part, and to `l4` with whether the frame was sent.
 */
export type ThreadMessage =
  | { readonly kind: 'height'; readonly height: number }
  /** Orders of a coin, one per line as in a checkpoint. More of the coin may follow. */
  | { readonly kind: 'part'; readonly coin: string; readonly isMore: boolean; readonly lines: string }
  /** A frame with orders of a coin. More of the coin may follow. */
  | { readonly kind: 'l4'; readonly coin: string; readonly isFirst: boolean; readonly frame: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly sentence: string }

/** Orders as parts for the feeder, one order per line. There is at least one part. */
export function snapshotLines(orders: readonly SavedOrder[]): string[] {
  const parts: string[] = []
  for (let at = 0; at === 0 || at < orders.length; at += PART_ORDERS)
    parts.push(
      orders
        .slice(at, at + PART_ORDERS)
        .map(({ oid, side, px, sz }) => `${side} ${oid} ${px} ${sz}`)
        .join('\n'),
    )
  return parts
}

if (parentPort) await run(parentPort)
