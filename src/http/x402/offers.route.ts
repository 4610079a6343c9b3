// GET /x402: the networks on which wallets pay, and the price of every call that they can pay for. It is free and built
// once per isolate.

import { Hono } from 'hono'
import { type PricedCall, priceList } from '../../billing/x402/price-list.ts'
import type { PaymentNetwork } from '../../billing/x402/settings.ts'
import { formatCredits } from '../../core/amount.ts'
import { type AnyQuery, priceOf } from '../../info/query.ts'
import { ONE_CREDIT } from '../../metering/tariff.ts'
import { infoFailure } from '../../protocol/failure-wire.ts'
import type { RpcChain } from '../../rpc/chains.ts'
import { priceText } from '../docs/definition-text.ts'
import { documentReply, JSON_HEADERS, lazyDocument } from '../docs/docs.route.ts'
import { typeDocumentPath } from '../docs/openapi.ts'
import type { Operation } from '../operation.ts'

export interface OffersDeps {
  readonly networks: readonly PaymentNetwork[]
  readonly queries: readonly AnyQuery[]
  readonly operations: readonly Operation[]
  readonly chains: readonly Pick<RpcChain, 'name' | 'urls' | 'prices'>[]
  readonly requestId: () => string
}

const OFF = {
  kind: 'not_found',
  what: 'This price list',
  hint: 'This gateway does not accept payments by x402. Ask its operator for an API key.',
} as const

export function offersRoutes({ networks, requestId, ...sold }: OffersDeps): Hono {
  const app = new Hono()
  if (networks.length === 0)
    return app.get('/x402', () => {
      const { status, headers, body } = infoFailure(OFF, requestId())
      return new Response(body, { status, headers })
    })
  const written = lazyDocument(() => JSON.stringify(priceList(networks, paidCalls(sold))))
  return app.get('/x402', async (c) => documentReply(c, JSON_HEADERS, await written()))
}

/** Calls with one price that is known before the work, by product and type. */
export function paidCalls({ queries, operations, chains }: Omit<OffersDeps, 'networks' | 'requestId'>): PricedCall[] {
  return [
    ...queries.map(infoCall).sort((a, b) => (a.type < b.type ? -1 : 1)),
    ...operations.flatMap(dataCall),
    ...chains.filter(({ urls }) => urls.length > 0).flatMap(rpcCalls),
  ]
}

function infoCall(query: AnyQuery): PricedCall {
  const { type, example, request } = query
  return {
    product: 'info',
    type,
    request: 'POST /info',
    credits: priceText(query),
    micro: priceOf(query, request.parse({ ...example.request, type })),
    schema: typeDocumentPath(type),
  }
}

function dataCall({ id: type, product, method, path, price: micro = 0 }: Operation): PricedCall[] {
  if (product !== 'data' || method !== 'get' || micro === 0) return []
  const schema = `/docs/rest/${type}`
  return [{ product, type, request: `GET ${path}`, credits: formatCredits(micro), micro, schema }]
}

function rpcCalls({ name, prices }: OffersDeps['chains'][number]): PricedCall[] {
  const all = { '*': ONE_CREDIT, ...prices }
  return Object.entries(all).map(([type, micro]) => ({
    product: 'rpc',
    type,
    request: `POST /v1/${name}`,
    credits: formatCredits(micro),
    micro,
    schema: '/docs/rpc/methods',
  }))
}
