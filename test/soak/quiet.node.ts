// The quiet end: the exchange stops, so that every client's state can be compared with the node's files and with what
// exchange and gateway return now.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, SubscriptionBody } from '../../src/client/subscription.ts'
import { bodyKey } from '../../src/client/subscription.ts'
import { canonicalJson } from '../../src/core/canonical-json.ts'
import { spreadOf } from '../../src/order-books/rounded-levels.ts'
import type { Levels } from '../../src/protocol/feed/block.ts'
import type { InfoRequest, StatesTarget } from '../../src/relay/channel.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'
import type { Crew, Shown } from './clients.node.ts'
import type { Keyed } from './ledger.node.ts'
import type { NodeRows } from './node-rows.node.ts'
import { shownTo, wrongOf } from './rows.ts'

const FAST_DEPTH = 5
/** States are read every few seconds, those of many more seldom. */
const EQUAL_WITHIN_MS = 60_000
const AGAIN_MS = 3_000

export interface Quiet {
  readonly rows: { readonly clients: number; readonly rows: number; readonly wrong: readonly string[] }
  /** Last states, one for each coin of a client. */
  readonly states: { readonly compared: number; readonly wrong: readonly string[] }
  readonly candles: { readonly compared: number; readonly wrong: readonly string[] }
  readonly back: readonly string[]
}

/** Who is asked for what there is. */
export interface Askers {
  exchange(question: InfoRequest): Promise<Json>
  gateway(question: InfoRequest): Promise<Json>
  readonly coins: readonly string[]
}

/** Looks at all clients. The exchange is quiet, and all blocks of before have come. */
export async function quietEnd(crew: Crew, askers: Askers, clients: readonly Keyed[], node: NodeRows): Promise<Quiet> {
  const states = await compareStates(crew, askers)
  const candles = await compareCandles(await crew.call('shown'), askers)
  const wrong: string[] = []
  const back: string[] = []
  const sums = { clients: 0, rows: 0 }
  const truths = new Map<string, typeof node.rows>()
  for (const { number, kind } of clients) {
    const told = await crew.call('rows', number)
    if (told === null) continue
    back.push(...told.back.map((text) => `client ${number} (${kind}): ${text}`))
    const body = clients[number]!.bodies.find((one) => shownTo(one) !== null)
    if (!body) continue
    const truth = truths.get(bodyKey(body)) ?? node.rows.filter(shownTo(body)!)
    truths.set(bodyKey(body), truth)
    sums.clients++
    for (const segment of told.segments) {
      sums.rows += segment.ids.length
      const found = wrongOf(segment, truth)
      if (found !== null) wrong.push(`client ${number} (${kind}, ${bodyKey(body)}): ${found}`)
    }
  }
  return { rows: { ...sums, wrong }, states, candles, back }
}

/** Until all are equal, or for a while. */
async function compareStates(crew: Crew, askers: Askers): Promise<Quiet['states']> {
  for (const deadline = Date.now() + EQUAL_WITHIN_MS; ; await sleep(AGAIN_MS)) {
    const known = new Map<string, Promise<States>>()
    const wrong: string[] = []
    let compared = 0
    for (const { number, body, last } of await crew.call('shown')) {
      const truth = known.get(bodyKey(body)) ?? truthOf(body, askers)
      known.set(bodyKey(body), truth)
      for (const [coin, state] of Object.entries(await truth)) {
        compared++
        const found = difference(last[coin] ?? null, state)
        if (found !== null) wrong.push(`client ${number} (${bodyKey(body)}) ${coin}: ${found}`)
      }
    }
    if (wrong.length === 0 || Date.now() > deadline) return { compared, wrong }
  }
}

/** By coin, or under `''`. */
type States = Readonly<Record<string, Json>>

/** What a client must show last: of books as the exchange says, of states as the gateway answers. */
async function truthOf(body: SubscriptionBody, askers: Askers): Promise<States> {
  const wanted = readBody(body)
  if (!wanted.ok) throw new Error(`${bodyKey(body)}: ${wanted.error.message}`)
  if (wanted.value.source === 'states') return stateOf(body, wanted.value, askers)
  if (body.type === 'allMids') return { '': { mids: await midsOf(askers) } }
  if (body.type !== 'bbo' && body.type !== 'l2Book') return {}
  const states: Record<string, Json> = {}
  for (const coin of typeof body.coin === 'string' ? [body.coin] : askers.coins) {
    const [bids, asks] = await levelsOf(askers, { ...body, coin })
    const depth = body.fast ? FAST_DEPTH : undefined
    // Of a listed market in which nobody trades there may be no book.
    if (body.coin === undefined && bids.length + asks.length === 0) continue
    const shown = body.nSigFigs ? { spread: spreadOf(await levelsOf(askers, { coin })) } : {}
    const rest = { ...shown, ...(body.fast && { fast: true }) }
    if (body.type === 'bbo') states[coin] = { coin, bbo: [bids[0] ?? null, asks[0] ?? null] }
    else states[coin] = { coin, levels: [bids.slice(0, depth), asks.slice(0, depth)], ...rest } as Json
  }
  return states
}

async function levelsOf({ exchange }: Askers, how: object): Promise<Levels> {
  return ((await exchange({ ...how, type: 'l2Book' })) as unknown as { levels: Levels }).levels
}

/** The exchange also tells of coins that never had a book. */
async function midsOf({ exchange, gateway }: Askers): Promise<States> {
  const [mids, shown] = (await Promise.all([exchange, gateway].map((ask) => ask({ type: 'allMids' })))) as [
    States,
    States,
  ]
  return Object.fromEntries(Object.entries(mids).filter(([coin]) => coin in shown))
}

async function stateOf(sent: SubscriptionBody, { channel, body }: StatesTarget, { gateway }: Askers): Promise<States> {
  const part = async ([question]: readonly [InfoRequest, number]) => {
    const value = await gateway(question)
    return channel.extract({ text: JSON.stringify(value), value }, question)
  }
  const first = await part(channel.requests(body, undefined)[0]!)
  const parts = await Promise.all(channel.requests(body, first).map(part))
  const coin = channel.frameNameOf ? String(sent.coin) : ''
  return { [coin]: JSON.parse(channel.data(body, parts)) }
}

async function compareCandles(shown: readonly Shown[], { exchange }: Askers): Promise<Quiet['candles']> {
  const wrong: string[] = []
  let compared = 0
  for (const { number, body, candles } of shown) {
    if (candles.length === 0) continue
    const { coin, interval } = body
    const { t: startTime } = candles[0] as { readonly t: number }
    const truth = (await exchange({ type: 'candleSnapshot', req: { coin, interval, startTime } })) as { t: number }[]
    for (const candle of candles as readonly { readonly t: number }[]) {
      compared++
      const found = difference(candle, truth.find(({ t }) => t === candle.t) ?? null)
      if (found !== null) wrong.push(`client ${number} ${coin}: ${found}`)
    }
  }
  return { compared, wrong }
}

/** Blocks go on, and with them the time of an answer and the term of an agent, which devnet counts from it. */
const OF_BLOCK = ['time', 'serverTime', 'agentValidUntil']
const isOfBlock = (key: string) => OF_BLOCK.includes(key)

function difference(is: Json, should: Json): string | null {
  const [one, other] = [is, should].map((state) =>
    canonicalJson(JSON.parse(JSON.stringify(state, (key, value) => (isOfBlock(key) ? undefined : value)))),
  ) as [string, string]
  if (one === other) return null
  const at = [...one].findIndex((char, index) => char !== other[index])
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60)
  return `…${around(one)}… should be …${around(other)}…`
}
