// How the gateway and its business stand, on one page.

import { Link } from '../shell.tsx'
import { useStatus } from '../status/status.dom.ts'
import { Ages, archiveFigure, heightFigure, StateNote } from '../status/status-parts.tsx'
import { Figures } from '../ui/figures.tsx'
import { Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { useBusiness } from './business.dom.ts'
import { businessFigures, SpentByDay } from './business-parts.tsx'
import { pageAddress } from './cells.tsx'
import { signUpWarning } from './sign-up-warning.ts'

const REFUSED = [
  {
    name: 'Code',
    text: ({ code }: { code: string; count: number }) => code,
    draw: ({ code }: { code: string }) => <Link to={pageAddress('refusals', { code })}>{code}</Link>,
  },
  { name: 'Refusals', isNumber: true, text: ({ count }: { count: number }) => String(count) },
]

export function OverviewPage() {
  const status = useStatus()
  const business = useBusiness(() => '')
  const now = status.value.value
  const sold = business.value.value
  const warning = sold && signUpWarning(sold.sign_up)
  return (
    <>
      <h1>Overview</h1>
      <TroubleNote trouble={status.trouble.value} again={status.reload} />
      {now && (
        <>
          <StateNote now={now} />
          <Figures
            figures={[
              heightFigure(now),
              { name: 'Log is late by, ms', value: now.lagMs ?? '–', note: 'behind the clock' },
              {
                name: 'Open sockets',
                value: now.regions.reduce((sum, { sockets }) => sum + sockets, 0),
                note: 'of clients, last minute',
              },
              archiveFigure(now),
              ...(sold ? [{ name: 'Accounts', value: sold.accounts, note: `with ${sold.keys} keys` }] : []),
            ]}
          />
        </>
      )}
      <TroubleNote trouble={business.trouble.value} again={business.reload} />
      {warning && (
        <p class="note trouble" role="alert">
          {warning}
        </p>
      )}
      {sold && (
        <>
          <Figures figures={businessFigures(sold)} />
          <h2>Credits spent by day, UTC</h2>
          <SpentByDay business={sold} />
        </>
      )}
      {now && <Ages regions={now.regions} />}
      {sold && (
        <>
          <h2>
            Refusals by reason, {sold.from} to {sold.to}
          </h2>
          <Table
            caption="Refusals by reason"
            columns={REFUSED}
            rows={sold.refused}
            rowKey={({ code }) => code}
            empty="None."
            csv="refusals-by-reason"
          />
        </>
      )}
    </>
  )
}
