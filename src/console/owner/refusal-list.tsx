// The last refusals of the account's keys.

import { addressWith, go, useParam } from '../address.dom.ts'
import { groupedText } from '../ui/amounts.ts'
import { Choice } from '../ui/choice.tsx'
import { Curl } from '../ui/curl.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import { timeText } from '../ui/when.ts'
import type { Refusals } from './answers.ts'
import { useOwn } from './own.dom.ts'

type Refusal = Refusals['refusals'][number]

const COLUMNS: readonly Column<Refusal>[] = [
  { name: 'Time, UTC', text: ({ at }) => timeText(at) },
  { name: 'Key', text: ({ prefix }) => prefix },
  { name: 'Product', text: ({ product }) => product },
  { name: 'Type', text: ({ type }) => type },
  { name: 'Code', text: ({ code }) => code },
  { name: 'Reason', text: ({ message }) => message, draw: ({ message }) => <span class="wrap">{message}</span> },
  { name: 'Request', text: ({ request_id: id }) => id, draw: ({ request_id: id }) => <code>{id}</code> },
]

export function RefusalList() {
  const refusals = useOwn<Refusals>(() => '/platform/refusals/')
  const value = refusals.value.value
  const code = useParam('code').value
  return (
    <section>
      <h2>Refusals</h2>
      <TroubleNote trouble={refusals.trouble.value} again={refusals.reload} />
      {value && (
        <>
          <div class="beside">
            <Choice
              label="Code"
              value={code}
              options={[
                ['', 'all'],
                ...value.counts.map(
                  (each) => [each.code, `${each.code} (${groupedText(String(each.count))} in 24 h)`] as const,
                ),
              ]}
              onChoose={(chosen) => go(addressWith({ code: chosen }))}
            />
            <button type="button" class="plain" onClick={refusals.reload}>
              Look again
            </button>
          </div>
          <Table
            caption="The last fifty refusals"
            columns={COLUMNS}
            rows={value.refusals.filter((each) => code === '' || each.code === code)}
            rowKey={({ request_id: id, at, type, message }) => `${at} ${id} ${type} ${message}`}
            csv="refusals"
            empty={
              <>
                <p>There are none. One to see how it looks, some seconds later:</p>
                <Curl
                  line={`curl -s ${location.origin}/info -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' -d '{"type":"noSuchType"}'`}
                />
              </>
            }
          />
        </>
      )}
    </section>
  )
}
