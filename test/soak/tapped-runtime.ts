// Wraps a client's runtime and records requests, acknowledgements, responses and frames.

import type { ClientRuntime } from '../../src/client/runtime.ts'
import { bodyKey, type SubscriptionBody } from '../../src/client/subscription.ts'
import { queryOf } from '../../src/info/queries/catalogue.ts'
import { priceOf } from '../../src/info/query.ts'
import { minutePrice } from '../../src/relay/channel.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'
import type { Served } from './served.ts'

/** Their minute begins with the last Snapshot. */
const BEGIN_WHOLE = new Set(['l2BookDiff', 'l4Book'])
const RESPONSE = '{"channel":"subscriptionResponse"'

/** Hears of frames before the client does; `ended` with the close code or HTTP status, null for neither. */
export interface Ear {
  frame(text: string): void
  ended(code: number | null): void
}

/** Prices are the catalogues', and so not what a server says that it charges. */
export function tapped(runtime: ClientRuntime, served: Served, ear: Ear): ClientRuntime {
  return {
    ...runtime,
    open: (url, handlers) => {
      const socket = runtime.open(url, {
        onOpen: () => handlers.onOpen(),
        onText: (text) => {
          served.heard(Date.now())
          if (text.startsWith(RESPONSE)) acknowledged(served, text, Date.now())
          ear.frame(text)
          handlers.onText(text)
        },
        onEnd: (end) => {
          served.ended(Date.now())
          ear.ended(end.code ?? end.status)
          handlers.onEnd(end)
        },
      })
      return {
        drop: () => socket.drop(),
        send: (text) => {
          asked(served, text, Date.now())
          socket.send(text)
        },
      }
    },
    post: async (url, key, body) => {
      const request = JSON.parse(body) as { type: string }
      const price = infoPrice(request)
      served.called(request.type, price)
      const answer = await runtime.post(url, key, body)
      served.answered(request.type, price, answer.status === 200, Date.now())
      return answer
    },
  }
}

function asked(served: Served, text: string, nowMs: number): void {
  const { method, subscription } = JSON.parse(text) as { method: string; subscription?: SubscriptionBody }
  if (method !== 'subscribe' || subscription === undefined) return
  const wanted = readBody(subscription)
  if (!wanted.ok) throw new Error(`${JSON.stringify(subscription)}: ${wanted.error.message}`)
  served.asked(bodyKey(subscription), subscription.type, minutePrice(wanted.value), nowMs)
}

function acknowledged(served: Served, text: string, nowMs: number): void {
  const { data } = JSON.parse(text) as { data: { method: string; subscription: SubscriptionBody } }
  if (data.method === 'subscribe')
    served.acked(bodyKey(data.subscription), !BEGIN_WHOLE.has(data.subscription.type), nowMs)
}

function infoPrice(request: { readonly type: string }): number {
  const query = queryOf(request.type)
  if (query === undefined) throw new Error(`no info type ${request.type}`)
  return priceOf(query, query.request.parse(request))
}
