// A page for each type of `POST /info`, each channel of /ws and each REST endpoint, made of its definition, of what its file
// and the documents of docs/ say of it.

import { type GraphQLOutputType, getNamedType, isObjectType } from 'graphql'
import { parseWith } from '../../../core/schema-words.ts'
import type { AnyQuery } from '../../../info/query.ts'
import { type AnyChannel, publishedFrame } from '../../../relay/channel.ts'
import { graphqlSchema } from '../../../relay/graphql/schema.ts'
import type { Operation } from '../../operation.ts'
import {
  channelSourceText,
  exampleFrames,
  freshnessText,
  minutePriceText,
  priceText,
  snapshotText,
  sourceText,
} from '../definition-text.ts'
import { INFO_REFUSALS, typeDocumentPath } from '../openapi.ts'
import { OPERATION_REFUSALS, operationText, refusalStatuses } from '../openapi-operations.ts'
import { callCode, postCode, subscribeCode } from './code-samples.ts'
import { fieldRows, fieldTable, typeOf } from './field-table.ts'
import { block, code, facts, joinParts, jsonText, notesPart, type Page, type Section, table } from './page.ts'

export interface InfoProse {
  /** By type: what its own file says of it. */
  readonly notes: ReadonlyMap<string, string | null>
  /** Paragraphs and points of docs/reference/info.md. */
  readonly paragraphs: readonly string[]
}

export function infoPages(queries: readonly AnyQuery[], prose: InfoProse): Page[] {
  return [...queries]
    .sort((a, b) => (a.type.toLowerCase() < b.type.toLowerCase() ? -1 : 1))
    .map((query) => infoPage(query, prose))
}

function infoPage(query: AnyQuery, prose: InfoProse): Page {
  const { type, summary, example, request, response } = query
  const asked = { type, ...example.request }
  const rows = fieldRows(request)
  const answer = fieldRows(response)
  return {
    address: `/docs/info/${type}`,
    title: type,
    summary,
    section: 'info',
    keywords: rows.map(({ path }) => path),
    request: { method: 'POST', path: '/info', body: JSON.stringify(asked) },
    markdown: joinParts([
      `# ${type}\n\n${summary}.`,
      facts({
        Credits: priceText(query),
        Freshness: freshnessText(query),
        'Answered from': sourceText(query),
        'Asked with': '`POST /info`, or `post` on [a socket](/docs/reference/websocket#post)',
      }),
      `## Request\n\n${fieldTable(rows, true)}\n\nFields that are not in this table are ignored.`,
      `## Example\n\nAsked:\n\n${block('json', jsonText(asked))}\n\nAnswered:\n\n${block('json', jsonText(example.response))}`,
      `## Code\n\n${postCode('/info', asked)}`,
      `## Answer\n\n${responseIntro(query)}${answer.length === 0 ? '' : `\n\n${fieldTable(answer, false)}`}`,
      `## Errors\n\n${errors(query)}`,
      notes(type, prose),
    ]),
  }
}

function responseIntro({ type, response }: AnyQuery): string {
  return `As a whole: ${typeOf(response)}. Answers may gain fields; [headers](/docs/reference/info#response) tell cost and age. [OpenAPI of this type](${typeDocumentPath(type)}).`
}

/** What a request without its fields is told, in the very words, and every status. */
function errors({ type, request }: AnyQuery): string {
  const told = parseWith(request, { type })
  const missing = told.ok
    ? ''
    : `${told.error.map(({ path, message }) => code(`${path}: ${message}`)).join(', ')} is what a request without its required fields is told, with a 422. `
  return `${missing}A refusal costs nothing; its \`msg\` names the field and the fix, its \`code\` is for programs: [all of them](/docs/reference/errors#codes).\n\n${table(['Status', 'When'], Object.entries(INFO_REFUSALS))}`
}

function notes(type: string, { notes: own, paragraphs }: InfoProse): string {
  const named = paragraphs.filter((text) => text.includes(`\`${type}\``))
  const note = own.get(type)
  const equal = note?.includes('ire-equal')
    ? `\n\n*Wire-equal*: the answer is what the exchange’s public API answers, field by field.`
    : ''
  return `${notesPart([note, ...named])}${equal}`
}

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
const AUTH_LABELS = {
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

function sectionOf({ auth, product, path }: Operation): Section {
  if (auth === 'admin') return 'operator'
  if (product === 'data') return 'data'
  return path.startsWith('/platform/pipeline') ? 'pipelines' : 'platform'
}

function endpointPage(operation: Operation): Page {
  const { id, method, path, summary, auth, price, priceText, params, query, body } = operation
  const call = `${method.toUpperCase()} ${path}`
  const text = operationText(operation)
  const rows = [...(query ? fieldRows(query) : []), ...(body ? fieldRows(body.schema) : [])]
  const [who, secret] = AUTH_LABELS[auth]
  const isFree = price === undefined && priceText === undefined
  const isTried = method === 'get'
  return {
    address: `/docs/rest/${id}`,
    title: call,
    summary,
    section: sectionOf(operation),
    keywords: [id, ...rows.map((row) => row.path)],
    ...(isTried && { request: { method: 'GET', path: examplePath(operation), body: null } }),
    markdown: joinParts([
      `# ${call}\n\n${summary}.${text === '' ? '' : `\n\n${text}`}`,
      facts({ 'Who may call it': who, Credits: isFree ? 'none' : operationPrice(operation) }),
      requestParts(params, query, body),
      `## Example\n\n${body && body.gzipBytes === undefined ? `Sent:\n\n${block('json', jsonText(body.example))}\n\n` : ''}${responseExamples(operation)}`,
      body?.gzipBytes === undefined
        ? `## Code\n\n${callCode(method, examplePath(operation), body?.example, secret)}`
        : '## Code\n\n`npm run backfill` sends it: [how](/docs/operators/guides/import-older-blocks).',
      `## Answer\n\n${responseTables(operation)}`,
      `## Errors\n\nA refusal costs nothing, and is \`{"error":true,"error_message","error_code"}\`.\n\n${table(
        ['Status', 'When'],
        refusalStatuses(operation).map((status) => [String(status), OPERATION_REFUSALS[status] ?? '']),
      )}`,
    ]),
  }
}

function operationPrice(operation: Operation): string {
  return /Credits: (.*)\.$/.exec(operationText(operation))?.[1] ?? 'none'
}

function requestParts(params: Operation['params'], query: Operation['query'], body: Operation['body']): string {
  const parts = [
    ...(params
      ? [
          `In the path:\n\n${table(
            ['Part', 'Meaning'],
            Object.entries(params).map(([name, schema]) => [code(name), schema.description ?? '']),
          )}`,
        ]
      : []),
    ...(query ? [`In the query:\n\n${fieldTable(fieldRows(query), true)}`] : []),
    ...(body ? [bodyText(body)] : []),
  ]
  return parts.length === 0 ? '' : `## Request\n\n${parts.join('\n\n')}`
}

function bodyText(body: NonNullable<Operation['body']>): string {
  const rows = fieldRows(body.schema)
  const intro = body.gzipBytes === undefined ? 'In the body, JSON' : 'In the body, gzip of lines'
  return `${intro}${body.optional ? ', which may be left out' : ''}:\n\n${rows.length === 0 ? 'text' : fieldTable(rows, true)}`
}

function responseExamples({ responses }: Operation): string {
  return Object.entries(responses)
    .map(([status, { example }]) => {
      const isText = typeof example === 'string'
      return `Answered, with ${status}:\n\n${block(isText ? 'text' : 'json', isText ? example : jsonText(example))}`
    })
    .join('\n\n')
}

function responseTables({ responses }: Operation): string {
  return Object.entries(responses)
    .map(([status, { description, schema }]) => {
      const rows = fieldRows(schema)
      return `**${status}**: ${description}.${rows.length === 0 ? '' : `\n\n${fieldTable(rows, false)}`}`
    })
    .join('\n\n')
}

export interface ChannelProse {
  readonly notes: ReadonlyMap<string, string | null>
  /** Numbered rules of docs/reference/websocket.md. */
  readonly rules: readonly string[]
}

export function channelPages(channels: readonly AnyChannel[], prose: ChannelProse): Page[] {
  return channels.map((channel) => channelPage(channel, prose))
}

function channelPage(channel: AnyChannel, { notes, rules }: ChannelProse): Page {
  const { type, summary, example, request } = channel
  const subscription = { type, ...example.request }
  const rows = fieldRows(request)
  const frames = exampleFrames(channel).map((frame) => block('json', jsonText(frame)))
  const named = rules.filter((rule) => rule.includes(`\`${type}\``))
  return {
    address: `/docs/channels/${type}`,
    title: type,
    summary,
    section: 'streams',
    keywords: rows.map(({ path }) => path),
    markdown: joinParts([
      `# ${type}\n\n${summary}.`,
      facts({
        Credits: minutePriceText(channel),
        'Comes from': channelSourceText(channel),
        'Before the first change': snapshotText(channel),
        'Asked for with': '`subscribe` on `/ws`, or [GraphQL](/docs/reference/graphql)',
      }),
      'A minute is charged when it starts. Send `{"method":"ping"}` at least every 30 s: pings of the WebSocket protocol do not count.',
      `## Request\n\n${fieldTable(rows, true)}\n\nA field that is not in this table is refused: a misspelt one would silently buy something else.`,
      `## Example\n\nSent:\n\n${block('json', jsonText({ method: 'subscribe', subscription }))}\n\nWhat comes, after the acknowledgement (\`subscriptionResponse\`):\n\n${frames.join('\n\n')}`,
      `## Code\n\n${subscribeCode(subscription)}\n\nAs a subscription of [GraphQL](/docs/reference/graphql):\n\n${block('graphql', graphqlSample(channel))}`,
      `## Frames\n\nFrames may gain fields: ignore those that you do not know.\n\n${fieldTable(fieldRows(publishedFrame(channel)), false)}`,
      '## Errors\n\nA refusal is a frame `{"channel":"error","data","code"}`: `data` tells a person, `code` a program. [Codes, and what every close code asks of you](/docs/reference/errors#websocket-close-codes).',
      notesPart([notes.get(type), ...named]),
    ]),
  }
}

const FIELDS_MAX = 6
const DEPTH_MAX = 5

/** A subscription of GraphQL for the same data as an example body of /ws, with some fields of each object. */
export function graphqlSample({ type, example }: AnyChannel): string {
  const field = graphqlSchema().getSubscriptionType()?.getFields()[type]
  if (!field) throw new Error(`GraphQL has no subscription ${type}`)
  const args = field.args
    .filter(({ name }) => example.request[name] !== undefined && example.request[name] !== null)
    .map(({ name }) => `${name}: ${literal(example.request[name])}`)
  return `subscription {\n  ${type}${args.length === 0 ? '' : `(${args.join(', ')})`}${selection(field.type, '  ', 1)}\n}`
}

function selection(output: GraphQLOutputType, indent: string, depth: number): string {
  const named = getNamedType(output)
  if (!isObjectType(named)) return ''
  const deeper = `${indent}  `
  const shown = Object.values(named.getFields())
    .filter((field) => depth < DEPTH_MAX || !isObjectType(getNamedType(field.type)))
    .slice(0, FIELDS_MAX)
  return ` {\n${shown.map((field) => `${deeper}${field.name}${selection(field.type, deeper, depth + 1)}`).join('\n')}\n${indent}}`
}

/** JSON, with names in place of keys. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1: ')
}
