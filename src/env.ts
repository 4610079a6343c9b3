// The variables of the Workers, parsed once per isolate. Bindings and secrets are the ambient Cloudflare.Env.

import * as z from 'zod'
import { parseSources } from './upstream/sources.ts'

const Switch = z.enum(['on', 'off']).transform((value) => value === 'on')
const Count = (max: number) => z.coerce.number().int().min(1).max(max)

const Settings = z.object({
  CHAIN: z.string().min(1).max(32),
  BOOK_HUBS: Count(64),
  RELAYS_PER_REGION: Count(256),
  PATH_KEYS: Switch,
  METER_FAILURE: z.enum(['closed', 'open']),
  UPSTREAMS: z.string().transform((text, context) => {
    const sources = parseSources(text)
    if (sources.ok) return sources.value
    context.addIssue({ code: 'custom', message: sources.error })
    return z.NEVER
  }),
})
export type Settings = z.infer<typeof Settings>

/** Throws with the names of the variables that are wrong: a gateway that is set up wrongly must not half work. */
export function readSettings(env: Cloudflare.Env): Settings {
  const parsed = Settings.safeParse(env)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
}
