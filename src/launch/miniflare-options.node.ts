// What every Miniflare of a gateway has in common.

import { join } from 'node:path'
import { Log, LogLevel } from 'miniflare'

export function commonOptions(state: string) {
  return {
    // `v3` is what wrangler appends to --persist-to: its d1 and kv commands then see the same data.
    resourcePersistencePath: join(state, 'v3'),
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.WARN),
  } as const
}
