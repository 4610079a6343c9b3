// Environment variables of a Sink.

import * as z from 'zod'
import { parseCredits } from '../../core/amount.ts'
import { EgressSettings } from '../../core/egress.ts'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { RpcChains } from '../../rpc/chains.ts'
import { HyperdriveVariable } from '../hyperdrive.ts'

/** Maximum price, which keeps totals of any number of rows and minutes exact. */
const MAX_CREDITS = ONE_CREDIT

const Price = z.string('must be a string such as "0.0001"').transform((text, context) => {
  const micro = parseCredits(text)
  if (micro.ok && micro.value <= MAX_CREDITS) return micro.value
  context.addIssue({ code: 'custom', message: micro.ok ? 'must be at most 1 credit' : micro.error })
  return z.NEVER
})

export const SinkSettings = EgressSettings.extend({
  /** Credits per delivered row; 0: free. */
  PIPELINE_ROW_CREDITS: Price,
  /** Credits per minute in which a pipeline runs; 0: free. */
  PIPELINE_MINUTE_CREDITS: Price,
  /** Accounts that may write through a Hyperdrive, by binding name. */
  PIPELINE_HYPERDRIVE: HyperdriveVariable,
  /** Same value as in the gateway. */
  RPC_CHAINS: RpcChains,
})
export type SinkSettings = z.infer<typeof SinkSettings>
