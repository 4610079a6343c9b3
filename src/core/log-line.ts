// One line of the operator's log: JSON with a level, an event and its fields. Invariants: a line contains no key, token
// or webhook secret and no invisible characters; its size is bounded, whatever an error or a caller's input contains.

import { withoutSecrets } from './secret.ts'
import { visible } from './visible.ts'

/** Every event, with its level. Metrics count errors and warnings by event, so the set is closed. */
export const LOG_LEVELS = {
  admin_request_failed: 'error',
  alert_claim_failed: 'error',
  alert_mail: 'info',
  alert_mail_undelivered: 'warn',
  alert_undelivered: 'warn',
  alert_unsigned: 'error',
  archiving_failed: 'warn',
  audit_outcome_lost: 'error',
  account_recovery_failed: 'error',
  checkout_failed: 'error',
  deflate_failed: 'error',
  files_failed: 'warn',
  graphql_operation_failed: 'error',
  incident_unreadable: 'error',
  invitation_failed: 'error',
  key_lookup_failed: 'error',
  meter_upkeep_failed: 'error',
  order_book_refetched: 'warn',
  payment_failed: 'error',
  pipeline_call_failed: 'error',
  pipeline_turn_failed: 'error',
  refusals_lost: 'error',
  relay_restarted: 'error',
  relay_task_failed: 'error',
  request_failed: 'error',
  sign_up_failed: 'error',
  sign_up_limit: 'warn',
  sign_up_link: 'info',
  source_unusable: 'error',
  subscription_failed: 'error',
  usage_copy_failed: 'error',
  webhook_claim_failed: 'error',
  top_up_failed: 'error',
  webhook_undelivered: 'warn',
} as const

export type LogEvent = keyof typeof LOG_LEVELS
/** `error` and other unknown values are logged as a stack, a message or a string. */
export type LogFields = Readonly<Record<string, unknown>>

const TEXT_MAX_CHARS = 500
const ERROR_MAX_CHARS = 2_000

/** A field that is undefined is omitted. */
export function logLine(event: LogEvent, fields: LogFields = {}): string {
  const bounded = Object.entries(fields).map(([name, value]) => [name, fieldValue(value)])
  return visible(JSON.stringify({ level: LOG_LEVELS[event], event, ...Object.fromEntries(bounded) }))
}

function fieldValue(value: unknown): unknown {
  if (value instanceof Error) return boundedText(value.stack ?? value.message, ERROR_MAX_CHARS)
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') return value
  return boundedText(String(value), TEXT_MAX_CHARS)
}

/** Truncates first, so a long string costs no more than a short one. */
function boundedText(text: string, max: number): string {
  return withoutSecrets(text.slice(0, max))
}
