// A thread that asks the node for its snapshot, reads the file and compares it with the feeder's digests: of the real
// exchange it is hundreds of megabytes, and whoever parses them serves nobody else meanwhile. What the feeder needs of
// it goes over in parts of some thousand orders, the next one when the feeder has taken the last.

import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { EMPTY_DIGEST } from '../feed/level-digest.ts'
import { CoinOrders } from './coin-orders.ts'
import { requestSnapshot, sentenceOf } from './node-info.node.ts'
import { type SnapshotCoin, SnapshotScanner } from './snapshot-file.ts'
import { type SnapshotTask, snapshotLines, type ThreadWords, type Wanted } from './snapshot-words.ts'

class SnapshotThread {
  readonly #port: MessagePort
  readonly #scanner = new SnapshotScanner()
  readonly #seen = new Set<string>()
  #wanted: Wanted | null = null

  constructor(port: MessagePort) {
    this.#port = port
  }

  async run({ infoUrl, path }: SnapshotTask): Promise<void> {
    await requestSnapshot(infoUrl, path)
    for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 }))
      for (const coin of this.#scanner.push(chunk as string)) await this.#coin(coin)
    if (!this.#scanner.complete) throw new Error('the snapshot that the node wrote is cut off')
    const { digests, suspects } = await this.#wants()
    const ours = new Map([...[...suspects].map((coin) => [coin, EMPTY_DIGEST] as const), ...(digests ?? [])])
    // A coin that the snapshot lacks has no orders.
    for (const [coin, digest] of ours)
      if (!this.#seen.has(coin) && (digest !== EMPTY_DIGEST || suspects.has(coin)))
        await this.#hand({ coin, orders: [] })
    this.#port.postMessage({ kind: 'end' } satisfies ThreadWords)
  }

  /** What the feeder wants of this snapshot, which it says once it knows the height. */
  async #wants(): Promise<Wanted> {
    if (this.#wanted) return this.#wanted
    const { height } = this.#scanner
    if (height === null) throw new Error('the snapshot that the node wrote has no height in it')
    this.#wanted = (await this.#ask({ kind: 'height', height })) as Wanted
    return this.#wanted
  }

  async #coin(snapshot: SnapshotCoin): Promise<void> {
    const { digests, suspects } = await this.#wants()
    const ours = digests?.get(snapshot.coin) ?? EMPTY_DIGEST
    this.#seen.add(snapshot.coin)
    const isWanted = digests === null || suspects.has(snapshot.coin) || ours !== digestOf(snapshot)
    if (isWanted) await this.#hand(snapshot)
  }

  async #hand({ coin, orders }: SnapshotCoin): Promise<void> {
    for (const [index, lines] of snapshotLines(orders).entries())
      await this.#ask({ kind: 'part', coin, isMore: index > 0, lines })
  }

  async #ask(words: ThreadWords): Promise<unknown> {
    this.#port.postMessage(words)
    const [answer] = await once(this.#port, 'message')
    return answer
  }
}

function digestOf({ coin, orders }: SnapshotCoin): number {
  const book = new CoinOrders(coin, true)
  for (const { oid, side, px, sz } of orders) book.add(oid, side, px, sz)
  book.settle()
  return book.digest
}

if (parentPort) {
  const port = parentPort
  await new SnapshotThread(port)
    .run(workerData as SnapshotTask)
    .catch((error) => port.postMessage({ kind: 'failed', sentence: sentenceOf(error) } satisfies ThreadWords))
  port.close()
}
