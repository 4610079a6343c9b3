// The meter of an account as a relay reaches it.

import { orReject } from '../../core/deadline.ts'
import { meterOf } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import type { StreamAnswer, StreamReport } from '../../credit/streams/stream-api.ts'

const TIMEOUT_MS = 5000

/** Sends a report; rejects where no answer comes, whether or not the report arrived. */
export function askMeter(env: Cloudflare.Env, account: string, report: StreamReport): Promise<StreamAnswer> {
  return orReject(meterOf(env, account).stream(report), TIMEOUT_MS, after)
}
