// Monthly statements, and a printable view of each.

import { useEffect, useRef } from 'preact/hooks'
import { urlWith } from '../address.dom.ts'
import { type Query, useQuery } from '../queries.dom.ts'
import type { Responses } from '../responses.ts'
import { Link } from '../shell.tsx'
import { dateText, groupedText, timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { QueryView, SummaryList } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { amountColumn, type Column, Table } from '../ui/table.tsx'
import * as billingStrings from './billing-strings.ts'
import { INVOICE } from './order-invoice-strings.ts'
import type { Statement, StatementSums } from './responses.ts'
import * as strings from './strings.ts'

type Line = Statement['lines'][number]

const MONTH_COLUMNS: readonly Column<StatementSums>[] = [
  {
    name: billingStrings.statementsMonth,
    text: ({ month }) => month,
    render: ({ month, is_final: isFinal }) => (
      <>
        <Link to={urlWith({ month })}>{month}</Link> {!isFinal && <small>{billingStrings.statementsSoFar}</small>}
      </>
    ),
  },
  amountColumn(strings.creditsColumnsOpening, ({ opening }) => opening),
  amountColumn(strings.creditsColumnsGranted, ({ granted }) => granted),
  amountColumn(strings.creditsColumnsExpired, ({ expired }) => expired),
  amountColumn(strings.creditsColumnsCharged, ({ charged }) => charged),
  amountColumn(strings.creditsColumnsClosing, ({ closing }) => closing),
]
const LINE_COLUMNS: readonly Column<Line>[] = [
  { name: billingStrings.statementsColumnsProduct, text: ({ product }) => labelOf(product) },
  { name: billingStrings.statementsColumnsType, text: ({ type }) => type },
  { name: billingStrings.statementsColumnsKey, text: ({ prefix }) => prefix ?? '' },
  { name: billingStrings.statementsColumnsLabel, text: ({ label }) => label },
  amountColumn(billingStrings.statementsColumnsCount, ({ count }) => count),
  amountColumn(billingStrings.statementsColumnsCredits, ({ credits }) => credits),
]

export function Statements({ months }: { readonly months: Query<Responses['ownInvoices']> }) {
  return (
    <section>
      <h2>{billingStrings.statementsTitle}</h2>
      <QueryView query={months}>
        {(value) => (
          <Table
            caption={billingStrings.statementsTable}
            columns={MONTH_COLUMNS}
            rows={value.invoices}
            csv="statements"
            empty={billingStrings.statementsEmpty}
          />
        )}
      </QueryView>
    </section>
  )
}

export function StatementView({ month }: { month: string }) {
  const path = `/platform/invoices/${encodeURIComponent(month)}`
  const loaded = useQuery<Statement>(() => path)
  const heading = useRef<HTMLHeadingElement>(null)
  // The link that led here is gone.
  useEffect(() => heading.current?.focus(), [])
  return (
    <article class="invoice monthly" aria-label={billingStrings.statementsLabel(month)}>
      <p class="screen">
        <Link to={urlWith({ month: null })}>{INVOICE.back}</Link>
      </p>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {billingStrings.statementsTitleOf(dateText(Date.parse(month)).slice(-8))}
        </h1>
        <span class="beside">
          <a href={`${path}/csv`} download={`statement-${month}.csv`}>
            {billingStrings.statementsCsv}
          </a>
          <Button text={billingStrings.topUpPrint} onClick={() => print()} />
        </span>
      </div>
      <QueryView query={loaded} height={480}>
        {(value) => <StatementSheet value={value} />}
      </QueryView>
    </article>
  )
}

function StatementSheet({ value }: { readonly value: Statement }) {
  const given = value.given.map(({ at, plan, credits }) => {
    const name =
      plan === null ? billingStrings.statementsGrant(timeText(at)) : billingStrings.statementsPlan(plan, timeText(at))
    return [name, `+${groupedText(credits)}`] as const
  })
  return (
    <>
      <p class="soft">
        {billingStrings.statementsHeading(value.account, value.from, value.to)}
        {value.is_final ? '' : billingStrings.statementsHeadingSoFar}
      </p>
      <section class="card">
        <SummaryList
          of={[
            [billingStrings.statementsSumsOpening, groupedText(value.opening)],
            ...given,
            [billingStrings.statementsSumsExpired, negative(value.expired)],
            [billingStrings.statementsSumsCharged, negative(value.charged)],
            [billingStrings.statementsSumsClosing, groupedText(value.closing)],
          ]}
        />
      </section>
      <h2>{billingStrings.statementsActivity}</h2>
      <Table
        caption={billingStrings.statementsLines(value.month)}
        columns={LINE_COLUMNS}
        rows={value.lines}
        isUnpaged
        empty={billingStrings.statementsNoLines}
      />
      {value.written_off !== '0' && (
        <p>{billingStrings.statementsWrittenOff(groupedText(value.charged), groupedText(value.written_off))}</p>
      )}
    </>
  )
}

const negative = (credits: string) => (credits === '0' ? credits : groupedText(`-${credits}`))
