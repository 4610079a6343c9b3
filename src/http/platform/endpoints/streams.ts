// Open streams of an account, and the token that a page gives its visitors' browsers in place of a key.

import * as z from 'zod'
import { TOKEN_CHANNELS, TOKEN_COINS_MAX, TOKEN_INFO_TYPES, TOKEN_MINUTES_MAX } from '../../../accounts/stream-token.ts'
import { formatCredits } from '../../../core/amount.ts'
import { visible } from '../../../core/visible.ts'
import { CoinName } from '../../../protocol/feed/block.ts'
import { READ_ACCESS_TEXT } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { CreditsText, UnixMs } from '../fields.ts'

const LISTED_MAX = 500

const Stream = z
  .object({
    type: z.string().describe('The channel; empty of one that began before its meter was told'),
    body: z.string().describe('Its body as it was sent, at most 200 characters; empty where it is not known'),
    prefix: z.string().nullable().describe('The key’s first twelve characters'),
    since: UnixMs.describe('When its first minute began, Unix milliseconds'),
    credits_a_minute: CreditsText.describe('What a minute of it costs'),
  })
  .meta({ id: 'OpenStream' })

const ownStreams = defineEndpoint({
  id: 'ownStreams',
  route: 'GET /platform/streams/',
  summary: 'Open sockets and subscriptions of the account with their cost a minute',
  description: `${READ_ACCESS_TEXT} As relays last told, some twenty seconds late.`,
  auth: 'key',
  responses: okResponse(
    'What is open',
    z.object({
      sockets: z.int().describe('Open sockets, over all keys and relays'),
      subscriptions: z.int().describe('Subscriptions that run'),
      credits_a_minute: CreditsText.describe('What the next minute of all of them costs'),
      streams: z.array(Stream).describe('Those that cost most first, at most 500'),
    }),
    { streams: [{ type: 'trades', body: '{"type":"trades","coin":"BTC"}' }] },
  ),
  handle: async ({ identity: { account } }, { meterOf, keys }) => {
    const { sockets, subscriptions, perMinute, listed } = await meterOf(account).streams(LISTED_MAX)
    const names = await keys.namesByHash([...new Set(listed.map(({ keyHash }) => keyHash))])
    const streams = listed.map(({ type, shown, keyHash, sinceMs, amount }) => ({
      type,
      body: visible(shown),
      prefix: names.get(keyHash)?.prefix ?? null,
      since: sinceMs,
      credits_a_minute: formatCredits(amount),
    }))
    return reply(200, { sockets, subscriptions, credits_a_minute: formatCredits(perMinute), streams })
  },
})

const DEFAULT_MINUTES = 15

const distinct = (items: readonly string[]) => new Set(items).size === items.length

const StreamTokenInput = z
  .strictObject({
    coins: z
      .array(CoinName)
      .min(1, 'must name at least one coin; leave it out for all')
      .max(TOKEN_COINS_MAX, `at most ${TOKEN_COINS_MAX} coins: leave it out for all`)
      .refine(distinct, 'names a coin twice: list each once')
      .optional()
      .describe('Coins that it is for; left out: all'),
    channels: z
      .array(z.enum(TOKEN_CHANNELS, `must be of ${TOKEN_CHANNELS.join(', ')}`))
      .min(1, 'must name at least one channel; leave it out for all of markets')
      .refine(distinct, 'names a channel twice: list each once')
      .optional()
      .describe('Channels that it is for; left out: all of these'),
    minutes: z
      .int()
      .min(1)
      .max(TOKEN_MINUTES_MAX, `at most ${TOKEN_MINUTES_MAX} minutes: make another one when it ends`)
      .optional()
      .describe(`How long it lasts; left out: ${DEFAULT_MINUTES}`),
  })
  .meta({ id: 'StreamTokenOrder' })

const StreamToken = z
  .object({
    token: z.string().describe('Kept by nobody here'),
    expires: UnixMs.describe('When it ends, Unix milliseconds'),
    coins: z.array(z.string()).nullable().describe('Null: all'),
    channels: z.array(z.string()).describe('Channels that it is for'),
    time: UnixMs.describe('The gateway’s time of the answer, Unix milliseconds'),
  })
  .meta({ id: 'StreamToken' })

const createStreamToken = defineEndpoint({
  id: 'makeStreamToken',
  route: 'POST /platform/stream-tokens',
  summary: 'A stream token for a browser, in the place of a key',
  description:
    'Free of charge, with an API key for streams. It opens `/ws` and market types of `/info` ' +
    `(${TOKEN_INFO_TYPES.map((type) => `\`${type}\``).join(', ')}) and nothing else, for at most an hour. ` +
    'What it is used for is charged to the key that made it, and it ends with that key.',
  auth: 'key',
  product: 'stream',
  body: { schema: StreamTokenInput, optional: true, example: { coins: ['BTC', 'ETH'], minutes: 15 } },
  responses: createdResponse('The token, shown this once', StreamToken, {
    token: 'cqe_eyJ2IjoxfQ.0uJ4yQ3m1v8s7w6x5z4b3c2d1e0f9g8h7i6j5k4l3m2',
    expires: 1790000900000,
    coins: ['BTC', 'ETH'],
    channels: [...TOKEN_CHANNELS],
    time: 1790000000000,
  }),
  handle: async ({ identity, body }, { sealToken, now }) => {
    const { coins = null, channels = TOKEN_CHANNELS, minutes = DEFAULT_MINUTES } = body ?? {}
    const time = now()
    const expires = Math.min(time + minutes * 60_000, identity.expires ?? Number.POSITIVE_INFINITY)
    const said = { coins, channels: [...channels], expires }
    const token = await sealToken({ keyHash: identity.keyHash, ...said })
    return token.ok ? reply(201, { token: token.value, ...said, time }) : token
  },
})

export const STREAMS = [ownStreams, createStreamToken]
