// A thread that asks the node for its snapshot and reads the file: of the real exchange it is hundreds of megabytes, and
// whoever parses them serves nobody else meanwhile. For `books` it compares with the feeder's digests, and what the
// feeder needs of it goes over in parts of some thousand orders; for `l4` the orders of some coins go over as the texts
// of frames. The next part goes when the feeder has taken the last.

import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { EMPTY_DIGEST } from '../block-log/level-digest.ts'
import { CoinOrders, type SavedOrder } from './coin-orders.ts'
import { errorMessage, requestSnapshot } from './node-info.node.ts'
import { coinNameOf, l4Frames, readCoin, type SnapshotCoin, SnapshotScanner } from './snapshot-file.ts'

/** What is done with the coins of a snapshot: with the text of each, and then with those that it lacks. */
interface SnapshotConsumer {
  onCoin(text: string): Promise<void>
  onEnd(): Promise<void>
}

type SendAndWait = (words: ThreadMessage) => Promise<unknown>

class BooksComparison implements SnapshotConsumer {
  readonly #send: SendAndWait
  readonly #selection: BooksSelection
  readonly #seen = new Set<string>()

  constructor(ask: SendAndWait, wanted: BooksSelection) {
    this.#send = ask
    this.#selection = wanted
  }

  async onCoin(text: string): Promise<void> {
    const { digests, suspects } = this.#selection
    const snapshot = readCoin(text)
    const ours = digests?.get(snapshot.coin) ?? EMPTY_DIGEST
    this.#seen.add(snapshot.coin)
    const isWanted = digests === null || suspects.has(snapshot.coin) || ours !== digestOf(snapshot)
    if (isWanted) await this.#sendParts(snapshot)
  }

  /** A coin that the snapshot lacks has no orders. */
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

  constructor(ask: SendAndWait, wanted: L4Selection) {
    this.#send = ask
    this.#selection = wanted
    this.#remaining = new Set(wanted.coins)
  }

  async onCoin(text: string): Promise<void> {
    const coin = coinNameOf(text)
    if (!this.#remaining.delete(coin)) return
    for (const [part, frame] of l4Frames(text, this.#selection).entries())
      if (!(await this.#send({ kind: 'l4', coin, isFirst: part === 0, frame }))) return
  }

  /** Of a coin that the snapshot lacks an empty book: whoever asked for it must not wait for ever. */
  async onEnd(): Promise<void> {
    for (const coin of this.#remaining) await this.onCoin(JSON.stringify([coin, [[], []]]))
  }
}

async function readSnapshot({ infoUrl, path, use: kind }: SnapshotTask, ask: SendAndWait): Promise<void> {
  await requestSnapshot(infoUrl, path)
  const scanner = new SnapshotScanner()
  /** The feeder says what it wants once it knows the height. */
  const begun = async (): Promise<SnapshotConsumer> => {
    const { height } = scanner
    if (height === null) throw new Error('the snapshot that the node wrote has no height in it')
    const wanted = await ask({ kind: 'height', height })
    return kind === 'books'
      ? new BooksComparison(ask, wanted as BooksSelection)
      : new L4Export(ask, wanted as L4Selection)
  }
  let use: SnapshotConsumer | null = null
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 }))
    for (const text of scanner.push(chunk as string)) {
      use ??= await begun()
      await use.onCoin(text)
    }
  if (!scanner.isComplete) throw new Error('the snapshot that the node wrote is cut off')
  use ??= await begun()
  await use.onEnd()
}

function digestOf({ coin, orders }: SnapshotCoin): number {
  const book = new CoinOrders(coin, true)
  for (const { oid, side, px, sz } of orders) book.add(oid, side, px, sz)
  book.settle()
  return book.digest
}

async function run(port: MessagePort): Promise<void> {
  const say = (words: ThreadMessage) => port.postMessage(words)
  const ask: SendAndWait = async (words) => {
    say(words)
    const [answer] = await once(port, 'message')
    return answer
  }
  await readSnapshot(workerData as SnapshotTask, ask).then(
    () => say({ kind: 'end' }),
    (error) => say({ kind: 'failed', sentence: errorMessage(error) }),
  )
  port.close()
}

/** Orders of a part: a millisecond or two of work for who takes it. */
const PART_ORDERS = 1_000

/** Where the thread asks, the file that the node is to write, and what it is for. */
export interface SnapshotTask {
  readonly infoUrl: string
  readonly path: string
  readonly use: SnapshotUse
}

/** To compare the feeder's books with it, or to send the orders of some coins. */
export type SnapshotUse = 'books' | 'l4'

/** Digests of the feeder's books at the snapshot's height; null: it has none, and every coin is wanted. */
export interface BooksSelection {
  readonly digests: Map<string, number> | null
  /** Coins that are wanted also where their digests agree: levels can hide orders that do not. */
  readonly suspects: ReadonlySet<string>
}

/** Coins whose orders are wanted of a snapshot, and its height and time as frames say them. */
export interface L4Selection {
  readonly coins: ReadonlySet<string>
  readonly height: number
  readonly time: number
}

/** To the feeder: `height` is answered with what is wanted, a `part` with anything once it was taken, `l4` with whether it was. */
export type ThreadMessage =
  | { readonly kind: 'height'; readonly height: number }
  /** Orders of a coin, one a line as in a checkpoint; more of the same coin may follow. */
  | { readonly kind: 'part'; readonly coin: string; readonly isMore: boolean; readonly lines: string }
  /** A frame with orders of a coin; more of the same coin may follow. */
  | { readonly kind: 'l4'; readonly coin: string; readonly isFirst: boolean; readonly frame: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly sentence: string }

/** Orders as the texts of parts, at least one. */
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
