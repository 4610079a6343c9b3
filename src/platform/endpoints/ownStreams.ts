// GET /platform/streams/: what the account has open, and what a minute of it costs.

import * as z from 'zod'
import { visible } from '../../core/visible.ts'
import { formatCredits } from '../../credit/amount.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { enveloped, inEnvelope } from '../envelope.ts'
import { CreditsText, UnixMs } from '../fields.ts'
import { FOR_READING } from '../own-account.ts'

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

export const ownStreams = defineEndpoint(
  {
    id: 'ownStreams',
    method: 'get',
    path: '/platform/streams/',
    summary: 'Open sockets and subscriptions of the account with their cost a minute',
    description: `${FOR_READING} As relays last told, some twenty seconds late.`,
    door: 'key',
    answers: {
      200: {
        description: 'What is open',
        schema: enveloped(
          z.object({
            sockets: z.int().describe('Open sockets, over all keys and relays'),
            subscriptions: z.int().describe('Subscriptions that run'),
            credits_a_minute: CreditsText.describe('What the next minute of all of them costs'),
            streams: z.array(Stream).describe('Those that cost most first, at most 500'),
          }),
        ),
        example: inEnvelope({
          sockets: 1,
          subscriptions: 1,
          credits_a_minute: '1',
          streams: [
            {
              type: 'trades',
              body: '{"type":"trades","coin":"BTC"}',
              prefix: 'cqt_9fKxWq2T',
              since: 1790000000000,
              credits_a_minute: '1',
            },
          ],
        }),
      },
    },
    refusals: [],
  },
  async ({ identity: { account } }, { meterOf, keys }) => {
    const { sockets, subscriptions, perMinute, listed } = await meterOf(account).streams(LISTED_MAX)
    const names = await keys.names([...new Set(listed.map(({ keyHash }) => keyHash))])
    const streams = listed.map(({ type, shown, keyHash, sinceMs, amount }) => ({
      type,
      body: visible(shown),
      prefix: names.get(keyHash)?.prefix ?? null,
      since: sinceMs,
      credits_a_minute: formatCredits(amount),
    }))
    return reply(200, inEnvelope({ sockets, subscriptions, credits_a_minute: formatCredits(perMinute), streams }))
  },
)
