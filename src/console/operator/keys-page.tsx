// Keys of all accounts, or of one; one that must not work any more is revoked.

import { useSignal } from '@preact/signals'
import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import type { Paged } from '../loaded.dom.ts'
import { Confirm } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { Curl } from '../ui/parts.tsx'
import { KeyReach } from '../ui/reach.tsx'
import { timeText } from '../ui/text.ts'
import {
  accountColumn,
  creditsColumn,
  ListPage,
  lastUsedColumn,
  may,
  Rows,
  type StaffRole,
  timeColumn,
  useList,
} from './parts.tsx'

type Key = Answers['listKeys']['keys'][number]

function stateOf({ revoked, expires, replaced_by: replaced }: Key): string {
  if (revoked !== null) return replaced === null ? `revoked ${timeText(revoked)}` : 'replaced'
  if (expires === null) return 'live'
  return Date.now() >= expires ? 'expired' : `live, ends ${timeText(expires)}`
}

/** A table of keys, and the dialog of the one that is to be revoked. */
function useKeyRows(paged: Paged<Key>, role: StaffRole, isOfOne: boolean) {
  const doomed = useSignal<Key | null>(null)
  const key = doomed.value
  const revoke = () => change('DELETE', `/admin/keys/${key!.hash}`, undefined, paged.reload)
  const acts = may(role, 'owner')
    ? [
        {
          name: 'Actions',
          draw: (row: Key) =>
            row.revoked === null && (
              <button
                type="button"
                class="plain"
                aria-label={`Revoke ${row.prefix}`}
                onClick={() => (doomed.value = row)}
              >
                Revoke
              </button>
            ),
        },
      ]
    : []
  const dialog = key && (
    <Confirm act="Revoke this key" name={key.prefix} onConfirm={revoke} onClose={() => (doomed.value = null)}>
      <p>
        {key.prefix} of {key.account} {key.label && `(${key.label})`} stops working at once, for good. Its open sockets
        end within a minute.
      </p>
      <KeyReach path={`/admin/keys/${key.hash}/reach`} />
    </Confirm>
  )
  const columns = [
    { name: 'Key', text: ({ prefix }: Key) => prefix, draw: ({ prefix }: Key) => <code>{prefix}</code> },
    ...(isOfOne ? [] : [accountColumn<Key>()]),
    { name: 'Label', text: ({ label }: Key) => label },
    {
      name: 'Kind',
      text: ({ products }: Key) => products.join(' '),
      draw: ({ kind, products }: Key) => <span title={products.join(' ')}>{kind}</span>,
    },
    { name: 'State', text: stateOf },
    ...acts,
    creditsColumn('Cap, credits', 'cap', 'none'),
    creditsColumn('Left of it', 'cap_remaining', ''),
    lastUsedColumn(),
    timeColumn('Made', 'created'),
  ]
  return { columns, dialog }
}

const EMPTY = (
  <>
    <p>There is no key. Make one:</p>
    <Curl line="npm run admin -- key issue acme" />
  </>
)
const FIELDS = [{ name: 'account', label: 'Account' }]
const NEW_KEY: readonly FormField[] = [
  { name: 'label', label: 'Label of a new key', isOptional: true },
  {
    name: 'kind',
    label: 'Kind',
    options: [
      ['api', 'API: asks data'],
      ['service', 'service: manages'],
    ],
  },
]
const PAGE = { limit: '200' }

export function KeysPage({ role }: { role: StaffRole }) {
  const paged = useList<Key>('keys', 'after', 'keys', FIELDS, () => PAGE)
  const { columns, dialog } = useKeyRows(paged, role, false)
  return (
    <ListPage
      caption="Keys"
      fields={FIELDS}
      {...{ paged, columns }}
      rowKey={({ hash }) => hash}
      csv="keys"
      empty={EMPTY}
    >
      {dialog}
    </ListPage>
  )
}

export function AccountKeys({ id, role }: { id: string; role: StaffRole }) {
  const paged = useList<Key>('keys', 'after', 'keys', [], () => ({ ...PAGE, account: id }))
  const { columns, dialog } = useKeyRows(paged, role, true)
  return (
    <>
      <h2>Keys</h2>
      {dialog}
      {may(role, 'owner') && (
        <OrderForm<Answers['createKey']>
          act="Make a key"
          fields={NEW_KEY}
          send={(order) => ask('POST', '/admin/keys', { ...order, account: id })}
          once={({ key, prefix }) => ({ what: `The key ${prefix}…`, secret: key })}
          onDone={paged.reload}
        />
      )}
      <Rows
        caption={`Keys of ${id}`}
        {...{ paged, columns }}
        rowKey={({ hash }) => hash}
        csv={`keys-${id}`}
        empty={EMPTY}
      />
    </>
  )
}
