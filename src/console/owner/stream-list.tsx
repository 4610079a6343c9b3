// What is open now, and what a minute of it costs.

import { groupedText } from '../ui/amounts.ts'
import { Curl } from '../ui/curl.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { timeText } from '../ui/when.ts'
import type { Streams } from './answers.ts'
import { useOwn } from './own.dom.ts'

type Stream = Streams['streams'][number]

const COLUMNS: readonly Column<Stream>[] = [
  { name: 'Channel', text: ({ type }) => type },
  { name: 'Body', text: ({ body }) => body, draw: ({ body }) => <code>{body}</code> },
  { name: 'Key', text: ({ prefix }) => prefix ?? '' },
  { name: 'Since, UTC', text: ({ since }) => timeText(since) },
  { name: 'Credits a minute', text: ({ credits_a_minute: price }) => groupedText(price), isNumber: true },
]

export function StreamList() {
  const streams = useOwn<Streams>(() => '/platform/streams/')
  const value = streams.value.value
  return (
    <section>
      <h2>Open sockets and subscriptions</h2>
      <TroubleNote trouble={streams.trouble.value} again={streams.reload} />
      {value && (
        <>
          <p class="beside">
            <span>
              {value.sockets} sockets, {value.subscriptions} subscriptions, {groupedText(value.credits_a_minute)}{' '}
              credits a minute
            </span>
            <button type="button" class="plain" onClick={streams.reload}>
              Look again
            </button>
          </p>
          <Table
            caption="Subscriptions that run, those that cost most first"
            columns={COLUMNS}
            rows={value.streams}
            rowKey={({ type, body, prefix, since }) => `${type} ${body} ${prefix} ${since}`}
            csv="streams"
            empty={
              <>
                <p>Nothing is open. A book in a terminal:</p>
                <Curl line={`npm run watch -- BTC --url ${location.origin} --key $WEIR_KEY`} />
              </>
            }
          />
        </>
      )}
    </section>
  )
}
