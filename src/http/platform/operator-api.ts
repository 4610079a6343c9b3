// What endpoints of the operator alone are lent: the staff, the audit, and lists and sums of all accounts. Types alone.

import type { FindStaff, StaffRole, StaffRow } from '../../accounts/staff.ts'
import type { MicroCredits } from '../../core/amount.ts'
import type { PipelineRow } from '../../pipelines/row.ts'
import type { AuditRow } from './audit.ts'

export interface Staff extends FindStaff {
  /** The token, shown this once; null, and nothing done, where somebody of this name has one. */
  add(name: string, role: StaffRole, nowMs: number): Promise<string | null>
  /** Newest first. */
  list(): Promise<readonly StaffRow[]>
  /** False where nobody of this name has a token. */
  revoke(name: string, nowMs: number): Promise<boolean>
}

/** A row with what came of it; `status` null: nothing is known of that. */
export interface AuditEntry extends Omit<AuditRow, 'name' | 'requestId'> {
  readonly number: number
  readonly at: number
  readonly actor: string
  readonly request_id: string
  readonly status: number | null
}

interface AuditFilter {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly account?: string | undefined
  /** Unix ms; the last one is not in. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: number | undefined
}

export interface Audit {
  /** Its number. Rejects where it could not be written: then nothing must be done. */
  begin(row: AuditRow, nowMs: number): Promise<number>
  end(number: number, status: number, account: string | null, nowMs: number): Promise<void>
  /** Newest first. */
  page(filter: AuditFilter, limit: number): Promise<readonly AuditEntry[]>
  /** Of one request. */
  ofRequest(requestId: string, limit: number): Promise<readonly AuditEntry[]>
}

interface AccountSummary {
  readonly account: string
  readonly plan: string
  readonly created: number
  /** Those that work. */
  readonly keys: number
  /** Start of the last hour in which it was charged, as far as copied from the meter. */
  readonly last_used: number | null
}

interface GrantRow {
  readonly number: number
  readonly account: string
  readonly id: string
  readonly micro: MicroCredits
  readonly created: number
}

export interface RefusedRow {
  readonly number: number
  readonly at: number
  readonly request_id: string
  readonly account: string
  readonly key_prefix: string
  readonly product: string
  readonly type: string
  readonly code: string
  readonly message: string
}

interface KeyName {
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly account: string
  readonly revoked: number | null
}

interface DaySum {
  /** Unix ms of its start. */
  readonly day: number
  readonly product: string
  readonly count: number
  readonly micro: MicroCredits
}

/** Deleted ones are none. */
interface PlacedPipeline {
  readonly number: number
  readonly row: PipelineRow
}

interface AccountFilter {
  /** Part of the name, in any case. */
  readonly search?: string | undefined
  readonly plan?: string | undefined
  readonly after?: string | undefined
}

interface RefusalFilter {
  readonly account?: string | undefined
  readonly code?: string | undefined
  readonly before?: number | undefined
}

/** Links of the sign-up in a day: how many, and how they are spread over networks (/24 or /48) and domains of mailboxes. */
interface SignUpLinksOfDay {
  readonly links: number
  readonly networks: number
  readonly most_of_network: number
  readonly domains: number
  readonly most_of_domain: number
}

/** Lists are newest first but where they say otherwise; `before` is the number of the last row of the page before. */
export interface Business {
  /** By name. */
  accounts(filter: AccountFilter, limit: number, nowMs: number): Promise<readonly AccountSummary[]>
  /** Accounts, keys that are not revoked, and orders that are open. */
  counts(): Promise<{ readonly accounts: number; readonly keys: number; readonly open_orders: number }>
  /** Without those that owners got beyond the bounds. */
  signUpLinks(sinceMs: number): Promise<SignUpLinksOfDay>
  grants(account: string | undefined, before: number | undefined, limit: number): Promise<readonly GrantRow[]>
  refusals(filter: RefusalFilter, limit: number): Promise<readonly RefusedRow[]>
  pipelines(account: string | undefined, before: number | undefined, limit: number): Promise<readonly PlacedPipeline[]>
  /** What was used, by day and product. */
  used(fromMs: number, toMs: number): Promise<readonly DaySum[]>
  granted(fromMs: number, toMs: number): Promise<readonly { readonly day: number; readonly micro: MicroCredits }[]>
  /** Orders that were paid, by currency, in its minor units. */
  paid(
    fromMs: number,
    toMs: number,
  ): Promise<
    readonly { readonly currency: string; readonly orders: number; readonly minor: number; readonly refunded: number }[]
  >
  refused(
    fromMs: number,
    toMs: number,
  ): Promise<readonly { readonly day: number; readonly code: string; readonly count: number }[]>
  /** Keys whose hash this is, or whose shown prefix begins so. */
  keysLike(text: string, limit: number): Promise<readonly KeyName[]>
  refusalsOf(requestId: string, limit: number): Promise<readonly RefusedRow[]>
}
