// Plans, with how many accounts are on each.

import { useSignal } from '@preact/signals'
import { ask } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { groupedText } from '../ui/amounts.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Curl } from '../ui/curl.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { pageAddress } from './cells.tsx'
import { may, type StaffRole } from './rights.ts'

interface Plan {
  readonly name: string
  readonly credits: string
  readonly period: string
  readonly accounts: number
  readonly rest_requests_per_second: number | null
  readonly info_requests_per_second: number
  readonly stream_connections: number
  readonly stream_subscriptions: number
}

const number = (name: string, of: (plan: Plan) => number | null): Column<Plan> => ({
  name,
  isNumber: true,
  text: (plan) => String(of(plan) ?? 'no limit'),
})

const COLUMNS: readonly Column<Plan>[] = [
  { name: 'Plan', text: ({ name }) => name },
  { name: 'Credits', text: ({ credits }) => credits, draw: ({ credits }) => groupedText(credits), isNumber: true },
  { name: 'Given', text: ({ period }) => (period === 'once' ? 'once' : 'a month') },
  {
    ...number('Accounts', ({ accounts }) => accounts),
    draw: ({ name: plan, accounts }) => <Link to={pageAddress('accounts', { plan })}>{accounts}</Link>,
  },
  number('Info requests/s', (plan) => plan.info_requests_per_second),
  number('REST requests/s', (plan) => plan.rest_requests_per_second),
  number('Connections', (plan) => plan.stream_connections),
  number('Subscriptions', (plan) => plan.stream_subscriptions),
]

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useLoaded<{ plans: Plan[] }>(() => '/admin/plans')
  const doomed = useSignal<string | null>(null)
  const remove = async () => {
    const answer = await ask('DELETE', `/admin/plans/${encodeURIComponent(doomed.value!)}`)
    if (answer.ok) plans.reload()
    return answer.ok ? null : answer.error
  }
  const acts: readonly Column<Plan>[] = [
    {
      name: 'Act',
      text: () => '',
      draw: ({ name: plan }) => (
        <button type="button" class="plain" aria-label={`Remove ${plan}`} onClick={() => (doomed.value = plan)}>
          Remove
        </button>
      ),
    },
  ]
  return (
    <>
      <h1>Plans</h1>
      <TroubleNote trouble={plans.trouble.value} again={plans.reload} />
      {plans.value.value && (
        <Table
          caption="Plans"
          columns={may(role, 'owner') ? [...COLUMNS, ...acts] : COLUMNS}
          rows={plans.value.value.plans}
          rowKey={({ name }) => name}
          empty="There are no plans."
          csv="plans"
        />
      )}
      {doomed.value && (
        <Confirm act="Remove this plan" name={doomed.value} onConfirm={remove} onClose={() => (doomed.value = null)}>
          <p>No account can be put on it any more. A plan that accounts are on is not removed.</p>
        </Confirm>
      )}
      <p>What a plan gives is changed, and a new one made, with</p>
      <Curl line="npm run admin -- plan set entry --terms credits=12000,info_requests_per_second=20" />
    </>
  )
}
