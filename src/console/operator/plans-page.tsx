// Plans: a list, and a dialog that shows what it changes, and for how many accounts, before it saves.

import { type Signal, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import { pageUrl } from '../address.dom.ts'
import { type Query, useQuery } from '../queries.dom.ts'
import { type RequestError, type RequestResult, request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { ConfirmButton, Dialog } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { DoneNote, QueryView } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, numberColumn, Table } from '../ui/table.tsx'
import { changeOf, differencesOf, formOf, LIMITS, type Plan, type PlanDifference, type PlanForm } from './plan-edit.ts'
import * as planStrings from './plan-strings.ts'
import * as strings from './strings.ts'

const PLAN_COLUMNS: readonly Column<Plan>[] = [
  { name: planStrings.plansColumnsPlan, text: ({ name }) => name, render: ({ name }) => labelOf(name) },
  amountColumn(planStrings.plansColumnsCredits, ({ credits }) => credits),
  {
    name: planStrings.plansColumnsPeriod,
    text: ({ period, days }) =>
      period === 'month'
        ? planStrings.plansMonthly
        : days === null
          ? planStrings.plansOnce
          : planStrings.plansOnceDays(days),
  },
  {
    ...numberColumn<Plan>(planStrings.plansColumnsAccounts, ({ accounts }) => accounts),
    render: ({ name: plan, accounts }) => <Link to={pageUrl('accounts', { plan })}>{accounts}</Link>,
  },
]
const limitText = (plan: Plan, limit: (typeof LIMITS)[number]) => {
  const value = plan[limit]
  return value === null ? planStrings.plansUnlimited : groupedText(String(value))
}
const limitsText = (plan: Plan) =>
  LIMITS.map((limit) => planStrings.plansLimitTexts[limit](limitText(plan, limit))).join(' · ')
const LIMIT_COLUMNS: readonly Column<Plan>[] = [
  {
    name: planStrings.plansColumnsLimits,
    text: limitsText,
    render: (plan) => <span class="wrap">{limitsText(plan)}</span>,
  },
  ...LIMITS.map((limit) => ({
    ...numberColumn<Plan>(planStrings.plansFields[limit], (plan) => limitText(plan, limit)),
    isHidden: true,
  })),
]

const pathOf = (plan: string) => `/admin/plans/${encodeURIComponent(plan)}`

/** Each call applies the plan to a page of accounts. Null on success. */
async function applyPlan(plan: string): Promise<RequestError | null> {
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `${pathOf(plan)}/apply${after === '' ? '' : `?after=${after}`}`
    const result: RequestResult<Responses['applyPlan']> = await request('POST', path)
    if (!result.ok) return result.error
    after = result.value.next
  }
  return null
}

export function PlansPage({ role }: { role: StaffRole }) {
  const plans = useQuery<Responses['listPlans']>(() => '/admin/plans')
  /** The plan in the dialog; null: a new one; undefined: no dialog. */
  const edited = useSignal<Plan | null | undefined>(undefined)
  const done = useSignal('')
  const actions: Column<Plan> = {
    name: strings.commonActions,
    render: (plan) => (
      <>
        <Button
          text={planStrings.plansEdit}
          class="plain"
          aria-label={planStrings.plansEditLabel(plan.name)}
          onClick={() => (edited.value = plan)}
        />
        <PlanActions plan={plan} plans={plans} done={done} />
      </>
    ),
  }
  const saved = (text: string) => {
    done.value = text
    edited.value = undefined
    plans.reload()
  }
  const isOwner = hasRole(role, 'owner')
  return (
    <>
      <div class="title">
        <h1>{planStrings.plansTitle}</h1>
        {isOwner && <Button text={planStrings.plansNew} class="main" onClick={() => (edited.value = null)} />}
      </div>
      <DoneNote text={done} />
      <QueryView query={plans}>
        {(value) => (
          <Table
            caption={planStrings.plansTitle}
            columns={[...PLAN_COLUMNS, ...LIMIT_COLUMNS, ...(isOwner ? [actions] : [])]}
            rows={value.plans}
            rowKey={({ name }) => name}
            empty={planStrings.plansEmpty}
            csv="plans"
          />
        )}
      </QueryView>
      {edited.value !== undefined && (
        <PlanDialog plan={edited.value} onSaved={saved} onClose={() => (edited.value = undefined)} />
      )}
    </>
  )
}

interface PlanActionsProps {
  readonly plan: Plan
  readonly plans: Query<unknown>
  readonly done: Signal<string>
}

function PlanActions({ plan: { name, accounts }, plans, done }: PlanActionsProps) {
  const apply = async () => {
    const error = await applyPlan(name)
    if (error === null) done.value = planStrings.plansApplied(name, accounts)
    return error
  }
  const remove = () =>
    requestChange('DELETE', pathOf(name), undefined, () => {
      done.value = planStrings.plansRemoved(name)
      plans.reload()
    })
  return accounts > 0 ? (
    <ConfirmButton
      buttonLabel={planStrings.plansApply}
      label={planStrings.plansApplyLabel(name)}
      action={planStrings.plansApplySubmit}
      name={name}
      onConfirm={apply}
    >
      <p>{planStrings.plansApplyText}</p>
    </ConfirmButton>
  ) : (
    <ConfirmButton
      buttonLabel={planStrings.plansRemove}
      label={planStrings.plansRemoveLabel(name)}
      action={planStrings.plansRemoveSubmit}
      name={name}
      onConfirm={remove}
    >
      <p>{planStrings.plansRemoveText}</p>
    </ConfirmButton>
  )
}

interface PlanDialogProps {
  /** Null: a new plan. */
  readonly plan: Plan | null
  readonly onSaved: (text: string) => void
  readonly onClose: () => void
}

function PlanDialog({ plan, onSaved, onClose }: PlanDialogProps) {
  const name = useSignal(plan?.name ?? '')
  const form = useSignal<PlanForm>(formOf(plan))
  const isApplied = useSignal(false)
  const accounts = plan?.accounts ?? 0
  const change = changeOf(plan, form.value)
  const differences = differencesOf(plan, change)
  const save = async () => {
    const error = await requestChange('PUT', pathOf(name.value.trim()), change, () => {})
    if (error !== null) return error
    const failed = isApplied.value ? await applyPlan(name.value.trim()) : null
    if (failed !== null) return failed
    onSaved(
      isApplied.value
        ? planStrings.plansSavedAndApplied(name.value, accounts)
        : planStrings.plansSaved(name.value.trim()),
    )
    return null
  }
  return (
    <Dialog
      title={plan === null ? planStrings.plansNew : planStrings.plansEditTitle(plan.name)}
      submitLabel={planStrings.plansSave}
      isIncomplete={differences.length === 0}
      onSend={save}
      onClose={onClose}
    >
      {plan === null && (
        <TextField label={planStrings.plansColumnsPlan} value={name.value} onText={(text) => (name.value = text)} />
      )}
      <PlanFields form={form} isNew={plan === null} isPeriodFixed={accounts > 0} />
      <Differences differences={differences} />
      {accounts > 0 && (
        <>
          <p>{planStrings.plansTouches(accounts)}</p>
          <Check
            label={planStrings.plansApplyNow(accounts)}
            isChecked={isApplied.value}
            onCheck={(is) => (isApplied.value = is)}
          />
        </>
      )}
    </Dialog>
  )
}

const WHOLE_NUMBER = { pattern: '[0-9][0-9 ,]{0,10}', title: planStrings.plansWholeNumber }
const CREDITS = { pattern: '[0-9][0-9 ,]{0,15}(\\.[0-9]{1,6})?', title: strings.accountTopUpCreditsRule }

interface PlanFieldsProps {
  readonly form: Signal<PlanForm>
  readonly isNew: boolean
  readonly isPeriodFixed: boolean
}

function PlanFields({ form, isNew, isPeriodFixed }: PlanFieldsProps) {
  const set = (field: keyof PlanForm, value: string | null) => {
    form.value = { ...form.value, [field]: value }
  }
  const field = (name: keyof PlanForm, rule: typeof WHOLE_NUMBER, isOptional = false) => (
    <TextField
      label={planStrings.plansFields[name]}
      value={form.value[name]}
      onText={(text) => set(name, text)}
      isOptional={isOptional}
      {...rule}
    />
  )
  const unlimited = (name: 'days' | 'rest_requests_per_second', label: string) => (
    <Check
      label={label}
      name={`${planStrings.plansFields[name]}: ${label}`}
      isChecked={form.value[name] === null}
      onCheck={(is) => set(name, is ? null : '')}
    />
  )
  const { period } = form.value
  return (
    <div class="plan-fields">
      {field('credits', CREDITS)}
      {isPeriodFixed ? null : (
        <Select
          label={planStrings.plansColumnsPeriod}
          value={period ?? ''}
          options={planStrings.plansPeriods}
          onSelect={(value) => set('period', value)}
        />
      )}
      {period === 'once' && (
        <div>
          {field('days', WHOLE_NUMBER)}
          {unlimited('days', planStrings.plansNoEnd)}
        </div>
      )}
      <div>
        {field('rest_requests_per_second', WHOLE_NUMBER)}
        {unlimited('rest_requests_per_second', planStrings.plansUnlimited)}
      </div>
      {LIMITS.slice(1).map((limit) => field(limit, WHOLE_NUMBER, isNew))}
      <Check
        label={planStrings.plansFields.custom}
        isChecked={form.value.custom === 'true'}
        onCheck={(is) => set('custom', String(is))}
      />
    </div>
  )
}

const DIFFERENCE_COLUMNS: readonly Column<PlanDifference>[] = [
  { name: planStrings.plansDifferenceField, text: ({ name }) => name },
  { name: planStrings.plansDifferenceBefore, text: ({ before }) => before, isNumber: true },
  { name: planStrings.plansDifferenceAfter, text: ({ after }) => after, isNumber: true },
]

function Differences({ differences }: { differences: readonly PlanDifference[] }) {
  return (
    <>
      <h3>{planStrings.plansDifferences}</h3>
      <Table
        caption={planStrings.plansDifferences}
        columns={DIFFERENCE_COLUMNS}
        rows={differences}
        rowKey={({ name }) => name}
        empty={planStrings.plansNoDifference}
      />
    </>
  )
}

interface TextFieldProps {
  readonly label: string
  /** Null disables the field. */
  readonly value: string | null
  readonly onText: (text: string) => void
  readonly isOptional?: boolean
  readonly pattern?: string
  readonly title?: string
}

function TextField({ label, value, onText, isOptional = false, ...rule }: TextFieldProps) {
  const id = useId()
  return (
    <p>
      <label for={id}>
        {label} {isOptional && <small>{planStrings.plansDefault}</small>}
      </label>
      <input
        id={id}
        value={value ?? ''}
        disabled={value === null}
        required={!isOptional}
        autocomplete="off"
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        {...rule}
      />
    </p>
  )
}

interface CheckProps {
  readonly label: string
  /** Accessible name, if the label alone is ambiguous. */
  readonly name?: string
  readonly isChecked: boolean
  readonly onCheck: (isChecked: boolean) => void
}

function Check({ label, name, isChecked, onCheck }: CheckProps) {
  return (
    <p>
      <label class="inline">
        <input
          type="checkbox"
          checked={isChecked}
          aria-label={name}
          onChange={({ currentTarget }) => onCheck(currentTarget.checked)}
        />{' '}
        {label}
      </label>
    </p>
  )
}
