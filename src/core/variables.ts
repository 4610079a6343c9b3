// Parses Worker variables, including those shared by the gateway and the objects (env.ts has the rest). Invariant: a
// missing or invalid variable stops the start and is named; no value is guessed.

import * as z from 'zod'
import { parseJson } from './json.ts'
import { parseWith } from './validation-errors.ts'

export const Switch = z.enum(['on', 'off'], 'must be "on" or "off"').transform((value) => value === 'on')

/** Message for an invalid count. `more` names an alternative value. */
export const countMessage = (max: number, more = '') =>
  `must be a whole number from 1 to ${max.toLocaleString('en-US')}${more}`

/** A whole number from 1 to `max`. */
export function Count(max: number, more = '') {
  const words = countMessage(max, more)
  return z.coerce.number(words).int(words).min(1, words).max(max, words)
}

/** A JSON string that matches the schema. Errors include the path. */
export function JsonText<T>(schema: z.ZodType<T>) {
  return z.string("must be a string: JSON in triple quotes, '''{…}'''").transform((text, context): T => {
    const read = parseWith(schema, parseJson(text))
    if (read.ok) return read.value
    const message = read.error.map((issue) => `${issue.path && `${issue.path} `}${issue.message}`).join(', ')
    context.addIssue({ code: 'custom', message: `is invalid: ${message.replaceAll(';', ',')}` })
    return z.NEVER
  })
}

/** Location hints of the platform: where a Durable Object can be created. */
export const REGIONS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'] as const

const ZONES_MESSAGE = 'must be domains separated by commas, such as "example.com,example.net", or empty'

/** Variables that both Workers share. `npm run check` compares the two files. */
export const LiveSettings = z.object({
  /** Part of the name of every object of the chain. */
  CHAIN: z.string().min(1).max(32),
  /** Number of coin shards. Each has one hub. */
  BOOK_HUBS: Count(64),
  /** Client sockets per relay; the platform's maximum for an object. */
  RELAY_SOCKETS: Count(32_768),
  /** Location of the log and the hubs, ideally near the node. Null: wherever they are first accessed. */
  FEED_REGION: z
    .enum([...REGIONS, ''], `must be one of ${REGIONS.join(', ')}, or empty for none`)
    .transform((region) => region || null),
  /** On: pipelines and webhooks may use private addresses and plain http. */
  PIPELINE_PRIVATE: Switch,
  /** Operator domains, in addition to the domain of PUBLIC_URL, that pipelines and webhooks must not reach. */
  OWN_ZONES: z
    .string(ZONES_MESSAGE)
    .max(2_048, ZONES_MESSAGE)
    .regex(/^(?:(?:[a-z0-9-]+\.)+[a-z0-9-]+(?:,(?!$)|$))*$/, ZONES_MESSAGE)
    .transform((list) => (list === '' ? [] : list.split(','))),
  /** Public URL of the console. */
  PUBLIC_URL: z
    .string()
    .regex(/^(?:https?:\/\/[a-z0-9.-]+(?::\d+)?)?$/, 'must be like "https://api.example.com", or empty'),
})
export type LiveSettings = z.infer<typeof LiveSettings>

/** Throws with the names of all invalid variables, so that a misconfigured Worker does not run partially. */
export function readVariables<T>(schema: z.ZodType<T>, env: object): T {
  const parsed = schema.safeParse(env)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
}
