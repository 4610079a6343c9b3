// What /platform answers to the owner's page, as far as it is shown. Amounts are exact text.

export interface Account {
  readonly account: string
  readonly plan: string
  readonly balance: string
  readonly spent: string
  readonly of_plan: string
  readonly period: {
    readonly since: number
    readonly until: number | null
    readonly credits: string
    readonly renews_with: string
  } | null
  readonly credits_a_day: string
  readonly forecast: { readonly ends: number | null; readonly why: 'spent' | 'used_up' | 'unused' | 'renewed' | 'far' }
  readonly limits: readonly { readonly limit: string; readonly most: number | null; readonly now: number | null }[]
  readonly manages: boolean
  readonly why_not: string | null
}

export interface Usage {
  readonly period: { readonly from: string; readonly to: string }
  readonly by_day: readonly {
    readonly date: string
    readonly credits: string
    readonly parts?: readonly { readonly part: string; readonly label: string; readonly credits: string }[]
  }[]
  readonly by_key: readonly (Counts & { readonly prefix: string | null; readonly label: string })[]
  readonly by_type: readonly (Counts & { readonly product: string; readonly type: string })[]
}
interface Counts {
  readonly credits: string
  readonly calls: number
  readonly stream_minutes: number
  readonly pipeline_rows: number
}

export interface Key {
  readonly hash: string
  readonly prefix: string
  readonly label: string
  readonly kind: 'api' | 'service'
  readonly products: readonly string[]
  readonly created: number
  readonly expires: number | null
  readonly revoked: number | null
  readonly last_used: number | null
  readonly cap: string | null
  readonly cap_remaining: string | null
  readonly spent_30_days: string | null
  readonly ranges: readonly string[] | null
  readonly pipelines: 'own' | 'all' | null
  readonly replaced_by: string | null
}
export interface KeysPage {
  readonly keys: readonly Key[]
  readonly next: string | null
  readonly counted: number
  readonly at_most: number
}
/** Shown once. */
export interface Issued {
  readonly key?: string
  readonly prefix: string
  readonly label: string
  readonly old_key_ends?: number
  readonly warnings?: readonly string[]
}

export interface Refusals {
  readonly refusals: readonly {
    readonly at: number
    readonly request_id: string
    readonly prefix: string
    readonly product: string
    readonly type: string
    readonly code: string
    readonly message: string
  }[]
  readonly counts: readonly { readonly code: string; readonly count: number }[]
}

export interface Streams {
  readonly sockets: number
  readonly subscriptions: number
  readonly credits_a_minute: string
  readonly streams: readonly {
    readonly type: string
    readonly body: string
    readonly prefix: string | null
    readonly since: number
    readonly credits_a_minute: string
  }[]
}

export interface Webhook {
  readonly url: string
  readonly thresholds: readonly string[]
  readonly armed: readonly string[]
  readonly secret?: string | null
  readonly events: readonly {
    readonly id: string
    readonly type: string
    readonly threshold: string | null
    readonly created: number
    readonly state: string
    readonly attempts: number
    readonly last: string | null
  }[]
}

interface Amounts {
  readonly opening: string
  readonly granted: string
  readonly expired: string
  readonly charged: string
  readonly written_off: string
  readonly closing: string
}
export interface BalanceDay extends Amounts {
  readonly date: string
}
export interface InvoiceSums extends Amounts {
  readonly month: string
  readonly is_final: boolean
}
export interface Invoice extends InvoiceSums {
  readonly account: string
  readonly from: string
  readonly to: string
  readonly given: readonly { readonly at: number; readonly plan: string | null; readonly credits: string }[]
  readonly lines: readonly {
    readonly product: string
    readonly type: string
    readonly prefix: string | null
    readonly label: string
    readonly count: number
    readonly credits: string
  }[]
}
