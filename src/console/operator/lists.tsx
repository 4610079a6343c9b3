// Lists of credit grants, rejected requests and pipelines, for all accounts or one.

import { useSignal } from '@preact/signals'
import { hasRole, type StaffRole } from '../../accounts/staff.ts'
import type { Responses } from '../responses.ts'
import { DoneNote, Snippet } from '../ui/parts.tsx'
import { labelOf } from '../ui/strings.ts'
import { type Column, minorColumns } from '../ui/table.tsx'
import { AddCredits } from './add-credits.tsx'
import { accountColumn, creditsColumn, ListPage, Rows, timeColumn, useAdminList } from './parts.tsx'
import * as strings from './strings.ts'

const ACCOUNT_FILTER = { name: 'account', label: strings.commonAccount }

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

const GRANT_LIST: List<Grant> = {
  name: 'grants',
  caption: strings.pagesTopups,
  fields: [ACCOUNT_FILTER],
  columns: [
    timeColumn(strings.grantsGranted, 'created'),
    accountColumn(),
    creditsColumn(strings.grantsCredits, 'credits'),
    { name: strings.grantsReference, text: ({ id }) => id },
  ],
  empty: (
    <>
      <p>{strings.grantsEmpty}</p>
      <Snippet line="npx weir admin account grant acme 500 --id invoice-4711" />
    </>
  ),
}

const REFUSAL_LIST: List<Refusal> = {
  name: 'refusals',
  caption: strings.pagesRefusals,
  fields: [ACCOUNT_FILTER, { name: 'code', label: strings.commonCode }],
  columns: [
    timeColumn(strings.commonTime, 'at'),
    accountColumn(),
    {
      name: strings.commonCode,
      text: ({ code }) => code,
      render: ({ code, message }) => (
        <>
          <span title={code}>{labelOf(code)}</span>
          <br />
          <span class="soft wrap">{message}</span>
        </>
      ),
    },
    { name: strings.commonMessage, text: ({ message }) => message, isHidden: true },
    { name: strings.refusalsEndpoint, text: ({ product, type }) => (type ? `${product} ${type}` : product) },
    ...minorColumns<Refusal>(
      { name: strings.commonKey, text: ({ prefix }) => prefix },
      { name: strings.commonRequest, text: ({ request_id: id }) => id },
    ),
  ],
  empty: <p>{strings.refusalsEmpty}</p>,
}

const PIPELINE_LIST: List<Pipeline> = {
  name: 'pipelines',
  caption: strings.pagesPipelines,
  fields: [ACCOUNT_FILTER],
  columns: [
    { name: strings.pipelinesId, text: ({ id }) => id },
    accountColumn(),
    { name: strings.pipelinesName, text: ({ name }) => name },
    { name: strings.pipelinesTopic, text: ({ topic }) => topic },
    { name: strings.pipelinesDestination, text: ({ destination }) => destination },
    { name: strings.pipelinesStatus, text: ({ status }) => labelOf(status) },
    timeColumn(strings.pipelinesChanged, 'updated'),
  ],
  empty: (
    <p>
      {strings.pipelinesEmpty}
      <a href="/docs/reference/pipelines">{strings.pipelinesGuide}</a>.
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
      <h2 id={name}>{caption}</h2>
      <Rows
        {...list}
        caption={strings.commonOf(caption, id)}
        columns={columns.filter((column) => column.name !== strings.commonAccount)}
        paged={useAdminList<Row>(name, 'before', name, [], () => ({ account: id, limit: '20' }))}
        csv={`${name}-${id}`}
      />
    </>
  )
}

export function GrantsPage({ role }: { readonly role: StaffRole }) {
  const paged = useAdminList<Grant>(GRANT_LIST.name, 'before', GRANT_LIST.name, GRANT_LIST.fields)
  const done = useSignal('')
  const added = (text: string) => {
    done.value = text
    paged.reload()
  }
  return (
    <ListPage
      {...GRANT_LIST}
      paged={paged}
      csv={GRANT_LIST.name}
      action={hasRole(role, 'billing') && <AddCredits onDone={added} />}
    >
      <DoneNote text={done} />
    </ListPage>
  )
}

export const RefusalsPage = listPage(REFUSAL_LIST)
export const PipelinesPage = listPage(PIPELINE_LIST)
export const AccountGrants = accountList(GRANT_LIST)
export const AccountRefusals = accountList(REFUSAL_LIST)
export const AccountPipelines = accountList(PIPELINE_LIST)
