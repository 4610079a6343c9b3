// Plans, with how many accounts are on each.

import { useLoaded } from '../loaded.dom.ts'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'

interface Plan {
  readonly plan: string
  readonly credits: string
  readonly period: string
  readonly accounts: number
}

const COLUMNS: readonly Column<Plan>[] = [
  { name: 'Plan', text: ({ plan }) => plan },
  { name: 'Credits', text: ({ credits }) => credits, isNumber: true },
  { name: 'Given', text: ({ period }) => (period === 'once' ? 'once' : 'a month') },
  { name: 'Accounts', text: ({ accounts }) => String(accounts), isNumber: true },
]

export function PlansPage() {
  const plans = useLoaded<{ plans: Plan[] }>(() => '/admin/plans')
  return (
    <>
      <h1>Plans</h1>
      <TroubleNote trouble={plans.trouble.value} again={plans.reload} />
      {plans.value.value && (
        <Table
          caption="Plans"
          columns={COLUMNS}
          rows={plans.value.value.plans}
          rowKey={({ plan }) => plan}
          empty="There are no plans."
          csv="plans"
        />
      )}
    </>
  )
}
