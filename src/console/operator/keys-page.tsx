// Keys of all accounts, or of one; one that must not work any more is revoked.

import type { Answers } from '../answers.ts'
import { ask, change } from '../ask.dom.ts'
import type { Paged } from '../loaded.dom.ts'
import { Act } from '../ui/dialog.tsx'
import { type FormField, OrderForm } from '../ui/form.tsx'
import { Curl } from '../ui/parts.tsx'
import { KeyReach } from '../ui/reach.tsx'
import type { Column } from '../ui/table.tsx'
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

const columnsOf = (paged: Paged<Key>, role: StaffRole): readonly Column<Key>[] => [
  { name: 'Key', text: ({ prefix }) => prefix, draw: ({ prefix }) => <code>{prefix}</code> },
  accountColumn(),
  { name: 'Label', text: ({ label }) => label },
  {
    name: 'Kind',
    text: ({ products }) => products.join(' '),
    draw: ({ kind, products }) => <span title={products.join(' ')}>{kind}</span>,
  },
  { name: 'State', text: stateOf },
  ...(may(role, 'owner')
    ? [{ name: 'Actions', draw: (key: Key) => key.revoked === null && <Revoke of={key} done={paged.reload} /> }]
    : []),
  creditsColumn('Cap, credits', 'cap', 'none'),
  creditsColumn('Left of it', 'cap_remaining', ''),
  lastUsedColumn(),
  timeColumn('Made', 'created'),
]

function Revoke({ of: { prefix, account, label, hash }, done }: { of: Key; done: () => void }) {
  const revoke = () => change('DELETE', `/admin/keys/${hash}`, undefined, done)
  return (
    <Act text="Revoke" label={`Revoke ${prefix}`} act="Revoke this key" name={prefix} onConfirm={revoke}>
      <p>
        {prefix} of {account} {label && `(${label})`} stops working at once, for good. Its open sockets end within a
        minute.
      </p>
      <KeyReach path={`/admin/keys/${hash}/reach`} />
    </Act>
  )
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
  const columns = columnsOf(paged, role)
  return (
    <ListPage
      caption="Keys"
      fields={FIELDS}
      paged={paged}
      columns={columns}
      rowKey={({ hash }) => hash}
      csv="keys"
      empty={EMPTY}
    />
  )
}

export function AccountKeys({ id, role }: { id: string; role: StaffRole }) {
  const paged = useList<Key>('keys', 'after', 'keys', [], () => ({ ...PAGE, account: id }))
  return (
    <>
      <h2>Keys</h2>
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
        paged={paged}
        columns={columnsOf(paged, role).filter(({ name }) => name !== 'Account')}
        rowKey={({ hash }) => hash}
        csv={`keys-${id}`}
        empty={EMPTY}
      />
    </>
  )
}
