// What a key runs, has set and made, as its owner and the operator see it: what stops when it is revoked, and what to check
// after a leak.

import * as z from 'zod'
import { type KeyRow, rootOf } from '../key/key-row.ts'
import { recipientOf } from '../pipeline/secrets.ts'
import type { Platform } from './platform-api.ts'

export const KeyReach = z
  .object({
    pipelines: z
      .array(
        z.object({
          id: z.string().describe('`pipe_…`'),
          name: z.string().describe('As its owner called it'),
          topic: z.string().describe('What it reads'),
          destination: z.string().describe('Where its rows go: the type of the destination, and its host'),
          stops: z.boolean().describe('It runs, is charged to this key, and is paused when the key is revoked'),
          destination_set: z
            .boolean()
            .describe('This key, or one of its chain of rotations, last set where its rows go'),
        }),
      )
      .describe('Pipelines that are charged to it, or whose destination it set'),
    keys: z
      .array(
        z.object({
          hash: z.string().describe('SHA-256 of the key, hex'),
          prefix: z.string().describe('The key’s first twelve characters'),
          label: z.string().describe('Text for people'),
        }),
      )
      .describe(
        'Keys that work and were made or rotated with it, or with such a key, at most 1,000: they go on without it',
      ),
    webhook: z
      .string()
      .nullable()
      .describe('Address of the account’s webhook, where this key set it; null: it did not'),
  })
  .meta({ id: 'KeyReach' })

export const REACH_EXAMPLE = {
  pipelines: [
    {
      id: 'pipe_9fKxWq2TbNkRzd5mYvHs4u',
      name: 'fills of two wallets',
      topic: 'fills',
      destination: 'clickhouse https://example.com:8443',
      stops: true,
      destination_set: true,
    },
  ],
  keys: [{ hash: 'a1'.repeat(32), prefix: 'cqt_9fKxWq2T', label: 'bot' }],
  webhook: null,
}

export const REACH_TEXT = 'What stops when the key is revoked, which destinations it has set, and which keys it made'

/** Keys that replaced one another reach the same; a key that was replaced stops nothing, since its successor carries on. */
export async function reachOf(
  key: Pick<KeyRow, 'account' | 'hash' | 'root' | 'replaced_by'>,
  { pipelines, keys, meterOf }: Pick<Platform, 'pipelines' | 'keys' | 'meterOf'>,
): Promise<z.infer<typeof KeyReach>> {
  const [reached, made, setter] = await Promise.all([
    pipelines.reach(key),
    keys.madeBy(key),
    meterOf(key.account).webhookSetter(),
  ])
  return {
    pipelines: reached.map(({ row: { id, fields }, isCharged, hasSetDestination }) => ({
      id,
      name: fields.name,
      topic: fields.topic,
      destination: recipientOf(fields.destination_config).trim(),
      stops: isCharged && key.replaced_by === null && fields.status === 'running',
      destination_set: hasSetDestination,
    })),
    keys: [...made],
    webhook: setter?.by === rootOf(key) ? setter.url : null,
  }
}
