// Clients that connect, subscribe and leave. They must leave nothing in the heaps of both Workers, or memory would grow
// with every client.

import { setTimeout as sleep } from 'node:timers/promises'
import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { Socket } from '../kit/socket.ts'
import { heapBytes, heapSnapshot, type Worker } from './heap.node.ts'
import { GROWTH_MOST } from './table.ts'

const AT_ONCE = 25
const WARM = 40
/** What ended is told to meters and written within so long. */
const SETTLED_WITHIN_MS = 300_000
/** Of one connection in a row. */
const MOST_REFUSALS = 5
const AGAIN_MS = 2_000
const AWAKE_MS = 500
const CONNECTION_MS = 60_000
const CHANNELS = ['subscriptionResponse', 'error']
const WORKERS = ['weir', 'weir-live'] as const

export interface Churn {
  readonly connections: number
  readonly subscriptions: number
  /** What connections were told that were to come again, by how many. */
  readonly refusals: Readonly<Record<string, number>>
  readonly heaps: readonly { readonly worker: Worker; readonly before: number; readonly after: number }[]
  /** Kinds of objects that grew with the connections, as `name: +count`. */
  readonly left: readonly string[]
}

export interface ChurnOrder {
  readonly url: string
  readonly inspector: string
  readonly key: string
  readonly coins: readonly string[]
  readonly connections: number
}

/** Nothing else should happen meanwhile. Rejects where a connection is refused again and again, or for good. */
export async function churn(order: ChurnOrder): Promise<Churn> {
  const { connections } = order
  const refusals: Record<string, number> = {}
  // Code is compiled, and what is made once, or once a coin, is made.
  await connectAll(order, Math.max(WARM, order.coins.length), refusals)
  const before = await measured(order)
  const kinds = await kindsOf(order)
  const subscriptions = await connectAll(order, connections, refusals)
  const settledMs = Date.now() + SETTLED_WITHIN_MS
  let after = await measured(order)
  let left = leftOver(kinds, await kindsOf(order), connections)
  const isGrown = (bytes: number, at: number) => bytes > before[at]! * (1 + GROWTH_MOST)
  // A connection that went without a word is found out later.
  while ((after.some(isGrown) || left.length > 0) && Date.now() < settledMs) {
    await sleep(AGAIN_MS)
    after = await measured(order)
    left = leftOver(kinds, await kindsOf(order), connections)
  }
  const heaps = WORKERS.map((worker, at) => ({ worker, before: before[at]!, after: after[at]! }))
  return { connections, subscriptions, refusals, heaps, left }
}

/** Kinds of objects that grew with the connections, each with by how many. */
function leftOver(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>, connections: number) {
  return [...now]
    .map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
    .filter(([, more]) => more >= connections / 2)
    .map(([name, more]) => `${name}: +${more}`)
}

async function measured({ inspector, url }: ChurnOrder): Promise<number[]> {
  const bytes: number[] = []
  for (const worker of WORKERS) bytes.push(await awake(url, heapBytes(inspector, worker)))
  return bytes
}

async function kindsOf({ inspector, url }: ChurnOrder): Promise<ReadonlyMap<string, number>> {
  return (await awake(url, heapSnapshot(inspector, 'weir-live'))).kinds()
}

/** An isolate at rest reads what the inspector sent only with its next request. */
async function awake<T>(url: string, work: Promise<T>): Promise<T> {
  const asking = setInterval(() => void fetch(`${url}/status`).catch(() => null), AWAKE_MS)
  try {
    return await work
  } finally {
    clearInterval(asking)
  }
}

/** Some at a time; answers how many subscriptions were acknowledged. */
async function connectAll(order: ChurnOrder, count: number, refusals: Record<string, number>): Promise<number> {
  let next = 0
  const one = async () => {
    let acknowledged = 0
    for (let number = next++; number < count; number = next++)
      acknowledged += await connectAgain(order, number, refusals)
    return acknowledged
  }
  const all = await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, one))
  return all.reduce((sum, each) => sum + each, 0)
}

/** Connects, and again where it is asked to: the node has ended, so relays renew their links every ten seconds. */
async function connectAgain(order: ChurnOrder, number: number, refusals: Record<string, number>): Promise<number> {
  for (let refused = 0; ; refused++) {
    const refusal = await connect(order, number)
    if (refusal === null) return bodiesOf(order.coins, number).length
    if (refused === MOST_REFUSALS || !/subscribe again|reconnect/i.test(refusal))
      throw new Error(`connection ${number}: ${refusal}`)
    refusals[refusal] = (refusals[refusal] ?? 0) + 1
    await sleep(AGAIN_MS)
  }
}

/** Books, views, events of the market and of a wallet that nobody has. */
function bodiesOf(coins: readonly string[], number: number): SubscriptionBody[] {
  const coin = (step: number) => coins[(number * step) % coins.length]!
  const user = `0x${number.toString(16).padStart(40, '0')}`
  return [
    { type: 'l2BookDiff', coin: coin(1) },
    number % 2 === 0 ? { type: 'bbo', coin: coin(7) } : { type: 'l2Book', coin: coin(7) },
    { type: 'trades', coin: coin(3) },
    number % 2 === 0 ? { type: 'userFills', user } : { type: 'orderUpdates', user },
  ]
}

/** Comes, subscribes, and goes once all is acknowledged: in turn with a close, and without a word. Or why not. */
async function connect({ url, key, coins }: ChurnOrder, number: number): Promise<string | null> {
  const bodies = bodiesOf(coins, number)
  const socket = await Socket.open(`${url.replace('http', 'ws')}/ws?key=${key}`)
  for (const subscription of bodies) socket.send({ method: 'subscribe', subscription })
  try {
    for (let acknowledged = 0; acknowledged < bodies.length; acknowledged++) {
      const { channel, data } = await socket.next(({ channel }) => CHANNELS.includes(String(channel)), CONNECTION_MS)
      // Without the body, of which there are many.
      if (channel === 'error') return String(data).replace(/{.*}/, '{}')
    }
    return null
  } catch (error) {
    if (socket.closed?.code !== 1013) throw error
    return socket.closed.reason
  } finally {
    if (number % 2 === 0) socket.close()
    else socket.drop()
  }
}
