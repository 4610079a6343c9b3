// For strict users of the client package: the schemas that the gateway itself parses and publishes with. They need zod, which
// the rest of the package does not.

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

/** Of `POST /info`, by type. */
export const infoSchemas: InfoSchemas = Object.fromEntries(
  CATALOGUE.map(({ type, request, response }) => [type, { request, answer: response }]),
) as InfoSchemas

/** Of channels, by type. */
export const channelSchemas: ChannelSchemas = Object.fromEntries(
  CHANNELS.map((channel) => [channel.type, { body: channel.request, frame: publishedFrame(channel) }]),
) as ChannelSchemas
