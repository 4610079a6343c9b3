// The meter of an account as a Sink reaches it.

import { orReject } from '../../core/deadline.ts'
import { meterOf } from '../../core/objects.client.ts'
import { after } from '../../core/timers.client.ts'
import type { MicroCredits } from '../../credit/amount.ts'
import { METER_API_VERSION } from '../../credit/meter-version.ts'
import type { PipelineAnswer, PipelineReport } from '../../credit/pipeline-report.ts'
import type { Pipeline } from '../pipeline.ts'
import { billsOwed, type Owed } from './owed.ts'

const TIMEOUT_MS = 5_000

/** What a meter has to hear, and which. */
export interface Bill {
  readonly account: string
  readonly report: PipelineReport
}

type Billed = Pick<Pipeline, 'id' | 'account' | 'payer' | 'topic' | 'name'>

/** What a key owes. Where that is the pipeline's own, the meter also hears what to call the pipeline if that key has ended. */
export function billOf(
  { id, account, payer, topic, name }: Billed,
  { rows, spent }: Pick<Owed, 'rows' | 'spent'>,
  by: string,
  hold: MicroCredits = 0,
): Bill {
  const report = { v: METER_API_VERSION, pipeline: id, keyHash: by, type: topic, rows, spent, hold }
  return { account, report: by === payer ? { ...report, name } : report }
}

/** What a deleted pipeline owes. */
export function lastBills(pipeline: Billed, owed: Owed): readonly Bill[] {
  return billsOwed(owed, pipeline.payer).map((debt) => {
    const { account, report } = billOf(pipeline, debt, debt.by)
    const { name: _, ...rest } = report
    return { account, report: rest }
  })
}

/** Rejects where no answer comes, whether or not the bill arrived: it may be sent again. */
export function settle(env: Cloudflare.Env, { account, report }: Bill): Promise<PipelineAnswer> {
  // An object that was restarted refuses the first call only.
  const send = () => meterOf(env, account).settlePipeline(report)
  return orReject(send().catch(send), TIMEOUT_MS, after)
}
