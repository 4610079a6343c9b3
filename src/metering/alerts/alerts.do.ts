// Alerts of a CreditMeter. Invariants: a report writes nothing for alerts but the account's row, unless an alert fires or
// is resolved; charging never waits for a delivery; an account without rules pays nothing.

import { orReject } from '../../core/deadline.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import { HOUR_MS } from '../../core/time.ts'
import { after } from '../../core/timers.client.ts'
import type { MeterStore } from '../meter.store.ts'
import { METER_API_VERSION } from '../meter-version.ts'
import type { LogBatch } from '../request-log/log-api.ts'
import { levelOf, parseThreshold } from '../webhooks/low-balance.ts'
import type { AlertType } from '../webhooks/webhook.ts'
import type { Webhooks } from '../webhooks/webhooks.do.ts'
import {
  type AlertBody,
  alertBody,
  balanceMessage,
  callsMessage,
  forecastMessage,
  TEST_MESSAGE,
} from './alert-event.ts'
import { type AlertRule, countedKey, RULE_KEYS_MAX, ruleKeys } from './alert-rule.ts'
import {
  nextState,
  QUIET,
  type Reading,
  readBalance,
  readCalls,
  readForecast,
  recheckMs,
  repeatMs,
} from './alert-state.ts'
import { AlertStore, type DueMail, type KnownRule, ruleView } from './alerts.store.ts'
import type { AlertMailer, AlertRecord, AlertsView, RuleRefusal, StoredRule } from './alerts-api.ts'
import { type CallMinutes, GrantedRequests, minutesText, readMinutes, windowSums, withCalls } from './call-minutes.ts'

const MAIL_TIMEOUT_MS = 15_000
const PAUSE_MS = 60_000
const FORECAST_EVERY_MS = HOUR_MS
const TEST_EVERY_MS = 10_000

/** Balance of the account, and its highest balance in the plan's period, in micro-credits. */
export interface Standing {
  readonly left: number
  readonly most: number
}

export class Alerts extends AlertStore {
  readonly #ctx: DurableObjectState
  readonly #meter: MeterStore
  readonly #webhooks: Webhooks
  readonly #mailer: () => AlertMailer
  readonly #granted = new GrantedRequests()
  #pausedUntilMs = 0
  #forecastMs = 0
  #testedMs = Number.NEGATIVE_INFINITY
  #checkedMs = 0

  constructor(ctx: DurableObjectState, meter: MeterStore, webhooks: Webhooks, mailer: () => AlertMailer) {
    super(ctx.storage.sql)
    this.#ctx = ctx
    this.#meter = meter
    this.#webhooks = webhooks
    this.#mailer = mailer
  }

  get #active(): readonly KnownRule[] {
    return this.rules.filter(({ rule }) => rule.enabled)
  }

  /** Time of the next alarm; infinite if none is needed. */
  get nextMs(): number {
    const firstMs = Math.min(this.mails.nextMs, ...this.#active.map((known) => this.#checkAtMs(known)))
    return Math.max(firstMs, this.#pausedUntilMs)
  }

  /** Delays everything after a failure, so that the alarm does not fire in a loop. */
  pause(nowMs: number): void {
    this.#pausedUntilMs = nowMs + PAUSE_MS
  }

  /** Calls leave a window while nothing is reported, and the end of credits comes closer. */
  #checkAtMs({ rule, state }: KnownRule): number {
    if (rule.condition.type === 'credits_end') return this.#forecastMs + FORECAST_EVERY_MS
    const repeatsMs = countedKey(rule.condition) === null ? repeatMs(state, rule.cooldownMinutes) : 0
    return state.isFiring ? recheckMs(this.#checkedMs, repeatsMs) : Number.POSITIVE_INFINITY
  }

  /** Adds calls that were reported. Runs inside a transaction of the store. */
  count(batch: LogBatch | undefined, nowMs: number): void {
    if (batch === undefined) return
    const stored = this.#meter.minutes()
    if (!this.#active.some(({ rule }) => countedKey(rule.condition) !== null)) {
      if (stored !== '') this.#meter.putMinutes('')
      return
    }
    const before = readMinutes(stored)
    const keys = ruleKeys(this.#active.map(({ rule }) => rule))
    const minutes = withCalls(before, batch, this.#granted.uses(nowMs), keys, nowMs)
    if (minutes !== before) this.#meter.putMinutes(minutesText(minutes))
  }

  countGranted(keyHash: string, bucket: string, perSecond: number, granted: number, nowMs: number): void {
    if (this.#active.some(({ rule }) => rule.condition.type === 'limit_use'))
      this.#granted.add(keyHash, bucket, perSecond, granted, nowMs)
  }

  /** Whether the end of the credits has to be computed. */
  isForecastDue(nowMs: number): boolean {
    const isNeeded = this.#active.some(({ rule }) => rule.condition.type === 'credits_end')
    return isNeeded && nowMs - this.#forecastMs >= FORECAST_EVERY_MS
  }

  /** Runs after every decision, inside its transaction. `endMs`: end of the credits, if it was computed. */
  check(standing: () => Standing, nowMs: number, endMs?: number): void {
    const active = this.#active
    if (active.length === 0) return
    this.#checkedMs = nowMs
    if (endMs !== undefined) this.#forecastMs = nowMs
    let minutes: CallMinutes | null = null
    const facts: Facts = {
      standing,
      minutes: () => (minutes ??= readMinutes(this.#meter.minutes())),
      endMs,
      nowMs,
    }
    for (const known of active) {
      const { rule, state } = known
      const measured = measure(rule, facts)
      if (measured === null) continue
      const next = nextState(state, measured.reading, rule.cooldownMinutes, nowMs)
      if (next.state === state) continue
      this.putRule({ ...known, state: next.state })
      if (next.type !== null) this.#emit(known, next.type, measured.message(), nowMs)
    }
  }

  #emit({ id: rule, account, rule: of }: KnownRule, type: AlertType, message: string, createdMs: number): string {
    const id = `evt_${crypto.randomUUID()}`
    const body = alertBody({ id, type, account, createdMs, rule, of, message })
    this.addEvent(id, body, of.addresses, createdMs)
    if (of.webhook) this.#webhooks.addAlert(id, body, createdMs)
    return id
  }

  view(): AlertsView {
    const { isSet: hasWebhook } = this.#webhooks
    return { rules: this.rules.map(ruleView), addresses: this.addresses(), hasWebhook, history: this.history() }
  }

  put(account: AccountId, id: string | null, rule: AlertRule): StoredRule | RuleRefusal {
    const known = this.rules.find((one) => one.id === id)
    if (id !== null && known === undefined) return 'unknown'
    if (rule.webhook && !this.#webhooks.isSet) return 'no_webhook'
    if (rule.addresses.some((address) => this.address(address) === null)) return 'unknown_address'
    const others = this.rules.flatMap((one) => (one === known ? [] : [one.rule]))
    if (ruleKeys([...others, rule]).length > RULE_KEYS_MAX) return 'too_many_keys'
    const isSame =
      known?.rule.enabled === rule.enabled && JSON.stringify(known.rule.condition) === JSON.stringify(rule.condition)
    const stored: KnownRule = {
      id: known?.id ?? `alr_${crypto.randomUUID()}`,
      account,
      rule,
      // The state of another condition does not apply to this one.
      state: isSame ? known.state : QUIET,
    }
    if (!this.putRule(stored)) return 'too_many'
    if (rule.condition.type === 'credits_end') this.#forecastMs = 0
    return ruleView(stored)
  }

  /** Null: no such rule; a number: wait in ms. */
  async test(id: string): Promise<AlertRecord | number | null> {
    const nowMs = Date.now()
    const known = this.rules.find((one) => one.id === id)
    if (known === undefined) return null
    const waitMs = this.#testedMs + TEST_EVERY_MS - nowMs
    if (waitMs > 0) return waitMs
    this.#testedMs = nowMs
    const event = this.#ctx.storage.transactionSync(() => this.#emit(known, 'alert.test', TEST_MESSAGE, nowMs))
    await Promise.all([...this.#webhooks.deliver(nowMs), ...this.deliver(nowMs)])
    return this.history().find((one) => one.id === event) ?? null
  }

  /** Starts due mails. Never throws, because the caller still has other work to do. */
  deliver(nowMs: number): readonly Promise<void>[] {
    if (nowMs < Math.max(this.mails.nextMs, this.#pausedUntilMs)) return []
    try {
      const due = this.#ctx.storage.transactionSync(() => this.claimMails(nowMs, Math.random))
      return due.map((mail) => {
        const work = this.#send(mail)
        this.#ctx.waitUntil(work)
        return work
      })
    } catch (error) {
      logEvent('alert_claim_failed', { error })
      this.pause(nowMs)
      return []
    }
  }

  async #send({ id, address, sealed, body }: DueMail): Promise<void> {
    try {
      const { account } = JSON.parse(body) as AlertBody
      const mail = { v: METER_API_VERSION, account, address, sealed, body }
      this.mails.record(id, await orReject(this.#mailer().sendAlertMail(mail), MAIL_TIMEOUT_MS, after))
    } catch (error) {
      logEvent('alert_mail_undelivered', { error })
      this.mails.record(id, { delivered: false, answer: 'the gateway, which sends e-mails, did not respond' })
    }
  }
}

interface Facts {
  readonly standing: () => Standing
  readonly minutes: () => CallMinutes
  /** Unix ms, infinite if the credits do not end; undefined: not computed. */
  readonly endMs: number | undefined
  readonly nowMs: number
}

/** Null: not known now. */
function measure(
  { condition }: AlertRule,
  { standing, minutes, endMs, nowMs }: Facts,
): { readonly reading: Reading; readonly message: () => string } | null {
  switch (condition.type) {
    case 'credits_below': {
      const { left, most } = standing()
      const threshold = parseThreshold(condition.threshold)
      if (!threshold.ok) return null
      const reading = readBalance(left, levelOf(threshold.value, most), most)
      return { reading, message: () => balanceMessage(left, condition.threshold) }
    }
    case 'credits_end':
      if (endMs === undefined) return null
      return { reading: readForecast(endMs, condition.days, nowMs), message: () => forecastMessage(endMs) }
    default: {
      const sums = windowSums(minutes(), condition.key ?? '', condition.minutes, nowMs)
      return { reading: readCalls(condition, sums), message: () => callsMessage(condition, sums) }
    }
  }
}
