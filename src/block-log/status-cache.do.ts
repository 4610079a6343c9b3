// StatusCache answers `/status` in place of the log, so that no number of callers or gateway isolates slows down the
// object that orders all blocks. One per chain. It stores nothing.

import { DurableObject } from 'cloudflare:workers'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import { Objects } from '../core/objects.client.ts'
import { PacedRead } from '../core/paced-read.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import type { DatedLogStatus, StatusCacheApi } from '../protocol/feed/log-api.ts'

/** The log is asked at most once in this time. */
const INTERVAL_MS = 1000
const READ_MAX_MS = 5000

export class StatusCache extends DurableObject<Cloudflare.Env> implements StatusCacheApi {
  readonly #status: PacedRead<DatedLogStatus>

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    countStart('StatusCache')
    const objects = new Objects(env, readVariables(LiveSettings, env))
    this.#status = new PacedRead(
      async () => ({ ...(await objects.log().status()), atMs: Date.now() }),
      INTERVAL_MS,
      READ_MAX_MS,
    )
  }

  async status(): Promise<DatedLogStatus> {
    const status = await this.#status.value(Date.now())
    reportCounters(this.ctx, this.env)
    return status
  }
}
