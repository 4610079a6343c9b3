// Takes up what outlived a relay's memory: its sockets, by their attachments, and their subscriptions.

import type { ClientSockets } from './client-sockets.client.ts'
import type { GraphqlSockets } from './graphql/graphql-sockets.client.ts'
import type { Links } from './links/links.client.ts'
import type { Accounts } from './minutes/accounts.ts'
import { parseAttachment } from './sockets/attachment.ts'
import type { Connection } from './sockets/connection.ts'
import type { SubscriptionStore } from './subscription.store.ts'
import type { Subscriptions } from './subscriptions.ts'

/** What a relay is made of. */
interface Parts {
  readonly clients: ClientSockets
  readonly graphql: GraphqlSockets
  readonly links: Links
  readonly store: SubscriptionStore
  readonly subscriptions: Subscriptions
  readonly accounts: Accounts
  readonly nowMs: number
}

export function wake(sockets: readonly WebSocket[], parts: Parts): void {
  const { links, store, subscriptions, accounts } = parts
  const clients = new Map<string, Connection>()
  for (const socket of sockets) {
    const client = socket.readyState === WebSocket.OPEN ? restored(socket, parts) : null
    if (client && !client.ended) clients.set(client.id, client)
  }
  for (const saved of store.all()) {
    const socket = clients.get(saved.socket)
    const client = socket && saved.operation !== '' ? parts.graphql.wake(socket, saved) : socket
    if (client) subscriptions.restore(client, saved)
    else store.remove(saved.id)
    // Its meter learns which minutes died with the sockets, so that whoever reconnects anywhere has their rests.
    if (!client && saved.account !== '') accounts.of(saved.account).report()
  }
  // A link that did not outlive it leaves events unseen, and books that nobody can continue.
  if (!links.log.up) links.tellGap('The relay was restarted: some events may be missing.')
  links.hubs.forEach(({ link }, index) => {
    if (!link.up) links.breakDiffs(index)
  })
}

/** The client whose socket it is, if it is one's. */
function restored(socket: WebSocket, { clients, graphql, links, nowMs }: Parts): Connection | null {
  const attachment = parseAttachment(socket.deserializeAttachment())
  if (attachment?.of === 'guest') graphql.restoreGuest(socket, attachment)
  else if (attachment?.of === 'client')
    return attachment.product === 'graphql' ? graphql.restore(socket, attachment) : clients.restore(socket, attachment)
  else if (attachment) links.of(attachment)?.restore(socket, nowMs)
  return null
}
