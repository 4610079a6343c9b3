// The meter of an account as a relay reaches it.

import type { StreamAnswer, StreamMeterApi, StreamReport } from '../../credit/streams/stream-api.ts'
import { within } from '../links/link.client.ts'

const TIMEOUT_MS = 5000

/** Sends a report; rejects where no answer comes, whether or not the report arrived. */
export function askMeter(env: Cloudflare.Env, account: string, report: StreamReport): Promise<StreamAnswer> {
  const meter = env.CREDIT_METER.getByName(account) as unknown as StreamMeterApi
  return within(meter.stream(report), TIMEOUT_MS)
}
