// One client of a target. It subscribes, and confirms what it has read, as clients of a relay must.

import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../../src/client/connection.ts'
import { nodeRuntime } from '../../src/client/node-runtime.node.ts'
import { COIN, heightOf } from './blocks.ts'
import { type CrowdName, crowdOf, type Seat } from './crowds.ts'
import { type Address, RawSocket } from './raw-socket.node.ts'

export interface SwarmTarget {
  /** `bare` is fed what clients are to get; `weir` speaks the feed protocol and is subscribed to. */
  readonly kind: 'bare' | 'weir'
  readonly feed: Address
  /** Where clients connect, in turn. */
  readonly clients: readonly Address[]
}

/** A proof is as old as the pong before, and a relay bounds what all its sockets have unproved: 40 MiB. */
const PROVE_BYTES_OF_ALL = 12 * 1024 * 1024
const REFUSED_MOST = 15
/** As our client does. */
const PROVE_BYTES = 32 * 1024
/** Its multiples are spread evenly. */
const GOLDEN = (Math.sqrt(5) - 1) / 2
/** Which letter tells the channel of a frame. */
const CHANNEL_AT = '{"channel":"'.length
const NONCE_AT = '{"channel":"pong","nonce":"'.length
const TIME = Buffer.from('"time":')
const TIME_DIGITS = 13
/** Second letter of a result. */
const ID = 'i'.charCodeAt(0)
const [ERROR, NOTIFICATION, PONG, RESPONSE] = [...'enps'].map((letter) => letter.charCodeAt(0))

export interface ClientOwner {
  readonly target: SwarmTarget
  readonly crowd: CrowdName
  readonly size: number
  acknowledged(client: Client): void
  /** A remark, or an error. */
  told(text: string): void
  /** A frame of a channel with the time of a height: bytes `from` to `to` of `chunk`, valid during the call alone. */
  data(client: Client, height: number, chunk: Buffer, from: number, to: number): void
}

export class Client {
  readonly seat: Seat
  readonly #owner: ClientOwner
  readonly #at: number
  #socket!: RawSocket
  /** Of the last pong. */
  #nonce = ''
  #unprovedBytes: number
  #pings = 0
  /** It speaks GraphQL. */
  #query: string | undefined

  private constructor(seat: Seat, owner: ClientOwner, at: number) {
    this.#at = at
    this.seat = seat
    this.#owner = owner
    // Clients came at different times: not all of them prove with the same block.
    this.#unprovedBytes = Math.round((PROVE_BYTES * at * GOLDEN) % PROVE_BYTES)
  }

  /** Connects in this place. `mustAsk`: the bare object, too, sends nothing to who does not subscribe. */
  static async open(owner: ClientOwner, at: number, mustAsk = false): Promise<Client> {
    const { clients, kind } = owner.target
    const client = new Client(crowdOf(owner.crowd).seat(at), owner, at)
    const address = clients[at % clients.length]!
    const path = kind === 'weir' ? address.path : `${address.path}/${mustAsk ? '' : client.seat.line}`
    const { query } = crowdOf(owner.crowd)
    const to = query === undefined ? { ...address, path } : graphqlOf(address)
    client.#query = query
    client.#socket = await opened(to, (chunk, from, end) => client.#take(chunk, from, end))
    return client
  }

  get lost(): string | null {
    return this.#socket.lost
  }

  get isAnswered(): boolean {
    return this.#pings === 0
  }

  subscribe(): void {
    if (this.#query !== undefined) return this.#subscribeGraphql(this.#query)
    for (const subscription of this.seat.bodies)
      this.#socket.send(JSON.stringify({ method: 'subscribe', subscription }))
  }

  prove(): void {
    const isGraphql = this.#query !== undefined
    const ping = isGraphql ? { type: 'ping', payload: { nonce: this.#nonce } } : { method: 'ping', nonce: this.#nonce }
    this.#socket.send(JSON.stringify(ping))
    this.#pings++
  }

  #subscribeGraphql(query: string): void {
    const { path } = this.#owner.target.clients[this.#at % this.#owner.target.clients.length]!
    const payload = { SERVICE_API_KEY: path.slice(path.indexOf('=') + 1) }
    this.#socket.send(JSON.stringify({ type: 'connection_init', payload }))
    // As clients have it: an id that nobody else has.
    this.#socket.send(JSON.stringify({ id: crypto.randomUUID(), type: 'subscribe', payload: { query } }))
  }

  /** Of GraphQL: a result begins with its id, anything else with its type. */
  #takeMessage(chunk: Buffer, from: number, to: number): void {
    if (chunk[from + 2] === ID) return this.#owner.data(this, heightOf(timeIn(chunk, from)), chunk, from, to)
    const { type, payload } = JSON.parse(chunk.toString('utf8', from, to))
    if (type === 'connection_ack') this.#owner.acknowledged(this)
    else if (type === 'ping') this.#socket.send(JSON.stringify({ type: 'pong', payload }))
    else {
      this.#nonce = payload.nonce
      this.#pings--
    }
  }

  close(): void {
    this.#socket.close()
  }

  #take(chunk: Buffer, from: number, to: number): void {
    if (this.#query !== undefined) return this.#takeMessage(chunk, from, to)
    const letter = chunk[from + CHANNEL_AT]
    if (letter === RESPONSE) this.#owner.acknowledged(this)
    else if (letter === PONG) {
      const start = from + NONCE_AT
      this.#nonce = chunk.toString('latin1', start, chunk.indexOf(0x22, start))
      this.#pings--
    } else if (letter === ERROR || letter === NOTIFICATION)
      this.#owner.told(chunk.toString('utf8', from, Math.min(to, from + 300)))
    else this.#data(chunk, from, to)
  }

  #data(chunk: Buffer, from: number, to: number): void {
    this.#unprovedBytes += to - from
    const most = Math.min(PROVE_BYTES, PROVE_BYTES_OF_ALL / this.#owner.size)
    if (this.#unprovedBytes > most && this.#owner.target.kind === 'weir') {
      this.#unprovedBytes %= most
      this.prove()
    }
    this.#owner.data(this, heightOf(timeIn(chunk, from)), chunk, from, to)
  }
}

/** The door beside /ws of the same gateway. */
function graphqlOf({ port, headers }: Address): Address {
  return { port, path: '/graphql', headers: `${headers}Sec-WebSocket-Protocol: graphql-transport-ws\r\n` }
}

/** The first time in the frame that begins there. */
function timeIn(chunk: Buffer, from: number): number {
  const at = chunk.indexOf(TIME, from) + TIME.length
  let time = 0
  for (let i = at; i < at + TIME_DIGITS; i++) time = time * 10 + chunk[i]! - 48
  return time
}

/** A relay that was saturated just before takes nobody until it has seen that this is over. */
async function opened(...asked: Parameters<typeof RawSocket.open>): Promise<RawSocket> {
  for (let left = REFUSED_MOST; ; left--) {
    try {
      return await RawSocket.open(...asked)
    } catch (error) {
      if (left === 0 || !String(error).includes(' 503 ')) throw error
      await sleep(1_000)
    }
  }
}

// Who follows every order of COIN with our client.

class Follower {
  readonly #connection: Connection
  /** Has a Snapshot. */
  isReady = false
  /** Blocks with rows that it was told of. */
  blocks = 0
  lost: string | null = null

  constructor({ port, path }: Address) {
    const url = new URL(path, `http://127.0.0.1:${port}`)
    const endpoint = { url: url.origin, key: url.searchParams.get('key')! }
    this.#connection = new Connection(nodeRuntime(), { endpoint: () => endpoint })
    this.#connection.subscribe(
      { type: 'l4Book', coin: COIN },
      {
        live: () => undefined,
        lost: (reason) => {
          this.lost = reason
        },
        refused: (reason) => {
          this.lost = reason
        },
        frame: (frame) => {
          if (frame.channel !== 'l4Book') return
          if ('Snapshot' in frame.data) this.isReady = true
          else this.blocks++
        },
      },
    )
    this.#connection.start()
  }

  close(): void {
    this.#connection.close()
  }
}

export class Followers {
  #all: readonly Follower[] = []

  /** Anew where there are not as many. Answers the blocks that all of them were told of, null while one has no orders. */
  resize(count: number, addresses: readonly Address[]): number | null {
    if (count !== this.#all.length) {
      for (const one of this.#all) one.close()
      this.#all = Array.from({ length: count }, (_, i) => new Follower(addresses[i % addresses.length]!))
    }
    if (!this.#all.every(({ isReady }) => isReady)) return null
    return Math.min(...this.#all.map(({ blocks }) => blocks), Number.MAX_SAFE_INTEGER)
  }

  get lost(): string | null {
    return this.#all.find((one) => one.lost)?.lost ?? null
  }
}
