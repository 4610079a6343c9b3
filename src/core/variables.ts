// Parses Worker variables, including those that the Workers share (gateway-settings.ts has the rest). Invariants: if
// a variable is missing or invalid, the Worker does not start and the error names the variable; no value is guessed.

import * as z from 'zod'
import { inGroups } from './digit-groups.ts'
import { parseJson } from './json.ts'
import { parseWith } from './validation-errors.ts'

export const Switch = z.enum(['on', 'off'], 'must be "on" or "off"').transform((value) => value === 'on')

/** The message for an invalid count. `more` describes an alternative value. */
export const countMessage = (max: number, more = '') => `must be a whole number from 1 to ${inGroups(max)}${more}`

/** A whole number from 1 to `max`. */
export function Count(max: number, more = '') {
  const words = countMessage(max, more)
  return z.coerce.number(words).int(words).min(1, words).max(max, words)
}

/** A JSON string that matches the schema. An error includes the path of the invalid value. */
export function JsonText<T>(schema: z.ZodType<T>) {
  return z.string("must be a string: JSON in triple quotes, '''{…}'''").transform((text, context): T => {
    const read = parseWith(schema, parseJson(text))
    if (read.ok) return read.value
    const message = read.error.map((issue) => `${issue.path && `${issue.path} `}${issue.message}`).join(', ')
    context.addIssue({ code: 'custom', message: `is invalid: ${message.replaceAll(';', ',')}` })
    return z.NEVER
  })
}

/** The location hints of the platform, which determine where a Durable Object is created. */
export const REGIONS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'] as const

const ZONES_MESSAGE = 'must be domains separated by commas, such as "example.com,example.net", or empty'

/** The variables that all Workers but the one for SQL share. `npm run check` compares the configuration files. */
export const LiveSettings = z.object({
  /** The name of the chain, which is part of the name of each of its objects. */
  CHAIN: z.string().min(1).max(32),
  /** The number of coin shards. Each shard has one hub. */
  BOOK_HUBS: Count(64),
  /** Client sockets per relay. The maximum is the platform's limit for an object. */
  RELAY_SOCKETS: Count(32_768),
  /**
   * The location of the log and the hubs, which should be near the node. Null: each is created where it is first
   * accessed.
   */
  FEED_REGION: z
    .enum([...REGIONS, ''], `must be one of ${REGIONS.join(', ')}, or empty for none`)
    .transform((region) => region || null),
  /** If on, pipelines and webhooks may use private addresses and plain HTTP. */
  PIPELINE_PRIVATE: Switch,
  /** Domains of the operator, in addition to that of PUBLIC_URL. Pipelines and webhooks must not reach them. */
  OWN_ZONES: z
    .string(ZONES_MESSAGE)
    .max(2_048, ZONES_MESSAGE)
    .regex(/^(?:(?:[a-z0-9-]+\.)+[a-z0-9-]+(?:,(?!$)|$))*$/, ZONES_MESSAGE)
    .transform((list) => (list === '' ? [] : list.split(','))),
  /** The public URL of the console. */
  PUBLIC_URL: z
    .string()
    .regex(/^(?:https?:\/\/[a-z0-9.-]+(?::\d+)?)?$/, 'must be like "https://api.example.com", or empty'),
})
export type LiveSettings = z.infer<typeof LiveSettings>

/** Throws an error that names all invalid variables, so that a misconfigured Worker does not start at all. */
export function readVariables<T>(schema: z.ZodType<T>, env: object): T {
  const parsed = schema.safeParse(env)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
}
