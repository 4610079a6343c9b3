// Top-ups that charge a saved card: settings, card and history. The card is entered on a page of the payment provider.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pageUrl, urlWith } from '../address.dom.ts'
import { request, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { Dialog, Field } from '../ui/dialog.tsx'
import { Select } from '../ui/form.tsx'
import { groupedText, plainText, priceText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, QueryView } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { heartbeat, useAccountQuery } from './account-data.dom.ts'
import { microOf } from './account-view.ts'
import { AUTO } from './auto-top-up-strings.ts'
import * as billingStrings from './billing-strings.ts'

type View = Responses['ownAutoTopUp']
type Offers = Responses['showCheckout']

const PATH = '/platform/auto-top-up/'
const CARD_PATH = `${PATH}card`

/** For keys that manage the account, where orders are paid by card. */
export const AutoTopUp = ({ offers }: { readonly offers: Offers }) => (
  <section class="card">
    <h2>{AUTO.title}</h2>
    <Saved offers={offers} />
  </section>
)

/** In place of it, where orders are paid in another way. */
export const NoAutoTopUp = () => (
  <p class="soft">
    {AUTO.manual}
    <Link to={pageUrl('alerts')}>{AUTO.manualWebhook}</Link>
    {AUTO.manualRest}
  </p>
)

function Saved({ offers }: { readonly offers: Offers }) {
  // The provider reports a new card, or the outcome of a charge, while the page is open.
  const isWaiting = useSignal(false)
  const loaded = useAccountQuery<View>(() => {
    if (isWaiting.value) void heartbeat.value
    return PATH
  })
  const view = loaded.value.value
  const waits = view !== null && (view.card === null || view.order !== null)
  useEffect(() => {
    isWaiting.value = waits
  }, [waits])
  const changed = (value: View) => {
    loaded.value.value = value
  }
  return (
    <QueryView query={loaded} height={96}>
      {(shown) => (
        <>
          <Status view={shown} />
          <Actions view={shown} offers={offers} onChanged={changed} />
          {shown.changes.length > 0 && <History changes={shown.changes} />}
        </>
      )}
    </QueryView>
  )
}

function Status({ view }: { readonly view: View }) {
  const { state, settings, stopped, card, order, not_before: notBefore } = view
  return (
    <>
      {state === 'stopped' && stopped && (
        <p class="note trouble" role="alert">
          {AUTO.stopped(timeText(stopped.at), stopped.reason)}
          {AUTO.whatToDo[stopped.reason]}
        </p>
      )}
      {settings === null || state !== 'on' ? (
        <p>{card === null ? AUTO.intro : state === 'off' && AUTO.off}</p>
      ) : (
        <p>
          {AUTO.on(
            groupedText(settings.below),
            groupedText(settings.credits),
            priceText(settings.amount, settings.currency),
          )}
        </p>
      )}
      {settings && <Charged view={view} settings={settings} />}
      {order && (
        <p role="status">
          <Link to={urlWith({ order })}>{AUTO.order(order)}</Link>
        </p>
      )}
      {notBefore !== null && <p class="soft">{AUTO.notBefore(timeText(notBefore))}</p>}
      {card && <p>{AUTO.card(card.brand, card.last4, card.expires)}</p>}
    </>
  )
}

interface ChargedProps {
  readonly view: View
  readonly settings: NonNullable<View['settings']>
}

function Charged({ view, settings }: ChargedProps) {
  const { amount, currency, monthly_limit: limit } = settings
  const charged = view.charged_this_month ?? '0'
  const isFull = view.state === 'on' && microOf(charged) + microOf(amount) > microOf(limit)
  return (
    <>
      <p class="soft">{AUTO.charged(priceText(charged, currency), priceText(limit, currency))}</p>
      {isFull && <p class="note trouble">{AUTO.full}</p>}
    </>
  )
}

interface ActionsProps {
  readonly view: View
  readonly offers: Offers
  readonly onChanged: (view: View) => void
}

function Actions({ view, offers, onChanged }: ActionsProps) {
  const open = useSignal<'settings' | 'off' | 'remove' | null>(null)
  const error = useSignal<Awaited<ReturnType<typeof requestChange>>>(null)
  const { card, state } = view
  const close = () => {
    open.value = null
  }
  const done = (changed: View) => {
    onChanged(changed)
    close()
  }
  const addCard = async () => {
    const page = await request<Responses['saveCard']>('POST', CARD_PATH)
    if (page.ok) location.assign(page.value.url)
    else error.value = page.error
  }
  return (
    <>
      <p class="beside">
        {card && (
          <Button
            text={state === 'on' ? AUTO.change : view.settings === null ? AUTO.setUp : AUTO.turnOn}
            class={state === 'on' ? undefined : 'main'}
            onClick={() => (open.value = 'settings')}
          />
        )}
        {state === 'on' && <Button text={AUTO.turnOff} onClick={() => (open.value = 'off')} />}
        <Button
          text={card ? AUTO.replaceCard : AUTO.addCard}
          class={card ? undefined : 'main'}
          onClick={() => void addCard()}
        />
        {card && <Button text={AUTO.removeCard} class="danger" onClick={() => (open.value = 'remove')} />}
      </p>
      <ErrorNote error={error.value} />
      {open.value === 'settings' && <SettingsForm view={view} offers={offers} onDone={done} onClose={close} />}
      {open.value === 'off' && (
        <Dialog
          title={AUTO.turnOff}
          submitLabel={AUTO.turnOff}
          onSend={() => requestChange<View>('DELETE', PATH, undefined, done)}
          onClose={close}
        >
          <p>{AUTO.turnOffText}</p>
        </Dialog>
      )}
      {open.value === 'remove' && (
        <Dialog
          title={AUTO.removeCard}
          submitLabel={AUTO.removeCard}
          submitClass="danger"
          onSend={() => requestChange<View>('DELETE', CARD_PATH, undefined, done)}
          onClose={close}
        >
          <p>{AUTO.removeText}</p>
        </Dialog>
      )}
    </>
  )
}

interface FormProps {
  readonly view: View
  readonly offers: Offers
  readonly onDone: (view: View) => void
  readonly onClose: () => void
}

/** Value of the choice of a custom amount, which no package has as name. */
const CUSTOM = ''

function SettingsForm({ view: { settings, state }, offers, onDone, onClose }: FormProps) {
  const { packages, lots, currency } = offers
  const first = packages[0]?.name ?? CUSTOM
  const below = useSignal(settings?.below ?? '')
  const chosen = useSignal(settings === null ? first : (settings.package ?? CUSTOM))
  const credits = useSignal(settings?.credits ?? lots?.credits ?? '')
  const limit = useSignal(settings?.monthly_limit ?? '')
  const options = Object.fromEntries([
    ...packages.map(({ name, credits: sold, amount }) => [
      name,
      billingStrings.topUpPackage(groupedText(sold), priceText(amount, currency)),
    ]),
    ...(lots ? [[CUSTOM, AUTO.form.custom]] : []),
  ])
  const number = (text: string) => plainText(text.trim())
  const send = () => {
    const purchase = chosen.value === CUSTOM ? { credits: number(credits.value) } : { package: chosen.value }
    const body = { below: number(below.value), monthly_limit: number(limit.value), ...purchase }
    return requestChange<View>('PUT', PATH, body, onDone)
  }
  return (
    <Dialog
      title={AUTO.title}
      submitLabel={state === 'on' ? AUTO.form.save : AUTO.form.submit}
      isIncomplete={below.value.trim() === '' || limit.value.trim() === ''}
      onSend={send}
      onClose={onClose}
    >
      <Field label={AUTO.form.below} value={below.value} onText={(text) => (below.value = text)} />
      <p>
        <Select
          label={AUTO.form.buy}
          value={chosen.value}
          options={options}
          onSelect={(value) => (chosen.value = value)}
        />
      </p>
      {chosen.value === CUSTOM && lots && (
        <Field
          label={AUTO.form.credits}
          hint={AUTO.form.creditsHint(groupedText(lots.credits))}
          value={credits.value}
          onText={(text) => (credits.value = text)}
        />
      )}
      <Field
        label={AUTO.form.limit(currency.toUpperCase())}
        hint={AUTO.form.limitHint}
        value={limit.value}
        onText={(text) => (limit.value = text)}
      />
      <p class="soft">{AUTO.form.consent}</p>
    </Dialog>
  )
}

type Change = View['changes'][number]

const COLUMNS: readonly Column<Change>[] = [
  { name: AUTO.time, text: ({ at }) => timeText(at) },
  { name: AUTO.what, text: ({ what }) => AUTO.changes[what] },
  { name: AUTO.by, text: ({ by }) => by ?? '' },
]

const History = ({ changes }: { readonly changes: readonly Change[] }) => (
  <details>
    <summary>{AUTO.history}</summary>
    <Table caption={AUTO.history} columns={COLUMNS} rows={changes} empty={AUTO.empty} />
  </details>
)
