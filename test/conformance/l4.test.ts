// Order-level books over real sockets: devnet's files → feeder → log → object and relay → clients. What a client has made of
// its Snapshot and the blocks behind it is, order by order, the exchange's own book of that height, and the Snapshot that
// another one gets.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type L4Block, type L4Order, RestingOrders } from '../../src/order-books/l4/resting-orders.ts'
import { type Exchange, type GatewayProcess, startExchange, startGateway } from '../kit/gateway.ts'
import { lastingPort } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'

const COINS = ['BTC', '@1']
const REMEMBERED = 2000

interface Place {
  readonly block_height: number
  readonly time: number
  readonly epoch: string
}
interface Data {
  readonly Snapshot?: Place & { readonly coin: string; readonly levels: [L4Order[], L4Order[]] }
  readonly Updates?: Place & L4Block & { readonly prev_block_height: number }
}

/** Holds each frame against the rule of its height, and what came of it for some heights. */
class Follower {
  readonly socket: Socket
  readonly levels = new Map<number, string>()
  /** Height of each Snapshot, and how many blocks with rows there were. */
  readonly snapshots: number[] = []
  readonly wrong: string[] = []
  updates = 0
  #orders = new RestingOrders()
  #height = -1

  private constructor(socket: Socket) {
    this.socket = socket
    socket.onFrame = ({ channel, data }) => {
      if (channel === 'l4Book') this.#take(data as Data)
      if (channel === 'error') this.wrong.push(String(data))
    }
  }

  static async begin(url: string, key: string, coin: string): Promise<Follower> {
    const follower = new Follower(await Socket.open(`${url.replace('http', 'ws')}/ws?key=${key}`))
    await follower.socket.subscribe({ type: 'l4Book', coin })
    return follower
  }

  #take({ Snapshot, Updates }: Data): void {
    if (Snapshot) {
      this.#orders = new RestingOrders()
      for (const order of Snapshot.levels.flat()) this.#orders.add(order)
      this.#height = Snapshot.block_height
      this.snapshots.push(this.#height)
    } else if (Updates) {
      const { block_height, prev_block_height, time } = Updates
      if (block_height <= this.#height || prev_block_height > this.#height)
        this.wrong.push(`${prev_block_height} to ${block_height} at ${this.#height}`)
      const why = this.#orders.apply(time, Updates)
      if (why !== null) this.wrong.push(`${block_height}: ${why}`)
      this.#height = block_height
      this.updates++
    }
    this.levels.set(this.#height, [...this.#orders.texts(1e6)].join(''))
    if (this.levels.size > REMEMBERED) this.levels.delete(this.levels.keys().next().value!)
  }

  /** The book at a height, which may be of an earlier block. */
  at(height: number): string | undefined {
    const last = [...this.levels.keys()].findLast((one) => one <= height)
    return last === undefined || this.#height < height ? undefined : this.levels.get(last)
  }
}

let exchange: Exchange<GatewayProcess>
let gateway: GatewayProcess
let key: string

beforeAll(async () => {
  exchange = await startExchange({
    gateway: (node, folder) => startGateway(join(folder, 'gateway'), lastingPort(), node),
  })
  gateway = exchange.gateway
  key = exchange.key
}, 60_000)
afterAll(() => exchange?.stop())

/** The exchange's own orders of a coin. */
async function exchangeBook(coin: string): Promise<{ height: number; levels: unknown }> {
  const outPath = join(exchange.folder, 'orders.json')
  const request = { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false }
  const body = JSON.stringify({ type: 'fileSnapshot', request, outPath, includeHeightInOutput: true })
  const answer = await fetch(`${exchange.node}/info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBe(200)
  type Side = [user: string, order: Record<string, unknown>][]
  const [height, coins] = JSON.parse(readFileSync(outPath, 'utf8')) as [number, [string, [Side, Side]][]]
  const sides = coins.find(([name]) => name === coin)![1]
  const shown = ([user, { children: _, origSz: __, ...order }]: Side[number]) => ({ user, ...order })
  return { height, levels: sides.map((side) => side.map(shown)) }
}

/** Somebody who comes now is sent what the follower has made of the blocks. */
async function agrees(follower: Follower, coin: string): Promise<void> {
  const before = follower.updates
  await expect.poll(() => follower.updates, { timeout: 30_000 }).toBeGreaterThan(before + 20)
  const own = await exchangeBook(coin)
  await expect.poll(() => follower.at(own.height), { timeout: 30_000 }).toBeDefined()
  expect(JSON.parse(follower.at(own.height)!)).toEqual(own.levels)
  const second = await Follower.begin(gateway.url, key, coin)
  await expect.poll(() => second.snapshots.length, { timeout: 30_000 }).toBe(1)
  const [height] = second.snapshots
  await expect.poll(() => follower.at(height!), { timeout: 30_000 }).toBeDefined()
  expect(follower.at(height!)).toBe(second.at(height!))
  expect(second.at(height!)!.length).toBeGreaterThan(1000)
  await expect.poll(() => second.updates, { timeout: 30_000 }).toBeGreaterThan(5)
  expect([...second.wrong, ...follower.wrong]).toEqual([])
  second.socket.close()
}

// WS-150, WS-151, WS-152
it.each(COINS)('%s: a Snapshot and the blocks above it are the next Snapshot', async (coin) => {
  const follower = await Follower.begin(gateway.url, key, coin)
  await expect.poll(() => follower.snapshots.length, { timeout: 60_000 }).toBe(1)
  await agrees(follower, coin)
  expect(follower.snapshots).toHaveLength(1)
  follower.socket.close()
})

// WS-153
it('a gateway that was killed goes on with another Snapshot', async () => {
  const [coin] = COINS as [string]
  const before = await Follower.begin(gateway.url, key, coin)
  await expect.poll(() => before.snapshots.length, { timeout: 60_000 }).toBe(1)
  process.kill(gateway.workerd()!, 'SIGKILL')
  await before.socket.ended()
  const connect = () => Follower.begin(gateway.url, key, coin).catch(() => null)
  let after: Follower | null = null
  await expect.poll(async () => (after ??= await connect()), { timeout: 60_000, interval: 200 }).not.toBeNull()
  await expect.poll(() => after!.snapshots.length, { timeout: 60_000 }).toBe(1)
  await agrees(after!, coin)
  after!.socket.close()
})
