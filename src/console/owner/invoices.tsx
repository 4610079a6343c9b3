// Invoices: a UTC month each, and one of them to print.

import { addressWith, useParam } from '../address.dom.ts'
import type { Answers } from '../answers.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Link } from '../shell.tsx'
import { Answered, Sums, TroubleNote } from '../ui/parts.tsx'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import { groupedText, timeText } from '../ui/text.ts'
import type { Invoice, InvoiceSums } from './answers.ts'
import { useOwn } from './own.dom.ts'

type Line = Invoice['lines'][number]

const MONTHS: readonly Column<InvoiceSums>[] = [
  {
    name: 'Month, UTC',
    text: ({ month }) => month,
    draw: ({ month, is_final: isFinal }) => (
      <>
        <Link to={addressWith({ month })}>{month}</Link> {!isFinal && <small>so far</small>}
      </>
    ),
  },
  amountColumn('Opening', ({ opening }) => opening),
  amountColumn('Granted', ({ granted }) => granted),
  amountColumn('Expired', ({ expired }) => expired),
  amountColumn('Charged', ({ charged }) => charged),
  amountColumn('Closing', ({ closing }) => closing),
]
const LINES: readonly Column<Line>[] = [
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Label', text: ({ label }) => label },
  amountColumn('Count', ({ count }) => count),
  amountColumn('Credits', ({ credits }) => credits),
]

export function Invoices() {
  const months = useOwn<Answers['ownInvoices']>(() => '/platform/invoices/')
  const month = useParam('month').value
  return (
    <section>
      <div class="screen">
        <h2>Invoices by month</h2>
        <Answered of={months}>
          {(value) => (
            <Table
              caption="Months of the account"
              columns={MONTHS}
              rows={value.invoices}
              csv="invoices"
              empty="Nothing was given or charged yet: the first month begins with the first credits."
            />
          )}
        </Answered>
      </div>
      {month && <OneInvoice month={month} key={month} />}
    </section>
  )
}

function OneInvoice({ month }: { month: string }) {
  const path = `/platform/invoices/${encodeURIComponent(month)}`
  const loaded = useLoaded<Invoice>(() => path)
  const value = loaded.value.value
  if (value === null) return <TroubleNote trouble={loaded.trouble.value} again={loaded.reload} />
  const sums = [
    ['Opening balance', value.opening],
    ...value.given.map(
      ({ at, plan, credits }) => [`${plan === null ? 'Grant' : `Plan ${plan}`}, ${timeText(at)}`, credits] as const,
    ),
    ['Expired', less(value.expired)],
    ['Charged', less(value.charged)],
    ['Closing balance', value.closing],
  ] as const
  return (
    <article class="invoice" aria-label={`Invoice ${value.month}`}>
      <h2>
        {value.account}: {value.from} to {value.to} UTC{value.is_final ? '' : ', so far'}
      </h2>
      <Sums of={sums.map(([name, credits]) => [name, groupedText(credits)])} />
      <Table caption={`Lines of ${value.month}`} columns={LINES} rows={value.lines} isWhole empty="Nothing was used." />
      {value.written_off !== '0' && (
        <p>
          Lines add up to {groupedText(value.charged)} charged and {groupedText(value.written_off)} written off, which
          was served when the balance was gone.
        </p>
      )}
      <p class="beside">
        <a href={`${path}/csv`} download={`invoice-${value.month}.csv`}>
          CSV
        </a>
        <button type="button" onClick={() => print()}>
          Print, or save as PDF
        </button>
        <Link to={addressWith({ month: null })}>Close</Link>
      </p>
    </article>
  )
}

const less = (credits: string) => (credits === '0' ? credits : `-${credits}`)
