// Lists of all accounts, each also of one alone: top-ups, refusals, pipelines.

import type { Responses } from '../responses.ts'
import { Snippet } from '../ui/parts.tsx'
import type { Column } from '../ui/table.tsx'
import { accountColumn, creditsColumn, ListPage, Rows, timeColumn, useAdminList } from './parts.tsx'

const ACCOUNT = { name: 'account', label: 'Account' }

type Grant = Responses['listGrants']['grants'][number]
type Refusal = Responses['listRefusals']['refusals'][number]
type Pipeline = Responses['allPipelines']['pipelines'][number]

interface List<Row> {
  readonly name: string
  readonly caption: string
  readonly fields: readonly { readonly name: string; readonly label: string }[]
  readonly columns: readonly Column<Row>[]
  readonly empty: preact.ComponentChildren
}

const GRANTS: List<Grant> = {
  name: 'grants',
  caption: 'Top-ups',
  fields: [ACCOUNT],
  columns: [
    timeColumn('Given', 'created'),
    accountColumn(),
    creditsColumn('Credits', 'credits'),
    { name: 'Name of the grant', text: ({ id }) => id },
  ],
  empty: (
    <>
      <p>Nothing was granted beside what plans give. Top up an account:</p>
      <Snippet line="npm run admin -- account grant acme 500 --id invoice-4711" />
    </>
  ),
}

const REFUSALS: List<Refusal> = {
  name: 'refusals',
  caption: 'Refusals',
  fields: [ACCOUNT, { name: 'code', label: 'Code' }],
  columns: [
    timeColumn('At', 'at'),
    accountColumn(),
    { name: 'Key', text: ({ prefix }) => prefix },
    { name: 'Code', text: ({ code }) => code },
    { name: 'Asked for', text: ({ product, type }) => (type ? `${product} ${type}` : product) },
    { name: 'Said', text: ({ message }) => message },
    { name: 'Request', text: ({ request_id: id }) => id },
  ],
  empty: <p>No caller with a key was refused anything that is still kept.</p>,
}

const PIPELINES: List<Pipeline> = {
  name: 'pipelines',
  caption: 'Pipelines',
  fields: [ACCOUNT],
  columns: [
    { name: 'Pipeline', text: ({ id }) => id },
    accountColumn(),
    { name: 'Name', text: ({ name }) => name },
    { name: 'Reads', text: ({ topic }) => topic },
    { name: 'Sends to', text: ({ destination }) => destination },
    { name: 'Wanted', text: ({ status }) => status },
    timeColumn('Changed', 'updated'),
  ],
  empty: (
    <p>
      There is no pipeline. Owners of service keys make them: <a href="/docs/reference/pipelines">how</a>.
    </p>
  ),
}

function listPage<Row>(list: List<Row>) {
  return () => (
    <ListPage {...list} paged={useAdminList<Row>(list.name, 'before', list.name, list.fields)} csv={list.name} />
  )
}
function accountList<Row>({ name, caption, columns, ...list }: List<Row>) {
  return ({ id }: { id: string }) => (
    <>
      <h2>{caption}</h2>
      <Rows
        {...list}
        caption={`${caption} of ${id}`}
        columns={columns.filter((column) => column.name !== 'Account')}
        paged={useAdminList<Row>(name, 'before', name, [], () => ({ account: id, limit: '20' }))}
        csv={`${name}-${id}`}
      />
    </>
  )
}

export const GrantsPage = listPage(GRANTS)
export const RefusalsPage = listPage(REFUSALS)
export const PipelinesPage = listPage(PIPELINES)
export const AccountGrants = accountList(GRANTS)
export const AccountRefusals = accountList(REFUSALS)
export const AccountPipelines = accountList(PIPELINES)
