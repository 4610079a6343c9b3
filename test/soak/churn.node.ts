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
const MOST_REFUSALS = 5
const AGAIN_MS = 2_000
const AWAKE_MS = 500
const CONNECTION_MS = 60_000
const CHANNELS = ['subscriptionResponse', 'error']
const WORKERS = ['weir', 'weir-live'] as const

export interface Churn {
  readonly connections: number
  readonly subscriptions: number
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

/** Nothing else should happen meanwhile. Rejects where a connection is refused. */
export async function churn(order: ChurnOrder): Promise<Churn> {
  const { connections } = order
  // Code is compiled, and what is made once, or once a coin, is made.
  await connectAll(order, Math.max(WARM, order.coins.length))
  const before = await measured(order)
  const kinds = await kindsOf(order)
  const subscriptions = await connectAll(order, connections)
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
  return { connections, subscriptions, heaps, left }
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
async function connectAll(order: ChurnOrder, count: number): Promise<number> {
  let next = 0
  const one = async () => {
    let acknowledged = 0
    for (let number = next++; number < count; number = next++) acknowledged += await connect(order, number)
    return acknowledged
  }
  const all = await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, one))
  return all.reduce((sum, each) => sum + each, 0)
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

/** Comes, subscribes, and goes once all is acknowledged: in turn with a close, and without a word. */
async function connect({ url, key, coins }: ChurnOrder, number: number): Promise<number> {
  const bodies = bodiesOf(coins, number)
  const socket = await Socket.open(`${url.replace('http', 'ws')}/ws?key=${key}`)
  const subscribe = (subscription: SubscriptionBody) => socket.send({ method: 'subscribe', subscription })
  for (const subscription of bodies) subscribe(subscription)
  try {
    for (let acknowledged = 0, refused = 0; acknowledged < bodies.length; ) {
      const { channel, data } = await socket.next(({ channel }) => CHANNELS.includes(String(channel)), CONNECTION_MS)
      if (channel !== 'error') acknowledged++
      else {
        // As the message asks. An object that is restarted is not ready.
        const body = bodies.find((each) => String(data).startsWith(`Invalid subscription ${JSON.stringify(each)}: `))
        if (!body || !String(data).includes('Subscribe again') || ++refused > MOST_REFUSALS)
          throw new Error(`connection ${number}: ${JSON.stringify(data)}`)
        await sleep(AGAIN_MS)
        subscribe(body)
      }
    }
    return bodies.length
  } finally {
    if (number % 2 === 0) socket.close()
    else socket.drop()
  }
}
