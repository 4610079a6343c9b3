// The AsyncAPI 3 document of /ws, made of the definitions that the gateway parses and sends with. Every channel of the
// catalogue is a subscription within the one WebSocket, so it appears as messages: what asks for it, and what it brings.

import * as z from 'zod'
import { PingFrame, PostFrame, ReplayFrame, SubscribeFrame, UnsubscribeFrame } from '../../protocol/relay/protocol.ts'
import { type AnyChannel, publishedFrame } from '../../relay/channel.ts'
import { Ack, ErrorFrame, Notification, Pong, PostReply, ReplayEvent } from '../../relay/reply-frames.ts'
import { channelSourceText, minutePriceText, snapshotText } from './definition-text.ts'
import { mapped, schemaOf } from './json-schema.ts'

/** Rules by their numbers in docs/reference/websocket.md. Any other code: connect again with backoff. */
const CLOSES: readonly (readonly [code: number, why: string, next: string])[] = [
  [1000, 'You closed the socket (WS-45)', 'None needed'],
  [1001, 'You closed it, for example a browser that left the page, or a proxy restarts', 'Reconnect with backoff'],
  [1005, 'You closed it without a code (WS-45)', 'None needed'],
  [
    1006,
    'The network failed, a part of the gateway restarted, or the upgrade was rejected (WS-2)',
    'Reconnect with backoff. If it never opens, see the rejection with curl',
  ],
  [1002, 'You closed it with a code that may not be sent (WS-45)', 'Close with 1000, or one from 3000 to 4999'],
  [1008, 'Too many frames above the limit (WS-8)', 'Send less, then reconnect'],
  [
    1009,
    'A frame exceeds a limit: that of your library (Python’s `websockets`: 1 MiB), or 64 KiB from you (WS-6)',
    'Raise the limit of your library (`max_size=None`) or send less, then reconnect',
  ],
  [1011, 'A bug in the gateway', 'Reconnect with backoff'],
  [1012, 'Books restart (WS-33), or a replay was interrupted (WS-157)', 'Reconnect and resubscribe'],
  [
    1013,
    'Too much unacknowledged data (WS-12), unavailable Snapshots (WS-48), or an unreachable credit meter (WS-41)',
    'Acknowledge what you read (WS-60), and reconnect with backoff',
  ],
  [4401, 'The key was revoked, replaced, expired or lost the product (WS-40)', 'Do not retry with this key'],
  [4402, 'Credits are exhausted (WS-39)', 'Top up, then reconnect'],
  [4408, 'No frame in either direction for 60 s (WS-11)', 'Ping at least every 30 s, and reconnect'],
  [4410, 'The stream token expired (WS-163)', 'Get another token, reconnect and resubscribe'],
]
export const CLOSE_CODES = CLOSES.map(([code, why, next]) => ({ code, why, next }))

type Json = Readonly<Record<string, unknown>>

const INFO_EXAMPLE = { type: 'info', payload: { type: 'l2Book', coin: 'BTC' } }
const KEY_QUERY = {
  type: 'object',
  properties: { key: { type: 'string', description: 'The API key, where it is not sent as a header' } },
}

const Body = z.looseObject({ type: z.string() })

/** Frames of a client and of the gateway that belong to no channel, by the names of their messages. */
const CLIENT_FRAMES: Readonly<Record<string, Json>> = {
  ping: message('Keeps the connection; with the nonce of the last pong it proves that you read', PingFrame, {
    method: 'ping',
  }),
  unsubscribe: message(
    'Ends a subscription; its body must be the very value that was subscribed',
    UnsubscribeFrame.extend({ subscription: Body }),
    { method: 'unsubscribe', subscription: { type: 'allFills' } },
  ),
  post: message('An info request, answered on the socket at its price', PostFrame, {
    method: 'post',
    id: 1,
    request: INFO_EXAMPLE,
  }),
  replay: message('Pauses, resumes or moves the replay of a body', ReplayFrame.safeExtend({ subscription: Body }), {
    method: 'replay',
    action: 'seek',
    subscription: { type: 'trades', coin: 'BTC' },
    fromBlock: 7,
  }),
}
const GATEWAY_FRAMES: Readonly<Record<string, Json>> = {
  subscriptionResponse: message('A subscription began or ended; it comes before any of its data', Ack, {
    channel: 'subscriptionResponse',
    data: { method: 'subscribe', subscription: { type: 'allFills' } },
  }),
  error: message('Something was refused, or the connection is about to close; `code` tells a program why', ErrorFrame, {
    channel: 'error',
    data: 'Already subscribed: {"type":"allFills"}',
    code: 'already_subscribed',
  }),
  notification: message('A remark, such as that credits run low', Notification, {
    channel: 'notification',
    data: { notification: 'Credits run low: 120 remain, a tenth or less of what the account had. Top up the account.' },
  }),
  pong: message('Answers a ping, with a nonce where that had one', Pong, { channel: 'pong' }),
  replayNews: message('What becomes of a replay', ReplayEvent, {
    channel: 'replay',
    data: { event: 'gap', subscription: { type: 'trades', coin: 'BTC' }, from: 7, to: 9 },
  }),
  postAnswer: message('Answers a post', PostReply, {
    channel: 'post',
    data: { id: 1, response: { type: 'info', payload: { type: 'l2Book', data: null } } },
  }),
}

/** The document of these channels. */
export function asyncApiDocument(channels: readonly AnyChannel[]): Json {
  const asked = {
    ...Object.fromEntries(channels.map((channel) => [subscribeName(channel), subscribeMessage(channel)])),
    ...CLIENT_FRAMES,
  }
  const shared = new Map<string, unknown>()
  const told = {
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
        'One WebSocket carries every subscription of a client. Frames are JSON texts; prices and sizes are decimal ' +
        'strings, times are Unix milliseconds. Unknown fields of a subscription are refused, those beside it are ignored and ' +
        'named in a notification, or refused where they belong inside it; frames may gain fields.',
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: {
        host: '{host}',
        protocol: 'wss',
        variables: { host: { default: 'localhost', description: 'Where the gateway is deployed' } },
        security: [{ $ref: '#/components/securitySchemes/query' }, { $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    channels: {
      ws: {
        address: '/ws',
        description: 'Send a ping at least every 30 s, as a frame: pings of the WebSocket protocol do not count.',
        bindings: { ws: { method: 'GET', query: KEY_QUERY } },
        // The format has no place for close codes.
        'x-close-codes': CLOSE_CODES,
        messages: mapped({ ...asked, ...told }, (_, name) => ({ $ref: `#/components/messages/${name}` })),
      },
    },
    operations: {
      subscribe: operation('receive', 'Begins a subscription', channels.map(subscribeName), [
        'subscriptionResponse',
        'error',
      ]),
      unsubscribe: operation('receive', 'Ends one', ['unsubscribe'], ['subscriptionResponse', 'error']),
      ping: operation('receive', 'Keeps the connection', ['ping'], ['pong']),
      post: operation('receive', 'Asks an info question over the socket', ['post'], ['postAnswer', 'error']),
      replay: operation('receive', 'Steers a replay', ['replay'], ['replayNews', 'error']),
      data: operation(
        'send',
        'What subscriptions bring',
        channels.map(({ type }) => type),
      ),
      tell: operation('send', 'Remarks, and why the socket is about to close', ['notification', 'error']),
    },
    components: {
      messages: { ...asked, ...told },
      schemas: Object.fromEntries(shared),
      securitySchemes: {
        query: { type: 'httpApiKey', in: 'query', name: 'key', description: 'An API key (`cqt_…`)' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key in a header' },
      },
    },
  }
}

function subscribeName({ type }: AnyChannel): string {
  return `subscribe.${type}`
}

function subscribeMessage(channel: AnyChannel): Json {
  const { type, summary, example, request } = channel
  const said = `Credits: ${minutePriceText(channel)}. Source: ${channelSourceText(channel)}. Snapshot: ${snapshotText(channel)}.`
  const subscribe = SubscribeFrame.extend({ subscription: request })
  const asked = { method: 'subscribe', subscription: { type, ...example.request } }
  return { ...message(summary, subscribe, asked), description: said }
}

function dataMessage(channel: AnyChannel, shared: Map<string, unknown>): Json {
  const { type, example } = channel
  return message(`What a subscription of \`${type}\` brings`, publishedFrame(channel), example.frame, shared)
}

function message(summary: string, payload: z.ZodType, example: unknown, shared = new Map<string, unknown>()): Json {
  return { summary, payload: schemaOf(payload, shared, 'draft-7'), examples: [{ payload: example }] }
}

function operation(
  action: 'send' | 'receive',
  summary: string,
  messages: readonly string[],
  answers?: readonly string[],
): Json {
  const channel = { $ref: '#/channels/ws' }
  const refs = (names: readonly string[]) => names.map((name) => ({ $ref: `#/channels/ws/messages/${name}` }))
  const reply = answers && { reply: { channel, messages: refs(answers) } }
  return { action, summary, channel, messages: refs(messages), ...reply }
}
