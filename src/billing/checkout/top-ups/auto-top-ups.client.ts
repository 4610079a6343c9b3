// Automatic top-ups for the endpoints, the meter and the events of the provider. Invariant: events only say where to look;
// what happened is read from the provider, so events may repeat, be late or come in any order.

import type { ChangeAuthor } from '../../../accounts/members.ts'
import type { Failure } from '../../../core/failure.ts'
import type { AccountId } from '../../../core/ids.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import type { TopUpAnswer, TopUpMeterApi } from '../../../metering/top-up-watch.ts'
import {
  type AutoTopUp,
  type AutoTopUpInput,
  type CardEvent,
  type CompletedSetup,
  monthStart,
  settingsFrom,
} from '../auto-top-up.ts'
import type { AutoTopUpApi, AutoTopUpView, CheckoutError } from '../checkout-api.ts'
import { type AutoTopUpStore, isSetupOpen, TOP_UP_CHANGES_MAX } from './auto-top-up.store.ts'
import { advanceTopUp, type TopUpPorts } from './top-up-step.client.ts'

interface AutoTopUpsPorts extends Omit<TopUpPorts, 'store'> {
  readonly store: TopUpPorts['store'] & AutoTopUpRecords
  /** Makes the meter of the account ask when its balance is low. */
  readonly watch: TopUpMeterApi['watchTopUp']
}

type AutoTopUpRecords = Pick<
  AutoTopUpStore,
  'changes' | 'turnOn' | 'turnOff' | 'openSetup' | 'saveCard' | 'forgetCard' | 'accountsOf'
>

const CHANGES_SHOWN = 20

export class AutoTopUps implements AutoTopUpApi {
  readonly #ports: AutoTopUpsPorts

  constructor(ports: AutoTopUpsPorts) {
    this.#ports = ports
  }

  async view(account: AccountId): Promise<AutoTopUpView> {
    const { store, nowMs } = this.#ports
    const current = await store.named(account)
    const [charged, order, changes] = await Promise.all([
      current?.settings ? store.chargedSince(account, current.settings.currency, monthStart(nowMs())) : 0,
      store.inFlight(account),
      store.changes(account, CHANGES_SHOWN),
    ])
    // The meter may have missed the change that turned them on.
    await this.#watch(current, false)
    return { current, charged, order: order?.number ?? null, changes }
  }

  async turnOn(
    account: AccountId,
    input: AutoTopUpInput,
    author: ChangeAuthor | null,
  ): Promise<Result<void, CheckoutError>> {
    const { store, prices, terms, nowMs, watch } = this.#ports
    const settings = settingsFrom(input, prices, terms)
    if (!settings.ok) return settings
    const current = await store.named(account)
    if ((current?.card ?? null) === null) return err(NO_CARD)
    if (!(await store.turnOn(account, settings.value, author, nowMs())))
      return err({ kind: 'limit_reached', limit: 'Changes per day', most: TOP_UP_CHANGES_MAX, hint: TOO_MANY })
    await watch({ account, below: settings.value.below }, true)
    return ok(undefined)
  }

  async turnOff(account: AccountId, author: ChangeAuthor | null): Promise<void> {
    await this.#ports.store.turnOff(account, author, this.#ports.nowMs())
  }

  /** The page on which the owner saves a card. */
  async openSetup(account: AccountId): Promise<Result<string, Failure>> {
    const { store, cards, nowMs, report } = this.#ports
    const open = (await store.named(account))?.setup ?? null
    if (open !== null && isSetupOpen(open, nowMs())) return ok(open.url)
    const setup = await cards.openSetup(account)
    if (!setup.ok) {
      report(`automatic top-up of ${account}: ${setup.error}`)
      return err(UNAVAILABLE)
    }
    await store.openSetup(account, setup.value, nowMs())
    return ok(setup.value.url)
  }

  /** Turns the top-ups off, and makes the card unusable. */
  async removeCard(account: AccountId, author: ChangeAuthor | null): Promise<Result<void, Failure>> {
    const { store, cards, nowMs, report } = this.#ports
    await this.turnOff(account, author)
    const card = (await store.named(account))?.card ?? null
    if (card === null) return ok(undefined)
    const detached = await cards.detach(card.method)
    if (!detached.ok) {
      report(`automatic top-up of ${account}: ${detached.error}`)
      return err(UNAVAILABLE)
    }
    await store.forgetCard(account, card.method, author, nowMs())
    return ok(undefined)
  }

  /** Called by the meter. */
  advance(account: AccountId, isLow: boolean): Promise<TopUpAnswer> {
    return advanceTopUp(this.#ports, account, isLow)
  }

  /** Rejects if the provider must resend the event. */
  async handle(event: CardEvent): Promise<string> {
    switch (event.kind) {
      case 'charge':
        return `top-up: ${(await this.advance(event.account, false)).state}`
      case 'setup':
        return this.#saveCard(event.account, event)
      case 'card_gone':
        return this.#forget({ method: event.method })
      case 'customer_gone':
        return this.#forget({ customer: event.customer })
    }
  }

  async #watch(current: AutoTopUp | null, isNew: boolean): Promise<void> {
    if (current?.state !== 'on' || current.settings === null) return
    await this.#ports.watch({ account: current.account, below: current.settings.below }, isNew)
  }

  /** The page need not be the last one that was opened, because two may be opened at once. */
  async #saveCard(account: AccountId, setup: CompletedSetup): Promise<string> {
    const { store, cards, nowMs, report } = this.#ports
    const card = await cards.savedCard(setup.session, account)
    if (!card.ok) throw new Error(card.error)
    if (card.value === null) return 'no card of this account'
    const saved = await store.saveCard(account, setup, card.value, nowMs())
    const replaced = saved?.replaced ?? null
    const isReplaced = replaced !== null && replaced !== card.value.method
    const detached = isReplaced ? await cards.detach(replaced) : ok(undefined)
    if (!detached.ok) report(`automatic top-up of ${account}: the replaced card: ${detached.error}`)
    // Also after an event whose handling failed here: the meter may wait for a day after a failed charge of the old card.
    await this.#watch(await store.named(account), true)
    return saved === null ? 'already known' : isReplaced ? 'card replaced' : 'card saved'
  }

  async #forget(gone: Parameters<AutoTopUpRecords['accountsOf']>[0]): Promise<string> {
    const { store, nowMs } = this.#ports
    const found = await store.accountsOf(gone)
    for (const { account, method } of found) {
      await store.forgetCard(account, method, null, nowMs())
      await this.advance(account, false)
    }
    return found.length === 0 ? 'not a saved card' : 'card removed'
  }
}

const NO_CARD = {
  kind: 'conflict',
  message: 'There is no saved card. Save one first, then turn on auto top-up.',
} as const
const TOO_MANY = `The settings changed ${TOP_UP_CHANGES_MAX} times in the last 24 hours. Try again tomorrow.`
const UNAVAILABLE: Failure = { kind: 'unavailable', what: 'The payment provider did not answer' }
