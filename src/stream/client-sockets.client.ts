// The client sockets of one relay: who is let in, who each one is, and who has gone quiet.

import type { Identity } from '../key/identity.ts'
import type { Accounts } from './minutes/accounts.ts'
import type { Refusal } from './sockets/admission.ts'
import { type ClientAttachment, clientAttachment } from './sockets/attachment.ts'
import { type CallerBook, lookUpAnew } from './sockets/callers.client.ts'
import type { Clock } from './sockets/connection.ts'
import { Connection } from './sockets/connection.ts'

/** No frame in either direction. */
const IDLE_MS = 60_000

export interface ClientSocketsPorts {
  readonly clock: Clock
  readonly accounts: Accounts
  readonly maxSockets: number
  readonly callers: CallerBook
  /** A socket has ended, whoever ended it. */
  ended(connection: Connection): void
}

export class ClientSockets {
  readonly #ports: ClientSocketsPorts
  readonly #bySocket = new Map<WebSocket, Connection>()
  /** Upgrades that wait for their meter. */
  #entering = 0

  constructor(ports: ClientSocketsPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#bySocket.size
  }

  of(socket: WebSocket): Connection | undefined {
    return this.#bySocket.get(socket)
  }

  /** Null where a socket may come in: `enter` follows at once, or its place is lost. */
  async admit(identity: Identity): Promise<Refusal | null> {
    const { accounts, maxSockets } = this.#ports
    if (this.size + this.#entering >= maxSockets) return { why: 'full', left: 0 }
    this.#entering++
    const refused = await accounts.of(identity.account).admit(identity)
    this.#entering--
    return refused
  }

  /** A socket that was just let in. */
  enter(socket: WebSocket, id: string, identity: Identity): void {
    // Terms that changed a moment ago may not have reached the gateway: with 0 they are looked up at the next report.
    const attachment = clientAttachment({ id, identity, terms: 0 })
    socket.serializeAttachment(attachment)
    this.restore(socket, attachment)
  }

  /** One that outlived the relay's memory. */
  restore(socket: WebSocket, { id, identity, terms }: ClientAttachment): Connection {
    const { clock, accounts } = this.#ports
    const connection = new Connection(id, { identity, terms }, socket, clock, (ended) => {
      this.#bySocket.delete(socket)
      this.#ports.ended(ended)
      accounts.of(ended.identity.account).leave(ended)
    })
    this.#bySocket.set(socket, connection)
    accounts.of(identity.account).enter(connection)
    return connection
  }

  endIdle(): void {
    for (const connection of [...this.#bySocket.values()]) {
      if (connection.idleMs(this.#ports.clock.nowMs) >= IDLE_MS) connection.end(4408, 'idle: send pings')
    }
  }

  /** Brings sockets up to newer terms of their account; their attachments remember it. */
  async lookUp(connections: readonly Connection[], terms: number): Promise<void> {
    await lookUpAnew(this.#ports.callers, connections, terms)
    for (const [socket, connection] of this.#bySocket) {
      if (connections.includes(connection)) socket.serializeAttachment(clientAttachment(connection))
    }
  }
}
