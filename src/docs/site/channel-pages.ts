// A page for each channel of /ws, made of its definition, of what its file says of it and of the rules that name it.

import { type AnyChannel, publishedFrame } from '../../stream/channel.ts'
import { channelSourceText, exampleFrames, minutePriceText, snapshotText } from '../channel-text.ts'
import { subscribeCode } from './code-samples.ts'
import { fieldRows, fieldTable } from './field-table.ts'
import { graphqlSample } from './graphql-sample.ts'
import { block, jsonText, table } from './markdown-text.ts'
import type { Page } from './page.ts'

export interface ChannelProse {
  readonly notes: ReadonlyMap<string, string>
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
  const note = notes.get(type)
  return {
    address: `/docs/channels/${type}`,
    title: type,
    summary,
    section: 'streams',
    keywords: rows.map(({ path }) => path),
    markdown: [
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
      note === undefined && named.length === 0
        ? ''
        : `## Notes\n\n${[...(note === undefined ? [] : [note]), ...named].map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n')}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  }
}
