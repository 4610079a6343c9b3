// A page for each REST endpoint, made of its definition.

import type { Operation } from '../../operation.ts'
import { OPERATION_REFUSALS, operationText, refusalStatuses } from '../openapi-operations.ts'
import { callCode } from './code-samples.ts'
import { fieldRows, fieldTable } from './field-table.ts'
import { block, code, joined, jsonText, type Page, type Section, table } from './page.ts'

/** What stands in the place of a part of a path. */
const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  chain: 'hyperliquid',
  address: `0x${'0'.repeat(38)}ab`,
  key: 'cqt_9fKxWq2T',
  name: 'twenty',
  id: 'acme',
  month: '2026-11',
  number: 'W-17-k3Fz',
}
/** The same where endpoints of pipelines name one. */
const PIPELINE = 'pipe_9fKxWq2TbNkRzd5mYvHs4u'
/** What a query may be, where it needs something or is of no use without. */
export const QUERY_EXAMPLES: Readonly<Record<string, string>> = {
  usage: '?duration=1',
  compatUsage: '?duration=1',
  ownKeyUsage: '?duration=1',
  search: '?q=acme',
  historyCost: '?day=2026-11-21&products=events',
  historyFiles: '?day=2026-11-21&products=events',
  historySums: '?day=2026-11-21',
}
const DOORS = {
  admin: ['The operator: `ADMIN_TOKEN`', 'ADMIN_TOKEN'],
  key: ['Whoever has a key', 'WEIR_KEY'],
  service: ['Whoever has a service key (`cqs_…`)', 'WEIR_SERVICE_KEY'],
} as const

export function endpointPages(operations: readonly Operation[]): Page[] {
  return operations.map(endpointPage)
}

/** The path with something in the place of each parameter. */
export function examplePath({ id, path }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return name === 'id' && path.includes('/pipeline') ? PIPELINE : (PATH_EXAMPLES[name] ?? name)
  })
  return `${filled}${QUERY_EXAMPLES[id] ?? ''}`
}

function sectionOf({ door, product, path }: Operation): Section {
  if (door === 'admin') return 'operator'
  if (product === 'data') return 'data'
  return path.startsWith('/platform/pipeline') ? 'pipelines' : 'platform'
}

function endpointPage(operation: Operation): Page {
  const { id, method, path, summary, door, price, priced, params, query, body } = operation
  const call = `${method.toUpperCase()} ${path}`
  const text = operationText(operation)
  const rows = [...(query ? fieldRows(query) : []), ...(body ? fieldRows(body.schema) : [])]
  const [who, secret] = DOORS[door]
  const isFree = price === undefined && priced === undefined
  const isTried = method === 'get'
  return {
    address: `/docs/rest/${id}`,
    title: call,
    summary,
    section: sectionOf(operation),
    keywords: [id, ...rows.map((row) => row.path)],
    ...(isTried && { request: { method: 'GET', path: examplePath(operation), body: null } }),
    markdown: joined([
      `# ${call}\n\n${summary}.${text === '' ? '' : `\n\n${text}`}`,
      table(['Who may call it', 'Credits'], [[who, isFree ? 'none' : priceWords(operation)]]),
      requestParts(params, query, body),
      `## Example\n\n${body && body.gzipBytes === undefined ? `Sent:\n\n${block('json', jsonText(body.example))}\n\n` : ''}${answerExamples(operation)}`,
      body?.gzipBytes === undefined
        ? `## Code\n\n${callCode(method, examplePath(operation), body?.example, secret)}`
        : '## Code\n\n`npm run backfill` sends it: [how](/docs/operations#older-blocks).',
      `## Answer\n\n${answerTables(operation)}`,
      `## Errors\n\nA refusal costs nothing, and is \`{"error":true,"error_message","error_code"}\`.\n\n${table(
        ['Status', 'When'],
        refusalStatuses(operation).map((status) => [String(status), OPERATION_REFUSALS[status] ?? '']),
      )}`,
    ]),
  }
}

function priceWords(operation: Operation): string {
  return /Credits: (.*)\.$/.exec(operationText(operation))?.[1] ?? 'none'
}

function requestParts(params: Operation['params'], query: Operation['query'], body: Operation['body']): string {
  const parts = [
    ...(params
      ? [
          `In the path:\n\n${table(
            ['Part', 'Meaning'],
            Object.entries(params).map(([name, schema]) => [code(name), schema.description ?? PART_WORDS[name] ?? '']),
          )}`,
        ]
      : []),
    ...(query ? [`In the query:\n\n${fieldTable(fieldRows(query), true)}`] : []),
    ...(body ? [bodyWords(body)] : []),
  ]
  return parts.length === 0 ? '' : `## Request\n\n${parts.join('\n\n')}`
}

const PART_WORDS: Readonly<Record<string, string>> = {
  id: 'Which one, by its id',
  name: 'Name of the plan',
  key: 'A key, its first twelve characters, or its hash',
  chain: 'Name of the chain',
  address: 'The wallet',
  month: 'A month of UTC',
  number: 'Number of the order',
}

function bodyWords(body: NonNullable<Operation['body']>): string {
  const rows = fieldRows(body.schema)
  const intro = body.gzipBytes === undefined ? 'In the body, JSON' : 'In the body, gzip of lines'
  return `${intro}${body.optional ? ', which may be left out' : ''}:\n\n${rows.length === 0 ? 'text' : fieldTable(rows, true)}`
}

function answerExamples({ answers }: Operation): string {
  return Object.entries(answers)
    .map(([status, { example }]) => {
      const isText = typeof example === 'string'
      return `Answered, with ${status}:\n\n${block(isText ? 'text' : 'json', isText ? example : jsonText(example))}`
    })
    .join('\n\n')
}

function answerTables({ answers }: Operation): string {
  return Object.entries(answers)
    .map(([status, { description, schema }]) => {
      const rows = fieldRows(schema)
      return `**${status}**: ${description}.${rows.length === 0 ? '' : `\n\n${fieldTable(rows, false)}`}`
    })
    .join('\n\n')
}
