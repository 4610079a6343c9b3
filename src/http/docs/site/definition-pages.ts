// Writes a page for each type of `POST /info`, each channel of /ws and each REST endpoint. The sources of a page are
// the definition, the comment of its file, and the paragraphs of docs/ that name it.

import { subscriptionText } from '../../../console/playground/selection.ts'
import { callSamples, postSamples, subscribeSamples } from '../../../console/requests/code-samples.ts'
import type { RequestType } from '../../../console/requests/request-form.ts'
import { parseWith } from '../../../core/validation-errors.ts'
import type { AnyQuery } from '../../../info/query.ts'
import { USER } from '../../../protocol/info/examples.ts'
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
import { codeBlocks } from './code-blocks.ts'
import { fieldRows, fieldTable, typeOf } from './field-table.ts'
import {
  block,
  code,
  facts,
  joinParts,
  jsonText,
  notesPart,
  type Page,
  type Section,
  type TryRequest,
  table,
} from './page.ts'
import { recentTimes } from './sample-times.ts'
import { bodyFields, pathFields, queryFields } from './try-fields.ts'
import { byGroup, CHANNEL_GROUPS, TYPE_GROUPS } from './type-groups.ts'

export interface InfoProse {
  /** The comment of the file that defines the type, by type. */
  readonly notes: ReadonlyMap<string, string | null>
  /** Paragraphs and list items of docs/reference/info.md. */
  readonly paragraphs: readonly string[]
}

export function infoPages(queries: readonly AnyQuery[], prose: InfoProse): Page[] {
  return byGroup(queries, TYPE_GROUPS).map(([group, query]) => ({ ...infoPage(query, prose), group }))
}

/** Forms of all types of `POST /info`, for the API explorer of the console. */
export const infoRequests = (queries: readonly AnyQuery[]): RequestType[] =>
  byGroup(queries, TYPE_GROUPS).map(([group, query]) => ({
    type: query.type,
    group,
    summary: query.summary,
    price: priceText(query).replaceAll('`', ''),
    fields: bodyFields(query.request, recentTimes({ type: query.type, ...query.example.request })),
  }))

function infoPage(query: AnyQuery, prose: InfoProse): Page {
  const { type, summary, example, request, response } = query
  const sent = { type, ...example.request }
  const recent = recentTimes(sent)
  const rows = fieldRows(request)
  const responseRows = fieldRows(response())
  return {
    address: `/docs/info/${type}`,
    title: type,
    summary,
    section: 'info',
    keywords: rows.map(({ path }) => path),
    request: { method: 'POST', path: '/info', base: { type }, fields: bodyFields(request, recent), secret: 'WEIR_KEY' },
    markdown: joinParts([
      `# ${type}\n\n${summary}.`,
      facts({
        Credits: priceText(query),
        Freshness: freshnessText(query),
        Source: sourceText(query),
        Request: '`POST /info`, or [`post`](/docs/reference/websocket#post) over a socket',
      }),
      `## Request\n\n${fieldTable(rows, true)}\n\nOther fields are ignored.`,
      `## Example\n\nRequest:\n\n${block('json', jsonText(sent))}\n\nResponse:\n\n${block('json', jsonText(example.response))}`,
      `## Code\n\n${codeBlocks(postSamples('/info', recent))}`,
      `## Response\n\n${responseIntro(query)}${responseRows.length === 0 ? '' : `\n\n${fieldTable(responseRows, false)}`}`,
      `## Errors\n\n${errors(query)}`,
      notes(type, prose),
    ]),
  }
}

function responseIntro({ type, response }: AnyQuery): string {
  return `Type: ${typeOf(response())}. Responses may gain fields. [Headers](/docs/reference/info#response) show cost and age. [OpenAPI document of this type](${typeDocumentPath(type)}).`
}

/** The message for a request without its required fields, and every status. */
function errors({ type, request }: AnyQuery): string {
  const parsed = parseWith(request, { type })
  const missing = parsed.ok
    ? ''
    : `A request without its required fields returns 422 with ${parsed.error.map(({ path, message }) => code(`${path}: ${message}`)).join(', ')}. `
  return `${missing}Rejected requests are free. \`msg\` names the field and the fix, \`code\` is machine-readable. [All codes](/docs/reference/errors#codes).\n\n${table(['Status', 'Cause'], Object.entries(INFO_REFUSALS))}`
}

function notes(type: string, { notes: own, paragraphs }: InfoProse): string {
  const named = paragraphs.filter((text) => text.includes(`\`${type}\``))
  const note = own.get(type)
  const equal = /Same\s+response\s+as\s+the\s+exchange's\s+API\./.test(note ?? '')
    ? `\n\nEvery field of the response equals that of the exchange’s public API.`
    : ''
  return `${notesPart([note, ...named])}${equal}`
}

/** Sample values of path parameters. */
const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  chain: 'hyperliquid',
  address: USER,
  key: 'cqt_9fKxWq2T',
  name: 'twenty',
  id: 'acme',
  incident: '12',
  month: '2026-11',
  number: 'W-17-k3Fz',
  rule: 'alr_5a1f7a6e-7c0e-4d3b-9a3e-111111111111',
  recipient: 'adr_5a1f7a6e-7c0e-4d3b-9a3e-111111111111',
  member: 'm-9fKxWq2TbNkRzd5m',
  session: 's-9fKxWq2TbNkRzd5m',
}
/** Sample id of a pipeline. */
const PIPELINE = 'pipe_9fKxWq2TbNkRzd5mYvHs4u'
/** Sample queries of endpoints that need one. */
export const QUERY_EXAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  usage: { duration: '1' },
  compatUsage: { duration: '1' },
  ownKeyUsage: { duration: '1' },
  search: { q: 'acme' },
  historyCost: { day: '2026-11-21', products: 'events' },
  historyFiles: { day: '2026-11-21', products: 'events' },
  historySums: { day: '2026-11-21' },
  ownHistoryFiles: { day: '2026-11-21', products: 'books' },
  uploadCheckpoint: { height: '985149599', bytes: '8000000', sha256: 'a1'.repeat(32) },
}
const AUTH_LABELS = {
  admin: ['Operators, with `ADMIN_TOKEN`', 'ADMIN_TOKEN'],
  key: ['Every key with the right product', 'WEIR_KEY'],
  service: ['Service keys (`cqs_…`)', 'WEIR_SERVICE_KEY'],
} as const

export function endpointPages(operations: readonly Operation[]): Page[] {
  return operations.map(endpointPage)
}

/** An example value of a path parameter. */
const pathExample = (path: string, name: string) =>
  name === 'id' && path.includes('/pipeline') ? PIPELINE : (PATH_EXAMPLES[name] ?? name)

/** The path with example values for its parameters. */
export function examplePath({ id, path }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathExample(path, name))
  const query = Object.entries(QUERY_EXAMPLES[id] ?? {}).map(([name, value]) => `${name}=${value}`)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** The form of a call that reads, or that sends a JSON object; null: the call has no form. */
function tryRequest({ id, method, path, params = {}, query, body }: Operation): TryRequest | null {
  const own =
    body === undefined || isPacked(body) ? [] : bodyFields(body.schema, body.example as Record<string, unknown>)
  // An input has no text for a required null.
  const isUnsuited = own.length === 0 || own.some(({ isRequired, value }) => isRequired && value === '')
  if (method !== 'get' && isUnsuited) return null
  const fields = [
    ...pathFields(params, (name) => pathExample(path, name)),
    ...(query === undefined ? [] : queryFields(query, QUERY_EXAMPLES[id] ?? {})),
    ...own,
  ]
  return { method: method.toUpperCase(), path, base: own.length === 0 ? null : {}, fields, isChange: method !== 'get' }
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
  const request = tryRequest(operation)
  return {
    address: `/docs/rest/${id}`,
    title: call,
    summary,
    section: sectionOf(operation),
    keywords: [id, ...rows.map((row) => row.path)],
    ...(request && { request: { ...request, secret } }),
    markdown: joinParts([
      `# ${call}\n\n${summary}.${text === '' ? '' : `\n\n${text}`}`,
      facts({ Callers: who, Credits: isFree ? 'none' : operationPrice(operation) }),
      requestParts(params, query, body),
      `## Example\n\n${body && !isPacked(body) ? `Request body:\n\n${block('json', jsonText(body.example))}\n\n` : ''}${responseExamples(operation)}`,
      !body || !isPacked(body)
        ? `## Code\n\n${codeBlocks(callSamples(method, examplePath(operation), body?.example, secret))}`
        : '## Code\n\n`npx weir backfill` and `npx weir repair` send this request: [Import older blocks](/docs/operators/guides/import-older-blocks).',
      `## Response\n\n${responseTables(operation)}`,
      `## Errors\n\nRejected requests are free, with the body \`{"error":true,"error_message","error_code"}\`.\n\n${table(
        ['Status', 'Cause'],
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
          `Path parameters:\n\n${table(
            ['Part', 'Meaning'],
            Object.entries(params).map(([name, schema]) => [code(name), schema.description ?? '']),
          )}`,
        ]
      : []),
    ...(query ? [`Query parameters:\n\n${fieldTable(fieldRows(query), true)}`] : []),
    ...(body ? [bodyText(body)] : []),
  ]
  return parts.length === 0 ? '' : `## Request\n\n${parts.join('\n\n')}`
}

type RequestBody = NonNullable<Operation['body']>
const isPacked = ({ gzipBytes, isBinary }: RequestBody) => gzipBytes !== undefined || isBinary === true

function bodyText(body: RequestBody): string {
  const rows = fieldRows(body.schema)
  const intro = isPacked(body) ? 'Body of gzipped lines' : 'JSON body'
  return `${intro}${body.optional ? ', optional' : ''}:\n\n${rows.length === 0 ? 'text' : fieldTable(rows, true)}`
}

function responseExamples({ responses }: Operation): string {
  return Object.entries(responses)
    .map(([status, { example }]) => {
      const isText = typeof example === 'string'
      return `Response ${status}:\n\n${block(isText ? 'text' : 'json', isText ? example : jsonText(example))}`
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

/** Credits in words, by channel, for the GraphQL page of the console. */
export const channelPrices = (channels: readonly AnyChannel[]): Record<string, string> =>
  Object.fromEntries(channels.map((channel) => [channel.type, minutePriceText(channel).replaceAll('`', '')]))

export interface ChannelProse {
  readonly notes: ReadonlyMap<string, string | null>
  /** Numbered rules of the WebSocket reference (docs/reference/websocket.md). */
  readonly rules: readonly string[]
}

export function channelPages(channels: readonly AnyChannel[], prose: ChannelProse): Page[] {
  return byGroup(channels, CHANNEL_GROUPS).map(([group, channel]) => ({ ...channelPage(channel, prose), group }))
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
        Source: channelSourceText(channel),
        'First frame': snapshotText(channel),
        Request: '`subscribe` on `/ws`, or [GraphQL](/docs/reference/graphql)',
      }),
      'A part of a minute is charged as a full minute. Send `{"method":"ping"}` at least every 30 s. Pings of the WebSocket protocol do not count.',
      `## Request\n\n${fieldTable(rows, true)}\n\nOther fields are rejected, because a misspelled field would select other data.`,
      `## Example\n\nYou send:\n\n${block('json', jsonText({ method: 'subscribe', subscription }))}\n\nYou receive, after the acknowledgement (\`subscriptionResponse\`):\n\n${frames.join('\n\n')}`,
      `## Code\n\nThe Python sample needs \`pip install websockets\`.\n\n${codeBlocks(subscribeSamples(subscription))}\n\nThe same as a subscription of [GraphQL](/docs/reference/graphql), which you can [run in the console](/console?page=graphql&subscription=${type}):\n\n${block('graphql', graphqlSample(channel))}`,
      `## Frames\n\nFrames may gain fields. Ignore fields that you do not know.\n\n${fieldTable(fieldRows(publishedFrame(channel)), false)}`,
      '## Errors\n\nAn error is a frame `{"channel":"error","data","code"}`: `data` is for people, `code` is machine-readable. [Codes of frames](/docs/reference/errors#websocket-error-frames), [close codes](/docs/reference/errors#websocket-close-codes).',
      notesPart([notes.get(type), ...named]),
    ]),
  }
}

/** GraphQL subscription for the same data as the /ws example, with some fields of each object. */
export function graphqlSample({ type, example }: AnyChannel): string {
  const field = graphqlSchema().getSubscriptionType()?.getFields()[type]
  if (!field) throw new Error(`GraphQL has no subscription ${type}`)
  const args = field.args
    .filter(({ name }) => example.request[name] !== undefined && example.request[name] !== null)
    .map(({ name }) => [name, literal(example.request[name])])
  return subscriptionText(field, Object.fromEntries(args))
}

/** JSON with unquoted keys, as GraphQL literals. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1: ')
}
