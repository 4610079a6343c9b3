// What `GET /admin/business` answers, as pages show it.

import { useLoaded } from '../loaded.dom.ts'
import type { SignUpLinks } from './sign-up-warning.ts'

interface Sums {
  readonly granted: string
  readonly spent: string
  readonly calls: number
  readonly stream_minutes: number
  readonly pipeline_rows: number
  readonly refusals: number
}
export interface BusinessDay extends Sums {
  readonly date: string
  readonly by_product: Readonly<Record<string, string>>
}
export interface Business {
  readonly from: string
  readonly to: string
  readonly accounts: number
  readonly keys: number
  readonly open_orders: number
  readonly paid: readonly {
    readonly currency: string
    readonly orders: number
    readonly amount: string
    readonly refunded: string
  }[]
  readonly sign_up: SignUpLinks | null
  readonly totals: Sums
  readonly days: readonly BusinessDay[]
  readonly refused: readonly { readonly code: string; readonly count: number }[]
  readonly million_usd: string | null
  readonly sold_usd: string | null
  readonly spent_usd: string | null
  readonly cost: {
    readonly total_usd: string
    readonly standing_usd: string
    readonly calls_usd: string
    readonly assumptions: readonly string[]
  } | null
}

/** Of this period; an empty query is the last month. */
export const useBusiness = (query: () => string) => useLoaded<Business>(() => `/admin/business${query()}`)
