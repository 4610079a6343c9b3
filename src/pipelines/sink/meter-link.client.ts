// Reports what a pipeline owes to the meter of its account.

import { orReject } from '../../core/deadline.ts'
import { meterOf } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import type { PipelineResponse } from '../../metering/pipeline-report.ts'
import type { Bill } from './delivery-state.ts'

const METER_TIMEOUT_MS = 5_000

/** Rejects if there is no response, whether or not the bill arrived. The bill may be sent again. */
export function settle(
  env: Cloudflare.Env,
  region: string | null,
  { account, report }: Bill,
): Promise<PipelineResponse> {
  // A restarted object rejects only the first call.
  const send = () => meterOf(env, account, region).settlePipeline(report)
  return orReject(send().catch(send), METER_TIMEOUT_MS, after)
}
