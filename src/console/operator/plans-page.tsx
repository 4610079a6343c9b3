// Plans, with how many accounts are on each.

import { useSignal } from '@preact/signals'
import type { Answers } from '../answers.ts'
import { type Asked, ask, change } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { TroubleNote } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { groupedText } from '../ui/text.ts'
import { may, pageAddress, type StaffRole } from './parts.tsx'

type Plan = Answers['listPlans']['plans'][number]

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

const WHOLE = { pattern: '\\d{1,8}', title: 'a whole number', isOptional: true }
const TERMS: readonly FormField[] = [
  { name: 'plan', label: 'Plan' },
  { name: 'credits', label: 'Credits', isOptional: true },
  {
    name: 'period',
    label: 'Given',
    options: [
      ['', 'as it is (new: a month)'],
      ['month', 'a month'],
      ['once', 'once'],
    ],
  },
  { name: 'info_requests_per_second', label: 'Info requests/s', ...WHOLE },
  { name: 'rest_requests_per_second', label: 'REST requests/s', ...WHOLE },
  { name: 'stream_connections', label: 'Connections', ...WHOLE },
  { name: 'stream_subscriptions', label: 'Subscriptions', ...WHOLE },
]

/** Limits are numbers on the wire, credits exact text. */
const termsOf = (typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [name, /_per_second$|^stream_/.test(name) ? Number(value) : value]),
  )

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useLoaded<Answers['listPlans']>(() => '/admin/plans')
  const doomed = useSignal<string | null>(null)
  const told = useSignal<string | null>(null)
  const remove = () => change('DELETE', `/admin/plans/${encodeURIComponent(doomed.value!)}`, undefined, plans.reload)
  /** Ten accounts a call. */
  const tell = async () => {
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `/admin/plans/${encodeURIComponent(told.value!)}/apply`
      const answer: Asked<Answers['applyPlan']> = await ask('POST', `${path}${after === '' ? '' : `?after=${after}`}`)
      if (!answer.ok) return answer.error
      after = answer.value.next
    }
    return null
  }
  const acts: readonly Column<Plan>[] = [
    {
      name: 'Actions',
      draw: ({ name: plan, accounts }) => (
        <>
          {accounts > 0 && (
            <button
              type="button"
              class="plain"
              aria-label={`Tell accounts on ${plan}`}
              onClick={() => (told.value = plan)}
            >
              Tell accounts
            </button>
          )}
          {accounts === 0 && (
            <button type="button" class="plain" aria-label={`Remove ${plan}`} onClick={() => (doomed.value = plan)}>
              Remove
            </button>
          )}
        </>
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
      {told.value && (
        <Confirm act="Tell its accounts" name={told.value} onConfirm={tell} onClose={() => (told.value = null)}>
          <p>Accounts on it have its limits at once, and its credits from their next period on.</p>
        </Confirm>
      )}
      {may(role, 'owner') && (
        <>
          <h2>New plan, or change of one</h2>
          <p>
            What is left empty stays as it is. New accounts have a change at once; those on the plan when they are told.
          </p>
          <OrderForm<Answers['setPlan']>
            act="Set the plan"
            fields={TERMS}
            send={({ plan = '', ...terms }) => ask('PUT', `/admin/plans/${encodeURIComponent(plan)}`, termsOf(terms))}
            onDone={plans.reload}
          />
        </>
      )}
    </>
  )
}
