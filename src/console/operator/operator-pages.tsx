// The operator's pages.

import { params } from '../address.dom.ts'
import { Shell } from '../shell.tsx'
import type { Visitor } from '../visit.dom.ts'
import { OrdersPage } from './orders-page.tsx'
import { PlansPage } from './plans-page.tsx'

const PAGES = [
  ['plans', 'Plans'],
  ['orders', 'Orders'],
] as const

export function OperatorPages({ who }: { who: Extract<Visitor, { role: 'operator' }> }) {
  const here = params.value.get('page') ?? 'plans'
  return (
    <Shell who={who} pages={PAGES} here={here}>
      {here === 'plans' ? (
        <PlansPage />
      ) : here === 'orders' ? (
        <OrdersPage />
      ) : (
        <p class="note">There is no page of this name: choose one above.</p>
      )}
    </Shell>
  )
}
