// What docs/ws-protocol.md shows of every channel: the table, a request and the frames that it brings.

import { channelSourceText, exampleFrames, minutePriceText, snapshotText } from '../src/docs/channel-text.ts'
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

/** A block for each channel: what is sent, then what comes. */
export function channelExamples(): string {
  return CHANNELS.map((channel) => {
    const { type, example } = channel
    const asked = { method: 'subscribe', subscription: { type, ...example.request } }
    return `\`${type}\`\n\n${jsonBlock([asked, ...exampleFrames(channel)])}`
  }).join('\n\n')
}

function jsonBlock(frames: readonly unknown[]): string {
  return `\`\`\`json\n${frames.map((frame) => JSON.stringify(frame)).join('\n')}\n\`\`\``
}
