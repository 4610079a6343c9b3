// Variables of the Workers, parsed: how one is read, and those that the objects share with the gateway (the rest stands
// in env.ts). Law: one that is missing or wrong is named and ends the start; it is never guessed.

import * as z from 'zod'
import { parseJson } from './json.ts'
import { parseWith } from './validation-errors.ts'

export const Switch = z.enum(['on', 'off'], 'must be "on" or "off"').transform((value) => value === 'on')

/** What a count must be; `more`: what else would do. */
export const countMessage = (max: number, more = '') => `must be a whole number from 1 to ${max}${more}`

/** A whole number from 1 to `max`. */
export function Count(max: number, more = '') {
  const words = countMessage(max, more)
  return z.coerce.number(words).int(words).min(1, words).max(max, words)
}

/** JSON of this schema as text; what is wrong is said with its path. */
export function JsonText<T>(schema: z.ZodType<T>) {
  return z.string("must be text: JSON between three quotes, '''{…}'''").transform((text, context): T => {
    const read = parseWith(schema, parseJson(text))
    if (read.ok) return read.value
    const message = read.error.map((issue) => `${issue.path && `${issue.path} `}${issue.message}`).join(', ')
    context.addIssue({ code: 'custom', message: `must be JSON of its form: ${message.replaceAll(';', ',')}` })
    return z.NEVER
  })
}

/** The platform's location hints: where a Durable Object can be asked to be made. */
export const REGIONS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'] as const

const ZONES_MESSAGE = 'must be domains with commas between them, such as "example.com,example.net", or empty'

/** What both Workers must know alike: `npm run check` compares the two files. */
export const LiveSettings = z.object({
  /** Stands in the name of every object of the chain. */
  CHAIN: z.string().min(1).max(32),
  /** Shards of coins, each with a hub. */
  BOOK_HUBS: Count(64),
  /** Client sockets of one relay; the platform takes no more on an object. */
  RELAY_SOCKETS: Count(32_768),
  /** Where log and hubs are made: near the node. Null: wherever they are first asked for. */
  FEED_REGION: z
    .enum([...REGIONS, ''], `must be one of ${REGIONS.join(', ')}, or empty for none`)
    .transform((region) => region || null),
  /** On: pipelines and webhooks may send to private addresses, and without TLS. */
  PIPELINE_PRIVATE: Switch,
  /** Domains of the operator, beside that of PUBLIC_URL, to whose hosts neither sends. */
  OWN_ZONES: z
    .string(ZONES_MESSAGE)
    .max(2_048, ZONES_MESSAGE)
    .regex(/^(?:(?:[a-z0-9-]+\.)+[a-z0-9-]+(?:,(?!$)|$))*$/, ZONES_MESSAGE)
    .transform((list) => (list === '' ? [] : list.split(','))),
  /** Where people reach the console. */
  PUBLIC_URL: z
    .string()
    .regex(/^(?:https?:\/\/[a-z0-9.-]+(?::\d+)?)?$/, 'must be like "https://api.example.com", or empty'),
})
export type LiveSettings = z.infer<typeof LiveSettings>

/** Throws with the names of the variables that are wrong: a Worker that is set up wrongly must not half work. */
export function readVariables<T>(schema: z.ZodType<T>, env: object): T {
  const parsed = schema.safeParse(env)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
}
