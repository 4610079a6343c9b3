// The first page of an account: steps to start with, balance with its forecast, and usage by day.

import { useSignal } from '@preact/signals'
import { CircleCheck, CircleDashed } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pageUrl } from '../address.dom.ts'
import { nowMs } from '../clock.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Chart, type ChartPoint, HEIGHT, WIDTH } from '../ui/chart.tsx'
import { dayMarks } from '../ui/chart-scale.ts'
import { compactText, creditsText, dateText, groupedText, shortDayText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Icon } from '../ui/icon.tsx'
import { Lazy } from '../ui/lazy.tsx'
import { Meter } from '../ui/meter.tsx'
import { Figures, infoCurl, QueryView, Reserved, Snippet, streamCommand } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { spendVersion, useAccountQuery } from './account-data.dom.ts'
import { forecastText, microOf } from './account-view.ts'
import { type BurnDown, balancePath, burnDown } from './burn-down.ts'
import { hideOnboarding, isOnboardingHidden, rememberSteps, STEPS, startedSteps } from './onboarding.dom.ts'
import type { Account, Alerts, BalanceDay, Usage } from './responses.ts'
import { neededRole } from './role-pages.ts'
import type { Owner, SectionProps } from './section.ts'
import * as strings from './strings.ts'
import { UsageChart } from './usage-chart.tsx'

const FIGURES_HEIGHT = 84
const BALANCE_HEIGHT = 390
const USAGE_HEIGHT = 250
const LAST_DAY_CARD_HEIGHT = 390

const lastDay = async () => (await import('./last-day.tsx')).LastDay

export function Home({ account, owner }: SectionProps) {
  const usage = useAccountQuery<Usage>(() => {
    void spendVersion.value
    return '/platform/usage/?stack=type&duration=1'
  })
  return (
    <>
      <h1>{strings.pagesHome}</h1>
      <p class="soft">{owner.account}</p>
      <Reserved height={FIGURES_HEIGHT} isLoading={account === null}>
        {account && <BalanceFigures account={account} />}
      </Reserved>
      <Onboarding owner={owner} account={account} usage={usage.value.value} />
      <div class="cards">
        <section class="card">
          <h2>{strings.creditsTitle}</h2>
          {account === null ? (
            <Reserved height={BALANCE_HEIGHT} isLoading />
          ) : (
            <Balance account={account} owner={owner} />
          )}
        </section>
        <section class="card">
          <div class="title">
            <h2>{strings.usageTitle}</h2>
            <Link to={pageUrl('usage')}>{strings.usageMore}</Link>
          </div>
          {usage.value.value === null && usage.error.value === null ? (
            <Reserved height={USAGE_HEIGHT} isLoading />
          ) : (
            <QueryView query={usage}>{(used) => <UsageChart used={used} by="type" />}</QueryView>
          )}
        </section>
      </div>
      <Lazy load={lastDay} props={{}} fallback={<Reserved height={LAST_DAY_CARD_HEIGHT} isLoading />} />
    </>
  )
}

const BalanceFigures = ({ account: { balance, credits_a_day: perDay, spent, plan } }: { account: Account }) => (
  <Figures
    figures={[
      { name: strings.creditsBalance, value: groupedText(balance) },
      { name: strings.creditsDaily, value: groupedText(perDay) },
      { name: strings.creditsTotal, value: groupedText(spent) },
      { name: strings.creditsPlan, value: <Link to={pageUrl('settings')}>{labelOf(plan)}</Link> },
    ]}
  />
)

interface BalanceProps {
  readonly account: Account
  readonly owner: Owner
}

/** A box from the last fifth of the plan's credits on. */
const isLow = ({ balance, period }: Account) => period !== null && microOf(balance) * 5n < microOf(period.credits)

function Balance({ account, owner }: BalanceProps) {
  const balances = useAccountQuery<Responses['ownBalances']>(() => '/platform/balances/')
  const { period, of_plan: ofPlan, forecast } = account
  const isSpent = forecast.why === 'spent'
  const given = period === null ? 0n : microOf(period.credits)
  const used = given === 0n ? 0 : Number(((given - microOf(ofPlan)) * 1000n) / given)
  return (
    <>
      <div role="status" class={isSpent || isLow(account) ? 'note trouble title' : undefined}>
        {forecastText(account, nowMs())}
        {isSpent && neededRole('billing', owner.member_role) === null && (
          <Link to={pageUrl('billing')} class="main">
            {strings.creditsTopUp}
          </Link>
        )}
      </div>
      <QueryView query={balances} height={278}>
        {({ days }) => days.length > 0 && <BurnDownChart days={days} account={account} />}
      </QueryView>
      {period !== null && given > 0n && (
        <>
          <Meter label={strings.creditsPlanUsed(used / 10)} permille={used} />
          <p class="soft">
            {strings.creditsPlanLeft(groupedText(ofPlan), groupedText(period.credits))}
            {period.until === null
              ? strings.creditsNoEnd(timeText(period.since))
              : strings.creditsPeriod(timeText(period.since), timeText(period.until))}
            {period.until !== null &&
              microOf(period.renews_with) > 0n &&
              strings.creditsRenewal(groupedText(period.renews_with))}
          </p>
        </>
      )}
    </>
  )
}

const BALANCE_COLUMNS: readonly Column<BalanceDay>[] = [
  { name: strings.creditsColumnsDay, text: ({ date }) => date },
  amountColumn(strings.creditsColumnsOpening, ({ opening }) => opening),
  amountColumn(strings.creditsColumnsGranted, ({ granted }) => granted),
  amountColumn(strings.creditsColumnsExpired, ({ expired }) => expired),
  amountColumn(strings.creditsColumnsCharged, ({ charged }) => charged),
  amountColumn(strings.creditsColumnsClosing, ({ closing }) => closing),
]

const SIZE = { width: WIDTH, height: HEIGHT }
const YEAR_MS = 366 * 86_400_000

function BurnDownChart({ days, account }: { days: readonly BalanceDay[]; account: Account }) {
  const chart = burnDown(days, account, nowMs())
  const { fromMs, endMs, history, forecast, steps } = chart
  const label = `${strings.creditsChart(dateText(fromMs), groupedText(account.balance))}${forecast === null ? '' : strings.creditsChartForecast(dateText(endMs))}`
  const isLong = endMs - fromMs > YEAR_MS
  const markText = isLong ? dateText : shortDayText
  return (
    <>
      <Chart
        label={label}
        steps={steps}
        stepText={(micro) => compactText(micro / 1_000_000)}
        marks={dayMarks(fromMs, endMs, isLong ? 4 : 6).map((atMs) => ({
          at: shareOf(atMs, chart),
          text: markText(atMs),
        }))}
        points={balancePoints(days, account, chart)}
        legend={
          <>
            {strings.creditsCaption}
            {forecast !== null && strings.creditsCaptionForecast(dateText(endMs))}
          </>
        }
      >
        <path class="line" d={balancePath(history, chart, SIZE)} />
        {forecast && <path class="line ahead" d={balancePath(forecast, chart, SIZE)} />}
      </Chart>
      <details>
        <summary>{strings.creditsShowDays}</summary>
        <Table
          caption={strings.creditsTable}
          columns={BALANCE_COLUMNS}
          rows={[...days].reverse()}
          csv="balances"
          empty=""
        />
      </details>
    </>
  )
}

const shareOf = (atMs: number, { fromMs, endMs }: BurnDown) => (atMs - fromMs) / (endMs - fromMs)

/** Each day at its end, now, and the end of the forecast. */
function balancePoints(days: readonly BalanceDay[], account: Account, chart: BurnDown): ChartPoint[] {
  const ended = chart.history.filter((_, i) => i % 2 === 1)
  const points = ended.map(({ atMs, micro }, i) => ({
    at: shareOf(atMs, chart),
    title: dateText(Date.parse(days[i]?.date ?? '')),
    rows: [
      { name: strings.creditsColumnsClosing, text: creditsText(Math.round(micro)) },
      { name: strings.creditsColumnsCharged, text: groupedText(days[i]?.charged ?? '0') },
    ],
  }))
  if (chart.forecast === null) return points
  const rows = [{ name: strings.creditsForecast, text: '0' }]
  return [...points, { at: 1, title: strings.creditsForecastAt(dateText(account.forecast.ends ?? chart.endMs)), rows }]
}

interface OnboardingProps {
  readonly owner: Owner
  readonly account: Account | null
  readonly usage: Usage | null
}

/**
 * Shown until each step was taken once, or the owner hides it. Steps of earlier visits are folded. The list keeps its
 * height while the page is open, so that nothing moves when the data arrive.
 */
function Onboarding({ owner, account, usage }: OnboardingProps) {
  const isHidden = useSignal(isOnboardingHidden(owner.account))
  const known = startedSteps(owner.account)
  const before = useRef(known).current
  // The steps need keys.
  const isOpen = !isHidden.value && before.length < STEPS.length && owner.member_role !== 'billing'
  const needsAlerts = useSignal(false)
  const manages = account?.manages ?? false
  useEffect(() => {
    needsAlerts.value = isOpen && manages && !known.includes('alert')
  }, [isOpen, manages])
  const alerts = useAccountQuery<Alerts>(() => (needsAlerts.value ? '/platform/alerts/' : null))
  if (!isOpen) return null
  const isService = owner.kind === 'service'
  const done = {
    call: known.includes('call') || (usage?.totals.calls ?? 0) > 0,
    stream: known.includes('stream') || (usage?.totals.stream_minutes ?? 0) > 0,
    alert: known.includes('alert') || !isService || hasAlert(alerts.value.value),
  }
  rememberSteps(owner.account, done)
  const hide = () => {
    hideOnboarding(owner.account)
    isHidden.value = true
  }
  return (
    <section class="card">
      <div class="title">
        <h2>{strings.startTitle}</h2>
        <Button text={strings.startHide} class="plain" onClick={hide} />
      </div>
      <ol class="steps">
        <Step isDone={done.call} isFolded={before.includes('call')} title={strings.startCall}>
          <Snippet line={infoCurl('{"type":"allMids"}')} />
        </Step>
        <Step isDone={done.stream} isFolded={before.includes('stream')} title={strings.startStream}>
          <Snippet line={streamCommand()} />
        </Step>
        {isService && (
          <Step isDone={done.alert} isFolded={before.includes('alert')} title={strings.startAlert}>
            <p>
              <Link to={pageUrl('alerts')}>{strings.startAlertLink}</Link>
            </p>
          </Step>
        )}
      </ol>
    </section>
  )
}

const hasAlert = (alerts: Alerts | null) => alerts !== null && (alerts.has_webhook || alerts.rules.length > 0)

interface StepProps {
  readonly isDone: boolean
  readonly isFolded: boolean
  readonly title: string
  readonly children: ComponentChildren
}

function Step({ isDone, isFolded, title, children }: StepProps) {
  const head = (
    <>
      <b>{title}</b>
      {isDone && <span class="unseen">{strings.startDone}</span>}
    </>
  )
  return (
    <li class={isDone ? 'done' : ''}>
      <Icon node={isDone ? CircleCheck : CircleDashed} />
      {isFolded ? (
        <details>
          <summary>{head}</summary>
          {children}
        </details>
      ) : (
        <div>
          {head}
          {children}
        </div>
      )}
    </li>
  )
}
