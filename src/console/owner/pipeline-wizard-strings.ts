// Text of the steps that create or edit a pipeline.

import { labelOf } from '../ui/strings.ts'
import type { Step } from './pipeline-draft.ts'

const NAMES: Readonly<Record<string, string>> = {
  evm_logs: 'EVM logs',
  replica_cmds: 'Signed actions',
  writer_actions: 'CoreWriter actions',
  url: 'URL',
  access_key_id: 'Access key ID',
}
/** Label of a topic or a field. */
export const nameOf = (wireName: string) => NAMES[wireName] ?? labelOf(wireName)

export const newTitle = 'New pipeline'
export const editTitle = (name: string) => `Edit ${name}`
export const stepsLabel = 'Steps'
export const stepNames: Readonly<Record<Step, string>> = {
  topic: 'Topic',
  rows: 'Filter and SQL',
  destination: 'Destination',
  test: 'Test and start',
}
export const editLastStep = 'Test and save'
export const back = 'Back'
export const next = 'Continue'
export const cancel = 'Cancel'

export const topicLegend = 'What do you want to receive?'
export const topicGroups = { trading: 'Trading', market: 'Market data', chain: 'Chain' } as const
export const topicPrice = (credits: string) => `${credits} credits per row`
export const topicNoPast = 'New rows only'
export const topicNeedsFilter = 'Needs wallets'
export const topicFixed = 'The topic of a pipeline cannot be changed. Create a new pipeline for another topic.'
export const prices = (row: string, minute: string) =>
  `A delivered row of up to 1 KiB costs ${row} credits. Each minute in which the pipeline runs costs ${minute} credits.`

export const filterLabel = 'Filter'
export const filterAll = 'All rows'
export const filterJson = 'Filter (JSON)'
export const filterHint = 'The body of a subscription. Replace the example values with yours.'
export const filterDocs = 'Filters of each topic'
export const contractsLabel = 'Contract addresses'
export const contractsHint = 'One per line; empty: all contracts'
export const abiLabel = 'ABI (JSON)'
export const abiHint = 'Compiler output with the ABI as "abi"'
export const unmatchedLabel = 'Logs that match no event'
export const unmatchedOptions = { keep: 'Send undecoded', drop: 'Leave out', fail: 'Stop the pipeline' } as const
export const sqlTitle = 'SQL'
export const sqlText = 'Optional SELECT statements over each batch. Each can read the topic and the results above it.'
export const sqlName = 'Result name'
export const sqlStatement = (name: string) => `SELECT statement of ${name}`
export const sqlAdd = 'Add SQL'
export const sqlRemove = (name: string) => `Remove ${name}`
export const sqlRemoveShort = 'Remove'
export const sqlColumns = 'Columns'
export const previewTitle = 'Preview'
export const previewText = 'Shows the newest ten rows. Nothing is sent.'
export const previewButton = 'Preview rows (1 credit)'
export const previewBusy = 'Reading the newest blocks…'
export const previewSummary = (rows: number, read: string, from: string, to: string) =>
  `${rows === 1 ? '1 row' : `${rows} rows`}. Read ${read} ${read === '1' ? 'row' : 'rows'} in blocks ${from} to ${to} to find ${rows === 1 ? 'it' : 'them'}.`
export const previewNone = (read: string, from: string, to: string) =>
  `No row matches. Read ${read} ${read === '1' ? 'row' : 'rows'} in blocks ${from} to ${to}. The filter may still match later rows.`
export const previewNoBlocks = 'The gateway has no blocks yet. Try again in a moment.'
export const previewStale = 'The filter or SQL has changed since this preview.'

export const nameLabel = 'Pipeline name'
export const nameHint = 'At most 100 characters'
export const typeLegend = 'Where do the rows go?'
export const typeTexts: Readonly<Record<string, string>> = {
  webhook: 'Signed POST requests to your server',
  r2: 'Files in the operator’s bucket',
  s3: 'Files in your S3 bucket',
  clickhouse: 'Rows of a table, over HTTP',
  postgres: 'Rows of a table',
  kafka: 'Records of a topic, over a REST bridge',
}
export const connection = 'Connection'
export const optional = 'optional'
export const secretKept = 'Leave empty to keep the stored secret.'
export const secretGenerate = 'Generate'
export const secretCopy = 'Your server needs this secret to verify signatures. Copy it now; it is not shown again.'
export const delivery = 'Delivery'
export const startLabel = 'Start'
export const startOptions = {
  '': 'With the next block',
  earliest: 'At the first available block',
  at: 'At a block or time',
} as const
export const startAt = 'First block or time'
export const positionHint = 'A height, or a time such as 2026-11-24T00:00:00Z'
export const stopLabel = 'End'
export const stopOptions = { '': 'Never', newest: 'At the newest block', at: 'At a block or time' } as const
export const stopAt = 'Last block or time'
export const failureLabel = 'If a batch fails eight times'
export const failureOptions = { pause: 'Pause the pipeline', dead_letter: 'Set the batch aside and continue' } as const

export const summary = 'Summary'
export const sqlCount = (count: number) => (count === 0 ? 'None' : count === 1 ? '1 statement' : `${count} statements`)
export const secretMissing = 'The secret is not kept over a reload. Enter it again under Destination.'
export const testTitle = 'Test'
export const testText =
  'Sends up to 100 of the newest rows to the destination. A test costs 1 credit, or the price of its rows if that is higher.'
export const testNewText = 'The pipeline is saved as paused first.'
export const testButton = 'Send a test batch'
export const testBusy = 'Sending a test batch…'
export const testOk = (rows: string, ms: string) => `Confirmed: ${rows} ${rows === '1' ? 'row' : 'rows'} in ${ms} ms`
export const testFailed = (ms: string) => `Not confirmed after ${ms} ms`
export const start = 'Start pipeline'
export const saveOnly = 'Save without starting'
export const save = 'Save changes'
export const restarts =
  'A changed start makes the pipeline begin again there, and its rows are delivered and charged again.'
