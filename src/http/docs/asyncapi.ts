// Builds the AsyncAPI 3 document of /ws from the definitions that the gateway uses to parse and send frames. All
// channels of the catalog share one WebSocket, so each channel appears as two messages: subscribe and data. The document
// describes a client, because generators create a method for each operation that the described program sends.

import * as z from 'zod'
import { PingFrame, PostFrame, ReplayFrame, SubscribeFrame, UnsubscribeFrame } from '../../protocol/relay/protocol.ts'
import { type AnyChannel, publishedFrame } from '../../relay/channel.ts'
import { Ack, ErrorFrame, Notification, Pong, PostReply, ReplayEvent } from '../../relay/reply-frames.ts'
import { channelSourceText, minutePriceText, snapshotText } from './definition-text.ts'
import { mapped, schemaOf } from './json-schema.ts'

/** WS-n refers to a rule of the protocol page. After any code that is not listed, clients reconnect with backoff. */
const CLOSES: readonly (readonly [code: number, why: string, next: string])[] = [
  [1000, 'You closed the socket (WS-45)', 'None needed'],
  [
    1001,
    'Your side closed it, for example because the user left the page, or a proxy restarted',
    'Reconnect with backoff',
  ],
  [1005, 'You closed the socket without a code (WS-45)', 'None needed'],
  [
    1006,
    'The network failed, a part of the gateway restarted, or the upgrade was rejected (WS-2)',
    'Reconnect with backoff. If the socket never opens, use curl to see why',
  ],
  [
    1002,
    'You closed the socket with a code that is not allowed (WS-45)',
    'Close with 1000, or a code from 3000 to 4999',
  ],
  [1008, 'Too many frames above the limit (WS-8)', 'Send less, then reconnect'],
  [
    1009,
    'A frame is larger than your library allows (Python’s `websockets`: 1 MiB), or you sent a frame over 64 KiB (WS-6)',
    'Raise the limit of your library (`max_size=None`) or send less, then reconnect',
  ],
  [1011, 'A bug in the gateway', 'Reconnect with backoff'],
  [1012, 'Books restart (WS-33), or a replay was interrupted (WS-157)', 'Reconnect and resubscribe'],
  [
    1013,
    'Too much unacknowledged data (WS-12), unavailable snapshots (WS-48), or an unreachable credit meter (WS-41)',
    'Acknowledge what you read (WS-60), and reconnect with backoff',
  ],
  [
    4401,
    'The key was revoked or replaced, has expired, or no longer includes the product (WS-40)',
    'Do not retry with this key',
  ],
  [4402, 'Credits are exhausted (WS-39)', 'Top up, then reconnect'],
  [4408, 'No frame in either direction for 60 s (WS-11)', 'Ping at least every 30 s, and reconnect'],
  [4410, 'The stream token expired (WS-163)', 'Get a new token, reconnect and resubscribe'],
  [4413, 'Your unread data was more than 30 s old (WS-65)', 'Reconnect and resume. Read faster, or subscribe to less'],
]
export const CLOSE_CODES = CLOSES.map(([code, why, next]) => ({ code, why, next }))

type Json = Readonly<Record<string, unknown>>

const INFO_EXAMPLE = { type: 'info', payload: { type: 'l2Book', coin: 'BTC' } }
const KEY_QUERY = {
  type: 'object',
  properties: { key: { type: 'string', description: 'API key, if not sent as a header' } },
}

const Body = z.looseObject({ type: z.string() })

/** Client frames that belong to no channel, by message name. */
const CLIENT_FRAMES: Readonly<Record<string, Json>> = {
  ping: message(
    'Keeps the connection open. With the nonce of the last pong, a ping also confirms that you have read all frames up to that pong',
    PingFrame,
    {
      method: 'ping',
    },
  ),
  unsubscribe: message(
    'Ends a subscription; the body must equal the body with which you subscribed',
    UnsubscribeFrame.extend({ subscription: Body }),
    { method: 'unsubscribe', subscription: { type: 'allFills' } },
  ),
  post: message('Info request over the socket, at its usual price', PostFrame, {
    method: 'post',
    id: 1,
    request: INFO_EXAMPLE,
  }),
  replay: message(
    'Pauses, resumes or seeks the replay of a subscription',
    ReplayFrame.safeExtend({ subscription: Body }),
    {
      method: 'replay',
      action: 'seek',
      subscription: { type: 'trades', coin: 'BTC' },
      fromBlock: 7,
    },
  ),
}
const GATEWAY_FRAMES: Readonly<Record<string, Json>> = {
  subscriptionResponse: message('Acknowledges that a subscription started or ended; precedes its data', Ack, {
    channel: 'subscriptionResponse',
    data: { method: 'subscribe', subscription: { type: 'allFills' } },
  }),
  error: message(
    'Rejects a frame or announces that the connection closes; `code` is the machine-readable reason',
    ErrorFrame,
    {
      channel: 'error',
      data: 'Already subscribed: {"type":"allFills"}',
      code: 'already_subscribed',
    },
  ),
  notification: message('Notice, for example that credits run low', Notification, {
    channel: 'notification',
    data: { notification: 'Credits run low: 120 remain, a tenth or less of what the account had. Top up the account.' },
  }),
  pong: message('Reply to a ping; carries a nonce if requested', Pong, { channel: 'pong' }),
  replayNews: message('Event of a replay', ReplayEvent, {
    channel: 'replay',
    data: { event: 'gap', subscription: { type: 'trades', coin: 'BTC' }, from: 7, to: 9 },
  }),
  postAnswer: message('Reply to a post', PostReply, {
    channel: 'post',
    data: { id: 1, response: { type: 'info', payload: { type: 'l2Book', data: null } } },
  }),
}

/** The AsyncAPI document of these channels. */
export function asyncApiDocument(channels: readonly AnyChannel[]): Json {
  const clientMessages = {
    ...Object.fromEntries(channels.map((channel) => [subscribeName(channel), subscribeMessage(channel)])),
    ...CLIENT_FRAMES,
  }
  const shared = new Map<string, unknown>()
  const gatewayMessages = {
    ...Object.fromEntries(channels.map((channel) => [channel.type, dataMessage(channel, shared)])),
    ...GATEWAY_FRAMES,
  }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Weir streams',
      version: '1',
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
      description:
        'Describes a client of the gateway. One WebSocket carries all its subscriptions. Frames are JSON; prices and sizes are decimal strings, and times are Unix milliseconds. A subscription with an unknown field is rejected. Unknown fields next to `subscription` are ignored and listed in a notification; fields that belong inside `subscription` are rejected there. New fields may be added to frames.',
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}',
        protocol: 'wss',
        variables: { host: { default: 'localhost', description: 'Host of the gateway' } },
        security: [{ $ref: '#/components/securitySchemes/query' }, { $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    channels: {
      ws: {
        address: '/ws',
        description:
          'Send a ping frame (`{"method":"ping"}`) at least every 30 s. Pings of the WebSocket protocol do not count.',
        bindings: { ws: { method: 'GET', query: KEY_QUERY } },
        // AsyncAPI has no standard field for close codes.
        'x-close-codes': CLOSE_CODES,
        messages: mapped({ ...clientMessages, ...gatewayMessages }, (_, name) => ({
          $ref: `#/components/messages/${name}`,
        })),
      },
    },
    operations: {
      subscribe: operation('send', 'Starts a subscription', channels.map(subscribeName), [
        'subscriptionResponse',
        'error',
      ]),
      unsubscribe: operation('send', 'Ends a subscription', ['unsubscribe'], ['subscriptionResponse', 'error']),
      ping: operation('send', 'Keeps the connection open', ['ping'], ['pong']),
      post: operation('send', 'Sends an info request over the socket', ['post'], ['postAnswer', 'error']),
      replay: operation('send', 'Controls a replay', ['replay'], ['replayNews', 'error']),
      data: operation(
        'receive',
        'Delivers data of subscriptions',
        channels.map(({ type }) => type),
      ),
      notify: operation('receive', 'Sends notices, and the reason before the socket closes', ['notification', 'error']),
    },
    components: {
      messages: { ...clientMessages, ...gatewayMessages },
      schemas: Object.fromEntries(shared),
      securitySchemes: {
        query: { type: 'httpApiKey', in: 'query', name: 'key', description: 'An API key (`cqt_…`)' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, as a header' },
      },
    },
  }
}

function subscribeName({ type }: AnyChannel): string {
  return `subscribe.${type}`
}

function subscribeMessage(channel: AnyChannel): Json {
  const { type, summary, example, request } = channel
  const description = `Credits: ${minutePriceText(channel)}. Source: ${channelSourceText(channel)}. Snapshot: ${snapshotText(channel)}.`
  const subscribe = SubscribeFrame.extend({ subscription: request })
  const frame = { method: 'subscribe', subscription: { type, ...example.request } }
  return { ...message(summary, subscribe, frame), description }
}

function dataMessage(channel: AnyChannel, shared: Map<string, unknown>): Json {
  const { type, example } = channel
  return message(`Data of a \`${type}\` subscription`, publishedFrame(channel), example.frame, shared)
}

function message(summary: string, payload: z.ZodType, example: unknown, shared = new Map<string, unknown>()): Json {
  return { summary, payload: schemaOf(payload, shared, 'draft-7'), examples: [{ payload: example }] }
}

function operation(
  action: 'send' | 'receive',
  summary: string,
  messages: readonly string[],
  replies?: readonly string[],
): Json {
  const channel = { $ref: '#/channels/ws' }
  const refs = (names: readonly string[]) => names.map((name) => ({ $ref: `#/channels/ws/messages/${name}` }))
  const reply = replies && { reply: { channel, messages: refs(replies) } }
  return { action, summary, channel, messages: refs(messages), ...reply }
}
