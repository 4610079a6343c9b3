// A page for each channel of /ws, made of its definition, of what its file says of it and of the rules that name it.

import { type GraphQLOutputType, getNamedType, isObjectType } from 'graphql'
import { type AnyChannel, publishedFrame } from '../../../relay/channel.ts'
import { graphqlSchema } from '../../../relay/graphql/schema.ts'
import { channelSourceText, exampleFrames, minutePriceText, snapshotText } from '../channel-text.ts'
import { subscribeCode } from './code-samples.ts'
import { fieldRows, fieldTable } from './field-table.ts'
import { block, joined, jsonText, notesPart, type Page, table } from './page.ts'

export interface ChannelProse {
  readonly notes: ReadonlyMap<string, string | null>
  /** Numbered rules of docs/ws-protocol.md. */
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
    markdown: joined([
      `# ${type}\n\n${summary}.`,
      table(
        ['Credits', 'Comes from', 'Before the first change', 'Asked for with'],
        [
          [
            minutePriceText(channel),
            channelSourceText(channel),
            snapshotText(channel),
            '`subscribe` on `/ws`, or [GraphQL](/docs/graphql)',
          ],
        ],
      ),
      'A minute is charged when it starts. Send `{"method":"ping"}` at least every 30 s: pings of the WebSocket protocol do not count.',
      `## Request\n\n${fieldTable(rows, true)}\n\nA field that is not in this table is refused: a misspelt one would silently buy something else.`,
      `## Example\n\nSent:\n\n${block('json', jsonText({ method: 'subscribe', subscription }))}\n\nWhat comes, after the acknowledgement (\`subscriptionResponse\`):\n\n${frames.join('\n\n')}`,
      `## Code\n\n${subscribeCode(subscription)}\n\nAs a subscription of [GraphQL](/docs/graphql):\n\n${block('graphql', graphqlSample(channel))}`,
      `## Frames\n\nFrames may gain fields: ignore those that you do not know.\n\n${fieldTable(fieldRows(publishedFrame(channel)), false)}`,
      '## Errors\n\nA refusal is a frame `{"channel":"error","data","code"}`: `data` tells a person, `code` a program. [Codes, and what every close code asks of you](/docs/ws-protocol#closing).',
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
