// The settings of one gateway: the content of weir.toml, which `weir deploy` and `weir serve` read. Invariant: what is not
// set there has the value of the wrangler files of this version, which are never edited.

import * as z from 'zod'
import { nearestName } from '../../core/nearest.ts'

/** Where D1 and R2 can create stores. Durable Objects know more locations. */
export const STORE_LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'] as const

const NAME_MESSAGE = 'must be 1 to 40 lower-case letters, digits and dashes that start with a letter, such as "weir"'
const UUID_MESSAGE = 'must be the UUID of a D1 database. Remove the line to find or create the database by its name'
const HEX_MESSAGE = 'must be 32 hexadecimal digits'
const Hex = (message: string) => z.string(message).regex(/^[0-9a-f]{32}$/, message)
const DatabaseId = z.string(UUID_MESSAGE).regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, UUID_MESSAGE)

const Route = z.union(
  [
    z.string(),
    z.strictObject({
      pattern: z.string().min(1),
      custom_domain: z.boolean().optional(),
      zone_name: z.string().optional(),
      zone_id: z.string().optional(),
    }),
  ],
  'must be a pattern such as "example.com/*", or a table such as { pattern = "api.example.com", custom_domain = true }',
)

/** Stores by their setting. R2 has no ids. */
const StoreIds = z.strictObject({
  accounts: DatabaseId.optional(),
  usage: DatabaseId.optional(),
  history: DatabaseId.optional(),
  keys: Hex(`${HEX_MESSAGE}. Remove the line to find or create the namespace by its name`).optional(),
})

export const WeirSettings = z
  .strictObject({
    account_id: z.string().min(1).max(64).optional(),
    /** Name of the gateway's Worker, and prefix of the other Workers and of the stores. */
    name: z
      .string(NAME_MESSAGE)
      .regex(/^[a-z][a-z0-9-]{0,39}$/, NAME_MESSAGE)
      .optional(),
    /** Where stores are created. Absent: nearest to FEED_REGION. */
    location: z.enum(STORE_LOCATIONS, `must be one of ${STORE_LOCATIONS.join(', ')}`).optional(),
    routes: z.array(Route).optional(),
    /** Whether the gateway answers at workers.dev too. */
    workers_dev: z.boolean().optional(),
    /** False: no background objects, so neither archive nor pipelines. */
    jobs: z.boolean().default(true),
    archive: z.boolean().optional(),
    /** Whether a Worker of this name that has none of the gateway's secrets may be overwritten. */
    replace_worker: z.boolean().default(false),
    /** Data set of Analytics Engine that gets the gateway's counters. */
    metrics: z.string().min(1).optional(),
    hyperdrive: z
      .array(
        z.strictObject({
          binding: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be a name such as "FILLS_DB"'),
          id: Hex(HEX_MESSAGE),
        }),
      )
      .default([]),
    ids: StoreIds.default({}),
    /** Variables of the Workers. A value that is not a string is passed on as JSON. */
    vars: z.record(z.string(), z.json()).default({}),
  })
  .refine(({ jobs, archive }) => jobs || archive !== true, {
    path: ['archive'],
    message: 'must be false, or absent, while jobs is false',
  })
export type WeirSettings = z.infer<typeof WeirSettings>
export type StoreIds = z.infer<typeof StoreIds>

export const DEFAULT_NAME = 'weir'

export function nameOf({ name = DEFAULT_NAME }: WeirSettings): string {
  return name
}

export function hasArchive({ archive, jobs }: WeirSettings): boolean {
  return archive ?? jobs
}

type Variables = Readonly<Record<string, unknown>>

/** The variables of a Worker that declares those of `template`. */
export function variablesFor({ vars }: WeirSettings, template: Variables): Record<string, string> {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, textOf(vars[name] ?? value)]))
}

/** One line for each variable that no Worker declares. `templates`: the variables of each Worker. */
export function unknownVariables({ vars }: WeirSettings, templates: readonly Variables[]): string[] {
  const known = new Set(templates.flatMap(Object.keys))
  return Object.keys(vars)
    .filter((name) => !known.has(name))
    .map((name) => {
      const meant = nearestName(name, [...known])
      const hint = meant === undefined ? 'See docs/operators/reference/settings.md.' : `Did you mean ${meant}?`
      return `weir.toml: vars.${name} is not a variable of Weir. ${hint}`
    })
}
