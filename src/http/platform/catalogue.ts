// All REST endpoints by resource, in the order of the published document. To add one, define it in the file of its
// resource in endpoints/ and add it to the list there.

import type { Endpoint } from './endpoint.ts'
import { ACCOUNTS } from './endpoints/accounts.ts'
import { ARCHIVE } from './endpoints/archive.ts'
import { balances } from './endpoints/balances.ts'
import { business } from './endpoints/business.ts'
import { EXPORTS } from './endpoints/exports.ts'
import { HISTORY } from './endpoints/history.ts'
import { KEYS } from './endpoints/keys.ts'
import { ORDERS } from './endpoints/orders.ts'
import { OWN } from './endpoints/own.ts'
import { PIPELINE_STATUS } from './endpoints/pipeline-status.ts'
import { PIPELINES } from './endpoints/pipelines.ts'
import { PLANS } from './endpoints/plans.ts'
import { RECOVERY } from './endpoints/recovery.ts'
import { REFUSALS } from './endpoints/refusals.ts'
import { search } from './endpoints/search.ts'
import { STAFF } from './endpoints/staff.ts'
import { STATEMENTS } from './endpoints/statements.ts'
import { STREAMS } from './endpoints/streams.ts'
import { USAGE } from './endpoints/usage.ts'
import { WEBHOOKS } from './endpoints/webhooks.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  ...USAGE,
  ...OWN,
  ...KEYS,
  ...REFUSALS,
  ...STREAMS,
  ...STATEMENTS,
  ...WEBHOOKS,
  ...ORDERS,
  ...PIPELINES,
  ...PIPELINE_STATUS,
  balances,
  ...HISTORY,
  ...EXPORTS,
  business,
  search,
  ...ACCOUNTS,
  ...PLANS,
  ...STAFF,
  ...RECOVERY,
  ...ARCHIVE,
]
