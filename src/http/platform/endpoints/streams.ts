// Open streams of an account, and stream tokens that browsers use instead of a key.

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
    type: z.string().describe('Channel; empty if unknown to the meter'),
    body: z.string().describe('Subscription body as sent, at most 200 characters; empty if unknown'),
    prefix: z.string().nullable().describe('First 12 characters of the key'),
    since: UnixMs.describe('Start of the first minute, Unix milliseconds'),
    credits_a_minute: CreditsText.describe('Price per minute'),
  })
  .meta({ id: 'OpenStream' })

const ownStreams = defineEndpoint({
  id: 'ownStreams',
  route: 'GET /platform/streams/',
  summary: 'List open sockets and subscriptions, with their price per minute',
  description: `${READ_ACCESS_TEXT} As last reported by relays, about 20 s late.`,
  auth: 'key',
  responses: okResponse(
    'The open streams',
    z.object({
      sockets: z.int().describe('Number of open sockets across all keys and relays'),
      subscriptions: z.int().describe('Number of active subscriptions'),
      credits_a_minute: CreditsText.describe('Price of the next minute of all subscriptions'),
      streams: z.array(Stream).describe('Subscriptions by price, most expensive first, at most 500'),
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
      .min(1, 'must name at least one coin. Omit the field for all coins')
      .max(TOKEN_COINS_MAX, `must name at most ${TOKEN_COINS_MAX} coins. Omit the field for all coins`)
      .refine(distinct, 'contains a coin twice. List each once')
      .optional()
      .describe('Allowed coins; absent: all'),
    channels: z
      .array(z.enum(TOKEN_CHANNELS, `must be one of ${TOKEN_CHANNELS.join(', ')}`))
      .min(1, 'must name at least one channel. Omit the field for all channels')
      .refine(distinct, 'contains a channel twice. List each once')
      .optional()
      .describe('Allowed channels; absent: all of these'),
    minutes: z
      .int()
      .min(1)
      .max(TOKEN_MINUTES_MAX, `must be at most ${TOKEN_MINUTES_MAX} minutes. Create another token when it expires`)
      .optional()
      .describe(`Validity in minutes; default ${DEFAULT_MINUTES}`),
  })
  .meta({ id: 'StreamTokenOrder' })

const StreamToken = z
  .object({
    token: z.string().describe('The token; not stored by the gateway'),
    expires: UnixMs.describe('Expiry, Unix milliseconds'),
    coins: z.array(z.string()).nullable().describe('Allowed coins; null: all'),
    channels: z.array(z.string()).describe('Allowed channels'),
    time: UnixMs.describe('Server time of the response, Unix milliseconds'),
  })
  .meta({ id: 'StreamToken' })

const createStreamToken = defineEndpoint({
  id: 'makeStreamToken',
  route: 'POST /platform/stream-tokens',
  summary: 'Create a stream token for a browser',
  description:
    'Free of charge. Requires an API key for streams. The token is valid for at most an hour, for `/ws`, `/graphql` and these types of `/info`: ' +
    `${TOKEN_INFO_TYPES.map((type) => `\`${type}\``).join(', ')}. ` +
    'Usage is charged to the key that created the token. The token becomes invalid when that key does.',
  auth: 'key',
  product: 'stream',
  body: { schema: StreamTokenInput, optional: true, example: { coins: ['BTC', 'ETH'], minutes: 15 } },
  responses: createdResponse('The token, shown only once', StreamToken, {
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
    const claims = { coins, channels: [...channels], expires }
    const token = await sealToken({ keyHash: identity.keyHash, ...claims })
    return token.ok ? reply(201, { token: token.value, ...claims, time }) : token
  },
})

export const STREAMS = [ownStreams, createStreamToken]
