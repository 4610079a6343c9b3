// All REST endpoints by resource, in the order of the published document. To add one, define it in the file of its
// resource in endpoints/ and add it to the list there.

import type { Endpoint } from './endpoint.ts'
import { ACCOUNTS } from './endpoints/accounts.ts'
import { ALERTS } from './endpoints/alerts.ts'
import { ARCHIVE } from './endpoints/archive.ts'
import { AUTO_TOP_UPS } from './endpoints/auto-top-ups.ts'
import { balances } from './endpoints/balances.ts'
import { BILLING } from './endpoints/billing.ts'
import { business } from './endpoints/business.ts'
import { EXPORTS } from './endpoints/exports.ts'
import { HISTORY } from './endpoints/history.ts'
import { INCIDENTS } from './endpoints/incidents.ts'
import { KEYS } from './endpoints/keys.ts'
import { LOGS } from './endpoints/logs.ts'
import { MEMBERS } from './endpoints/members.ts'
import { MONITORING } from './endpoints/monitoring.ts'
import { ORDERS } from './endpoints/orders.ts'
import { OWN } from './endpoints/own.ts'
import { PIPELINE_BACKFILLS } from './endpoints/pipeline-backfills.ts'
import { PIPELINE_STATUS } from './endpoints/pipeline-status.ts'
import { PIPELINES } from './endpoints/pipelines.ts'
import { PLANS } from './endpoints/plans.ts'
import { RECOVERY } from './endpoints/recovery.ts'
import { REFUSALS } from './endpoints/refusals.ts'
import { search } from './endpoints/search.ts'
import { SESSIONS } from './endpoints/sessions.ts'
import { STAFF } from './endpoints/staff.ts'
import { STATEMENTS } from './endpoints/statements.ts'
import { STREAMS } from './endpoints/streams.ts'
import { businessTrend } from './endpoints/trend.ts'
import { USAGE } from './endpoints/usage.ts'
import { WEBHOOKS } from './endpoints/webhooks.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  ...USAGE,
  ...OWN,
  ...KEYS,
  ...MEMBERS,
  ...SESSIONS,
  ...LOGS,
  ...REFUSALS,
  ...STREAMS,
  ...STATEMENTS,
  ...WEBHOOKS,
  ...ALERTS,
  ...ORDERS,
  ...BILLING,
  ...AUTO_TOP_UPS,
  ...PIPELINES,
  ...PIPELINE_STATUS,
  ...PIPELINE_BACKFILLS,
  balances,
  ...HISTORY,
  ...EXPORTS,
  business,
  businessTrend,
  search,
  ...ACCOUNTS,
  ...PLANS,
  ...STAFF,
  ...INCIDENTS,
  ...MONITORING,
  ...RECOVERY,
  ...ARCHIVE,
]
