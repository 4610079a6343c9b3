// The variables of a Sink.

import * as z from 'zod'
import { parseCredits } from '../../core/amount.ts'
import { EgressSettings } from '../../core/egress.ts'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { RpcChains } from '../../rpc/chains.ts'
import { HyperdriveVariable } from '../hyperdrive.ts'

/** So that sums of any number of rows are exact. */
const MAX_ROW_CREDITS = ONE_CREDIT

const RowCredits = z.string('must be text such as "0.0001"').transform((text, context) => {
  const micro = parseCredits(text)
  if (micro.ok && micro.value <= MAX_ROW_CREDITS) return micro.value
  context.addIssue({ code: 'custom', message: micro.ok ? 'must be at most 1 credit' : micro.error })
  return z.NEVER
})

export const SinkSettings = EgressSettings.extend({
  /** Credits for a row that arrived; 0: it is free. */
  PIPELINE_ROW_CREDITS: RowCredits,
  /** Accounts that may write through Hyperdrives, by the name of the binding. */
  PIPELINE_HYPERDRIVE: HyperdriveVariable,
  /** As the gateway has it. */
  RPC_CHAINS: RpcChains,
})
export type SinkSettings = z.infer<typeof SinkSettings>
