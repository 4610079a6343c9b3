// Real clients of /graphql: that of the package graphql-ws, as its users have it.

import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

type Result = { readonly data?: unknown; readonly errors?: readonly { extensions?: unknown; message: string }[] }

/** Connects when it is first used, and not again. `closes` has the codes of its sockets. */
export function graphqlClient(ws: string, connectionParams: Record<string, unknown>) {
  const closes: number[] = []
  const client = createClient({
    url: `${ws}/graphql`,
    connectionParams,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    on: { closed: (event) => void closes.push((event as { code: number }).code) },
  })
  return { client, closes, subscribe: (query: string, variables = {}) => subscribed(client, query, variables) }
}

/** Results as they come; `end` tells how it ended. */
function subscribed(client: Client, query: string, variables: Record<string, unknown>) {
  const results: Result[] = []
  let end: unknown = null
  const stop = client.subscribe(
    { query, variables },
    {
      next: (result) => void results.push(result as Result),
      error: (error) => {
        end = error
      },
      complete: () => {
        end ??= 'complete'
      },
    },
  )
  return { results, stop, ended: () => end }
}
