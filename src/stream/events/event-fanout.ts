// Who gets which fills and ledger updates: an index by address and coin.
// Law: work per block grows with the bodies that match, never with the sockets or bodies that do not;
// a text is built once per distinct body (a ledger text once per wallet).

import type { UserFill } from '../../feed/block.ts'
import type { RelayEvents } from '../../feed/log-api.ts'
import { aggregateFills } from '../../history/merged-fills.ts'
import type { AllFillsBody, UserBody } from '../body.ts'
import { fillsFrame, ledgerFrame, ledgerPiece } from '../frames.ts'

export type EventBody = UserBody | AllFillsBody

/** What the fan-out needs of a socket. */
export interface Receiver {
  send(text: string): void
}

/** One distinct body and the sockets that subscribed to it. */
interface Topic<R> {
  readonly body: EventBody
  readonly meta: boolean
  readonly receivers: Set<R>
}

/** Topics by wallet or coin; `''` stands for every coin. */
type Index<R> = Map<string, Set<Topic<R>>>
const EVERY_COIN = ''

interface FillIndex<R> {
  readonly byUser: Index<R>
  readonly byCoin: Index<R>
}

export class EventFanout<R extends Receiver> {
  readonly #topics = new Map<string, Topic<R>>()
  readonly #fills: FillIndex<R> = { byUser: new Map(), byCoin: new Map() }
  readonly #merged: FillIndex<R> = { byUser: new Map(), byCoin: new Map() }
  readonly #ledger: Index<R> = new Map()

  /** Distinct bodies at present. */
  get size(): number {
    return this.#topics.size
  }

  /** `key` names the distinct body; a receiver stands under one key at most once. */
  add(key: string, body: EventBody, meta: boolean, receiver: R): void {
    const known = this.#topics.get(key)
    if (known) {
      known.receivers.add(receiver)
      return
    }
    const topic: Topic<R> = { body, meta, receivers: new Set([receiver]) }
    this.#topics.set(key, topic)
    const { index, names } = this.#placeOf(body)
    for (const name of names) {
      const topics = index.get(name)
      if (topics) topics.add(topic)
      else index.set(name, new Set([topic]))
    }
  }

  remove(key: string, receiver: R): void {
    const topic = this.#topics.get(key)
    topic?.receivers.delete(receiver)
    if (!topic || topic.receivers.size > 0) return
    this.#topics.delete(key)
    const { index, names } = this.#placeOf(topic.body)
    for (const name of names) {
      const topics = index.get(name)
      topics?.delete(topic)
      if (topics?.size === 0) index.delete(name)
    }
  }

  /** Every socket with an event subscription, once. */
  receivers(): Set<R> {
    return new Set([...this.#topics.values()].flatMap((topic) => [...topic.receivers]))
  }

  /** Sends one block to whom it concerns. */
  deliver(block: RelayEvents): void {
    if (block.fills.length > 0) {
      sendFills(this.#fills, block.fills, block)
      if (this.#merged.byUser.size + this.#merged.byCoin.size > 0) {
        sendFills(this.#merged, aggregateFills(block.fills), block)
      }
    }
    if (block.ledger.length > 0 && this.#ledger.size > 0) sendLedger(this.#ledger, block)
  }

  #placeOf(body: EventBody): { index: Index<R>; names: readonly string[] } {
    const fills = body.aggregate ? this.#merged : this.#fills
    if (body.type === 'allFills') return { index: fills.byCoin, names: [body.coin ?? EVERY_COIN] }
    return { index: body.type === 'userFills' ? fills.byUser : this.#ledger, names: body.addresses }
  }
}

function sendFills<R extends Receiver>(index: FillIndex<R>, fills: readonly UserFill[], block: RelayEvents): void {
  const piecesOf = new Map<Topic<R>, string[]>()
  for (const entry of fills) {
    const [user, { coin }] = entry
    let piece: string | undefined
    for (const topics of [index.byUser.get(user), index.byCoin.get(coin), index.byCoin.get(EVERY_COIN)]) {
      if (!topics) continue
      piece ??= JSON.stringify(entry)
      for (const topic of topics) collect(piecesOf, topic, piece)
    }
  }
  for (const [topic, pieces] of piecesOf) {
    const channel = topic.body.type === 'allFills' ? 'allFills' : 'userFills'
    const text = fillsFrame(channel, pieces, topic.meta ? block : null)
    for (const receiver of topic.receivers) receiver.send(text)
  }
}

function sendLedger<R extends Receiver>(index: Index<R>, block: RelayEvents): void {
  const piecesOf = new Map<string, string[]>()
  for (const event of block.ledger) {
    const users = [...new Set(event.users)].filter((user) => index.has(user))
    if (users.length === 0) continue
    const piece = ledgerPiece(event)
    for (const user of users) collect(piecesOf, user, piece)
  }
  for (const [user, pieces] of piecesOf) {
    let plain: string | undefined
    let withMeta: string | undefined
    // A socket may end while it is sent to, and take its topic out of the index.
    for (const topic of index.get(user) ?? []) {
      if (topic.meta) withMeta ??= ledgerFrame(user, pieces, block)
      else plain ??= ledgerFrame(user, pieces, null)
      const text = topic.meta ? withMeta! : plain!
      for (const receiver of topic.receivers) receiver.send(text)
    }
  }
}

function collect<K>(lists: Map<K, string[]>, key: K, piece: string): void {
  const list = lists.get(key)
  if (list) list.push(piece)
  else lists.set(key, [piece])
}
