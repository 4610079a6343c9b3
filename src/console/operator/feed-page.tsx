// Feeders, where they disagree, and heights that never came.

import { useSignal } from '@preact/signals'
import { ask } from '../ask.dom.ts'
import { type Feeder, useStatus, type WrongBook } from '../status/status.dom.ts'
import { Gaps } from '../status/status-parts.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Curl } from '../ui/curl.tsx'
import { Figures } from '../ui/figures.tsx'
import { Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { timeColumn } from './cells.tsx'
import { may, type StaffRole } from './rights.ts'

const FEEDERS = [
  { name: 'Feeder', text: ({ name }: Feeder) => name },
  {
    name: 'State',
    text: ({ connected, state, why, conflict }: Feeder) =>
      conflict ?? (connected ? (state ?? 'connected') : `left: ${why}`),
  },
  { name: 'Head', isNumber: true, text: ({ head }: Feeder) => String(head ?? '') },
  { name: 'Lag, ms', isNumber: true, text: ({ lagMs }: Feeder) => String(lagMs ?? '') },
  { name: 'Unacked', isNumber: true, text: ({ counters }: Feeder) => String(counters?.unacked ?? '') },
  { name: 'Reconnects', isNumber: true, text: ({ counters }: Feeder) => String(counters?.reconnects ?? '') },
  { name: 'Misfits', isNumber: true, text: ({ counters }: Feeder) => String(counters?.misfits ?? '') },
  { name: 'Drifted', isNumber: true, text: ({ counters }: Feeder) => String(counters?.drifted ?? '') },
  timeColumn('Heard', 'heardMs'),
]
const WRONG = [
  { name: 'Feeder', text: ({ feeder }: WrongBook) => feeder },
  { name: 'Coin', text: ({ coin }: WrongBook) => coin },
  { name: 'Found', text: ({ why }: WrongBook) => why },
  { name: 'Height', isNumber: true, text: ({ height }: WrongBook) => String(height) },
  { name: 'Times', isNumber: true, text: ({ count }: WrongBook) => String(count) },
  timeColumn('Last', 'atMs'),
]
export function FeedPage({ role }: { role: StaffRole }) {
  const status = useStatus()
  const isResetting = useSignal(false)
  const now = status.value.value
  const reset = async () => {
    const answer = await ask('POST', '/admin/feed/reset')
    if (answer.ok) status.reload()
    return answer.ok ? null : answer.error
  }
  return (
    <>
      <h1>Feed</h1>
      <TroubleNote trouble={status.trouble.value} again={status.reload} />
      {now && (
        <>
          <p class={now.state === 'live' ? 'note' : 'note trouble'} role="status">
            <b>{now.state}</b>. {now.advice}
          </p>
          <Figures
            figures={[
              { name: 'Chain', value: now.chain, note: `epoch ${now.epoch ?? '–'}` },
              { name: 'Height', value: now.height ?? '–' },
              { name: 'Books', value: now.booksKnown ? 'known' : 'not known' },
              {
                name: 'Disagreements',
                value: now.disagreements,
                note: 'copies of a height that differed, since the log woke',
              },
              { name: 'Readers', value: now.readers.length, note: 'hubs and relays that follow the log' },
            ]}
          />
          <h2>Feeders, last day</h2>
          <Table
            caption="Feeders"
            columns={FEEDERS}
            rows={now.feeders}
            rowKey={({ name }) => name}
            csv="feeders"
            empty={
              <>
                <p>No feeder is connected. Start one beside the node:</p>
                <Curl line="npm run feeder -- --gateway https://… --name tokyo-1" />
              </>
            }
          />
          <h2>Books that feeders sent otherwise than they are</h2>
          <Table
            caption="Wrong books"
            columns={WRONG}
            rows={now.wrongBooks}
            rowKey={({ feeder, coin, why }) => `${feeder} ${coin} ${why}`}
            empty="None."
            csv="wrong-books"
          />
          <Gaps gaps={now.gaps} />
          {may(role, 'owner') && (
            <>
              <h2>Begin a new log</h2>
              <p>For a node that started over: books and heights begin anew, and clients bootstrap again.</p>
              <button type="button" class="danger" onClick={() => (isResetting.value = true)}>
                Reset the feed
              </button>
            </>
          )}
          {isResetting.value && (
            <Confirm
              act="Reset the feed"
              name={now.chain}
              onConfirm={reset}
              onClose={() => (isResetting.value = false)}
            >
              <p>The log of {now.chain} is emptied. Accounts, keys and the archive stay.</p>
            </Confirm>
          )}
        </>
      )}
    </>
  )
}
