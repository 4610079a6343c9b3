// GET /ws and /graphql as operations of the OpenAPI document: how a socket is opened, and with what it is refused. What goes over it
// is AsyncAPI's.

type Json = Readonly<Record<string, unknown>>

/** Refusals before the upgrade (WS-2), each with when. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'The key is missing, malformed, unknown, revoked or expired',
  402: 'Less is left than a minute of the cheapest stream costs',
  403: 'The key is not for streams, or not for this address',
  422: 'Not a WebSocket upgrade',
  429: 'As many sockets as the plan allows are open, the key connects too often, or too many keys were looked up; `msg` says which; see `retry-after`',
  503: 'Every relay of the region is full, or the credit meter cannot be reached; see `retry-after`',
}

/** Of a socket whose key comes later. */
export function graphqlOperation(): Json {
  const refusals = ['400', '429', '503'].map(
    (status) => [status, { $ref: `#/components/responses/${status}` }] as const,
  )
  return {
    operationId: 'connectGraphql',
    tags: ['streams'],
    summary: 'Opens a WebSocket of GraphQL',
    description:
      'Subprotocol `graphql-transport-ws`; the key goes into the payload of `connection_init`, as `SERVICE_API_KEY`. Every ' +
      'channel is a subscription: introspection shows the schema.',
    security: [],
    responses: {
      101: { description: 'The socket is open: send connection_init' },
      ...Object.fromEntries(refusals),
    },
  }
}

export function socketOperation(): Json {
  return {
    operationId: 'connect',
    tags: ['streams'],
    summary: 'Opens the WebSocket',
    description:
      'What is sent over it stands in /asyncapi.json. Connecting is free; subscriptions cost credits by the minute.',
    security: [{ key: [] }, { queryKey: [] }],
    parameters: [
      {
        name: 'key',
        in: 'query',
        required: false,
        description: 'The API key, for clients that cannot set a header, such as browsers',
        schema: { type: 'string' },
      },
    ],
    responses: {
      101: { description: 'The socket is open: send subscribe frames' },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { $ref: `#/components/responses/${status}`, description },
        ]),
      ),
    },
  }
}
