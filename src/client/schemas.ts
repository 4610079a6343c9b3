// Schemas for users of the client package who validate strictly. They are the gateway's own schemas and need zod, which
// the rest of the package does not use.

import type * as z from 'zod'
import { CATALOGUE } from '../info/queries/catalogue.ts'
import { publishedFrame } from '../relay/channel.ts'
import { CHANNELS } from '../relay/channels/catalogue.ts'
import type { ChannelTypes, InfoTypes } from './wire.ts'

export type InfoSchemas = {
  readonly [T in keyof InfoTypes]: {
    readonly request: z.ZodType<unknown, InfoTypes[T]['request']>
    readonly answer: z.ZodType<InfoTypes[T]['answer']>
  }
}
export type ChannelSchemas = {
  readonly [T in keyof ChannelTypes]: {
    readonly body: z.ZodType<unknown, ChannelTypes[T]['body']>
    readonly frame: z.ZodType<ChannelTypes[T]['frame']>
  }
}

/**
 * Schemas of `POST /info` requests and responses, by type.
 *
 * @example
 * ```ts
 * import { infoSchemas } from '@weir/client/schemas'
 *
 * const answer = infoSchemas.allMids.answer.parse({ BTC: '81307.0' })
 * console.log(answer.BTC)
 * ```
 * @see {@link channelSchemas}
 */
export const infoSchemas: InfoSchemas = Object.fromEntries(
  CATALOGUE.map(({ type, request, response }) => [type, { request, answer: response() }]),
) as InfoSchemas

/**
 * Schemas of subscriptions and frames, by channel.
 *
 * @example
 * ```ts
 * import { channelSchemas } from '@weir/client/schemas'
 *
 * channelSchemas.trades.body.parse({ type: 'trades', coin: 'BTC' })
 * ```
 * @see {@link infoSchemas}
 */
export const channelSchemas: ChannelSchemas = Object.fromEntries(
  CHANNELS.map((channel) => [channel.type, { body: channel.request, frame: publishedFrame(channel) }]),
) as ChannelSchemas
