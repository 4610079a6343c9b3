// The invoice of an order as an A4 page, without the frame of the console. Invariant: it prints in light colors.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { urlWith } from '../address.dom.ts'
import { useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { countryName } from '../ui/country-name.ts'
import { priceText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { Mark } from '../ui/icon.tsx'
import { QueryView } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { INVOICE } from './order-invoice-strings.ts'

type Invoice = Responses['orderInvoice']

export function OrderInvoice({ number }: { readonly number: string }) {
  const invoice = useQuery<Invoice>(() => `/platform/checkout/${encodeURIComponent(number)}/invoice`)
  useEffect(() => {
    const { title } = document
    // Browsers name the PDF after the title.
    document.title = INVOICE.title(number)
    return () => {
      document.title = title
    }
  }, [number])
  return (
    <main id="main" class="sheet">
      <p class="beside">
        <Link to={urlWith({ invoice: null })}>{INVOICE.back}</Link>
        <Button text={INVOICE.print} class="main" disabled={invoice.value.value === null} onClick={() => print()} />
      </p>
      <QueryView query={invoice}>{(value) => <Sheet invoice={value} />}</QueryView>
    </main>
  )
}

function Sheet({ invoice }: { readonly invoice: Invoice }) {
  const { number, seller, buyer, note } = invoice
  return (
    <article class="paper" aria-label={INVOICE.title(number)}>
      <div class="top">
        <h1 class="brand">
          <Mark />
          {INVOICE.title(number)}
        </h1>
        <strong class={invoice.state === 'paid' ? 'stamp good' : 'stamp'}>{stateText(invoice)}</strong>
      </div>
      <div class="parties">
        <Party title={INVOICE.from} of={seller} more={[seller.contact]} />
        {buyer === null ? (
          <section>
            <h2>{INVOICE.to}</h2>
            <p>{invoice.account}</p>
            <p class="soft">{INVOICE.noBuyer}</p>
          </section>
        ) : (
          <Party
            title={INVOICE.to}
            of={{ ...buyer, address: [...buyer.address, countryName(buyer.country)] }}
            more={[buyer.email]}
          />
        )}
        <Pairs
          of={[
            [INVOICE.number, number],
            [INVOICE.issued, invoice.issued],
            [INVOICE.due, invoice.due],
            [INVOICE.account, invoice.account],
          ]}
        />
      </div>
      <Lines invoice={invoice} />
      <Totals invoice={invoice} />
      <Payment invoice={invoice} />
      {note !== '' && <p class="remark">{note}</p>}
    </article>
  )
}

function stateText({ state, paid, refunded }: Invoice): string {
  if (/^[0.]+$/.test(refunded)) return INVOICE.states[state]
  return refunded === paid ? INVOICE.refunded : INVOICE.partlyRefunded
}

interface PartyProps {
  readonly title: string
  readonly of: Pick<Invoice['seller'], 'name' | 'address' | 'tax_id'>
  readonly more: readonly (string | null)[]
}

function Party({ title, of: { name, address, tax_id: taxId }, more }: PartyProps) {
  const lines = [...address, taxId && INVOICE.taxId(taxId), ...more].filter((line) => line !== null)
  return (
    <section>
      <h2>{title}</h2>
      <p>
        <strong>{name}</strong>
        {lines.map((line, i) => (
          <span key={i}>{line}</span>
        ))}
      </p>
    </section>
  )
}

type Pair = readonly [name: string, value: ComponentChildren]

function Pairs({ of, kind = 'pairs' }: { readonly of: readonly Pair[]; readonly kind?: string }) {
  return (
    <dl class={kind}>
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Lines({ invoice: { lines, currency } }: { readonly invoice: Invoice }) {
  const code = currency.toUpperCase()
  const columns: readonly Column<Invoice['lines'][number]>[] = [
    { name: INVOICE.description, text: ({ description }) => description },
    amountColumn(INVOICE.quantity, ({ quantity }) => quantity),
    amountColumn(INVOICE.unitPrice(code), ({ unit_price: price }) => price),
    amountColumn(INVOICE.net(code), ({ net }) => net),
  ]
  return <Table caption={INVOICE.lines} columns={columns} rows={lines} isUnpaged empty="" />
}

function Totals({ invoice }: { readonly invoice: Invoice }) {
  const { net, tax, gross, paid, amount_due: due, correction } = invoice
  const price = (amount: string) => priceText(amount, invoice.currency)
  const taxName = tax && INVOICE.tax(tax.name, tax.rate)
  return (
    <>
      <Pairs
        kind="pairs totals"
        of={[
          ...(tax === null
            ? []
            : ([
                [INVOICE.netTotal, price(net)],
                [taxName, price(tax.amount)],
              ] as Pair[])),
          [INVOICE.total, <strong key="total">{price(gross)}</strong>],
          [INVOICE.paid, price(paid)],
          [INVOICE.amountDue, <strong key="due">{price(due)}</strong>],
        ]}
      />
      {correction && (
        <section>
          <h2>{INVOICE.correction}</h2>
          <p>{INVOICE.correctionText(correction.issued)}</p>
          <Pairs
            kind="pairs totals"
            of={[
              ...(tax === null
                ? []
                : ([
                    [INVOICE.netTotal, price(correction.net)],
                    [taxName, price(correction.tax)],
                  ] as Pair[])),
              [INVOICE.total, <strong key="total">{price(correction.gross)}</strong>],
            ]}
          />
        </section>
      )}
    </>
  )
}

function Payment({ invoice: { payment, instructions } }: { readonly invoice: Invoice }) {
  const { method, reference, network, paid } = payment
  const pairs = [
    [INVOICE.method, INVOICE.methods[method]],
    [INVOICE.reference, reference],
    [INVOICE.network, network],
    [INVOICE.paidOn, paid && `${timeText(paid)} UTC`],
  ] as const
  return (
    <section>
      <h2>{INVOICE.payment}</h2>
      {instructions !== '' && <p class="remark">{instructions}</p>}
      <Pairs of={pairs.filter(([, value]) => value !== null)} />
    </section>
  )
}
