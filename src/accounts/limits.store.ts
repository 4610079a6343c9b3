// Limits as the table of plans has them.

import { Limits } from './limits.ts'

/** SQL of a row's limits as a JSON object, null where a joined plan is missing; `p` is the table of plans. */
export const LIMITS_SQL = `iif(p.name IS NULL, NULL, json_object('requestsPerSecond', p.requests_per_second,
  'infoRequestsPerSecond', p.info_requests_per_second, 'streamConnections', p.stream_connections,
  'streamSubscriptions', p.stream_subscriptions, 'streamMessagesPerMinute', p.stream_messages_per_minute))`

/** The limits of a plan with what was agreed with one account in their place; `terms` may hold other terms too. */
export function limitsFrom(limits: string, terms: string | null): Limits {
  return Limits.parse({ ...JSON.parse(limits), ...Limits.partial().parse(JSON.parse(terms ?? '{}')) })
}
