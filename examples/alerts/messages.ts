// Alerts as text, and as the JSON bodies that chat services accept.

import type { Liquidation } from './liquidation-groups.ts'

export type Alert = { text: string; liquidation?: Liquidation }
export const FORMATS = ['slack', 'discord', 'telegram', 'json'] as const
export type Format = (typeof FORMATS)[number]

/** Discord accepts at most 2,000 characters. */
const MAX_CHARACTERS = 1_900

export function alertOf(liquidation: Liquidation): Alert {
  const { user, coin, side, sz, px, usd, method } = liquidation
  return { text: `${user} ${side} ${sz} ${coin} at ${px} (${method}): ${usd.split('.')[0]} dollars`, liquidation }
}

/**
 * The body of a request. `dropped`: number of alerts that did not fit into the queue before these.
 *
 * @param url - Webhook, of which Telegram's needs the parameter `chat_id`.
 */
export function bodyOf(format: Format, alerts: readonly Alert[], dropped: number, url: string): string {
  const lines = alerts.map(({ text }) => text)
  if (dropped > 0)
    lines.unshift(`${dropped} older alerts were dropped, because the webhook did not accept them in time`)
  const text = lines.join('\n').slice(0, MAX_CHARACTERS)
  switch (format) {
    case 'slack':
      return JSON.stringify({ text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') })
    case 'discord':
      return JSON.stringify({ content: text, allowed_mentions: { parse: [] } })
    case 'telegram':
      return JSON.stringify({ chat_id: new URL(url).searchParams.get('chat_id'), text })
    case 'json':
      return JSON.stringify({ alerts, dropped })
  }
}
