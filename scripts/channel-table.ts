// The table of docs/ws-protocol.md that lists every channel.

import { channelSourceText, minutePriceText, snapshotText } from '../src/docs/channel-text.ts'
import { CHANNELS } from '../src/stream/catalogue.ts'

export function channelTable(): string {
  return [
    '| Channel | What it brings | From | Before the first change | Credits |',
    '|---|---|---|---|---|',
    ...CHANNELS.map((channel) => {
      const cells = [channel.summary, channelSourceText(channel), snapshotText(channel), minutePriceText(channel)]
      return `| \`${channel.type}\` | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}
