// fastAssetCtxs: mark and middle of every perp and spot market, packed: all of them first, then those that changed.

import * as z from 'zod'
import { defineStateChannel, ONE_CREDIT } from '../channel.ts'
import {
  ALL_CONTEXTS_MS,
  CONTEXT_MS,
  type Context,
  contextsByCoin,
  DEXES,
  dexNames,
  perpContexts,
  SPOT_CONTEXTS,
} from '../states/contexts.ts'

const TYPE = 'fastAssetCtxs'

type Contexts = ReadonlyMap<string, Context>

function pricesIn([, ...parts]: readonly (readonly string[] | Contexts)[]): Map<string, string> {
  const contexts = (parts as readonly Contexts[]).flatMap((part) => [...part])
  return new Map(contexts.map(([coin, { markPx, midPx }]) => [coin, JSON.stringify({ markPx, midPx })]))
}

const textOf = (prices: readonly (readonly [coin: string, prices: string])[]) =>
  `{${prices.map(([coin, text]) => `${JSON.stringify(coin)}:${text}`).join(',')}}`

export const fastAssetCtxs = defineStateChannel({
  type: TYPE,
  summary: 'Mark and middle of every market: base64 of raw DEFLATE of `{coin: {markPx, midPx}}`',
  // {"BTC":{"markPx":"81307.0","midPx":"81306.5"}}
  example: { request: {}, frame: { channel: TYPE, data: 'q1ZyCnFWsqpWyk0syg6oULJSsjA0NjDXM1DSUcrNTIGLmOmZKtXWAgA=' } },
  request: z.strictObject({ type: z.literal(TYPE) }),
  frame: z.object({ channel: z.literal(TYPE), data: z.base64() }),
  price: ONE_CREDIT,
  source: 'states',
  keep: (answer, { type }): readonly string[] | Contexts =>
    type === 'perpDexs' ? dexNames(answer) : contextsByCoin(answer),
  asks: (_, names) => [
    DEXES,
    ...(names
      ? ([
          [perpContexts(''), CONTEXT_MS],
          [SPOT_CONTEXTS, CONTEXT_MS],
          ...(names as readonly string[]).map((dex) => [perpContexts(dex), ALL_CONTEXTS_MS] as const),
        ] as const)
      : []),
  ],
  data: (_, parts) => textOf([...pricesIn(parts)]),
  news: (_, parts, mark) => {
    const prices = pricesIn(parts)
    const changed = [...prices].filter(([coin, text]) => (mark as Map<string, string> | undefined)?.get(coin) !== text)
    return { text: changed.length > 0 ? textOf(changed) : null, mark: prices }
  },
  isPacked: true,
})
