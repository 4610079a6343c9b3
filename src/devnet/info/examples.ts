// Types that Weir passes through unchanged are answered with the example of their query, moved to the present exchange:
// its clock, the wallet that is asked for, and what of its state the other answers tell as well.

import { queryOf } from '../../info/queries/catalogue.ts'
import { upstreamTypesOf } from '../../info/query.ts'
import { OTHER_USER, TIME, USER } from '../../protocol/info/examples.ts'
import { markPxs } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { BUILDERS } from '../exchange/roles.ts'
import { vaultEquity } from '../exchange/vault.ts'
import { marginState } from '../exchange/wallet.ts'
import { dexIndex, NOTHING, type Scene } from './answer.ts'
import { spotMeta, TRADED_OUTCOME } from './listing.ts'
import { MARKET_ANSWERS } from './markets.ts'
import { openOrdersOnDex, perpState, spotState, twapsOf, walletOf } from './wallet.ts'

/** Fields of a request that its schema has taken; unknown ones are undefined. */
interface Fields {
  readonly user: string
  readonly dex?: string
  readonly coin?: string
  readonly tokenId?: string
  readonly vaultAddress?: string
  readonly outcome?: number
}

// biome-ignore lint/suspicious/noExplicitAny: examples of many shapes, which their schemas know
type Example = any

const PERIODS = ['day', 'week', 'month', 'allTime', 'perpDay', 'perpWeek', 'perpMonth', 'perpAllTime']

/** A curve of one point in every period: the present. */
function portfolio(x: Scene['exchange'], user: string) {
  const marks = markPxs(x)
  const value = walletOf(x, user).margin.reduce((sum, margin) => sum + marginState(margin, marks).value, 0n)
  const at = x.block.timeMs
  const curve = { accountValueHistory: [[at, formatAmount(value)]], pnlHistory: [[at, '0.0']], vlm: '0.0' }
  return PERIODS.map((name) => [name, curve])
}

/** Of these types, what of the state the example has to agree with. */
const ADAPTED: Readonly<Record<string, (scene: Scene, fields: Fields, example: Example) => unknown>> = {
  liquidatable: () => [],
  outcomeTemplates: (_scene, _fields, [template]) => [template],
  perpAnnotation: (_scene, { coin }, example) => (coin === 'xyz:GOLD' ? example : null),
  portfolio: ({ exchange }, { user }) => portfolio(exchange, user),
  preTransferCheck: ({ exchange }, { user }, example) => {
    const exists = exchange.byAddress.has(user)
    return { ...example, fee: exists ? '0.0' : '1.0', userExists: exists, userHasSentTx: exists }
  },
  settledOutcome: (_scene, { outcome }, example) =>
    outcome === TRADED_OUTCOME ? null : { ...example, spec: { ...example.spec, outcome } },
  subAccounts: ({ exchange: x }, _fields, [sub]) => {
    const wallet = walletOf(x, sub.subAccountUser)
    return [{ ...sub, clearinghouseState: perpState(x, wallet, 0), spotState: spotState(x, wallet) }]
  },
  subAccounts2: ({ exchange: x }, _fields, [sub]) => {
    const wallet = walletOf(x, sub.subAccountUser)
    const dexToClearinghouseState = x.scale.dexes.map((dex, index) => [dex, perpState(x, wallet, index)])
    return [{ ...sub, dexToClearinghouseState, spotState: spotState(x, wallet) }]
  },
  tokenDetails: ({ exchange }, { tokenId }, example) => {
    const token = spotMeta(exchange).tokens.find((each) => each.tokenId === tokenId)
    if (token === undefined) return NOTHING
    return { ...example, name: token.name, szDecimals: token.szDecimals, weiDecimals: token.weiDecimals }
  },
  validatorSummaries: (_scene, _fields, [validator]) => {
    const [[, stats]] = validator.stats
    return [{ ...validator, stats: ['day', 'week', 'month'].map((period) => [period, stats]) }]
  },
  vaultDetails: ({ exchange }, { vaultAddress }, example) =>
    vaultAddress === example.vaultAddress
      ? { ...example, name: exchange.vaults[0]!.name, portfolio: portfolio(exchange, vaultAddress!) }
      : null,
  vaultSummaries: ({ exchange: x }, _fields, [vault]) => {
    const [backstop] = x.vaults
    if (backstop === undefined) return []
    return [{ ...vault, name: backstop.name, tvl: formatAmount(vaultEquity(x, backstop)) }]
  },
  webData2: (scene, { user }, example) => {
    const { exchange: x } = scene
    const wallet = walletOf(x, user)
    const [meta, assetCtxs] = MARKET_ANSWERS.metaAndAssetCtxs(scene, { type: 'metaAndAssetCtxs', dex: '' }) as unknown[]
    return {
      ...example,
      clearinghouseState: perpState(x, wallet, 0),
      openOrders: openOrdersOnDex(wallet, 0),
      meta,
      assetCtxs,
      isVault: x.vaults.some(({ account }) => account === wallet.index),
      twapStates: twapsOf(x, user),
      spotState: spotState(x, wallet),
      spotAssetCtxs: MARKET_ANSWERS.spotMetaAndAssetCtxs(scene)[1],
      perpsAtOpenInterestCap: MARKET_ANSWERS.perpsAtOpenInterestCap(scene, { type: 'perpsAtOpenInterestCap', dex: '' }),
    }
  },
}

/** A value for JSON.stringify, NOTHING, or undefined where no upstream type fits the body. */
export function exampleOf(scene: Scene, body: { readonly type: string }): unknown {
  const query = queryOf(body.type)
  if (query === undefined || !upstreamTypesOf(query).includes(body.type)) return undefined
  const parsed = query.request.safeParse(body)
  if (!parsed.success) return undefined
  const x = scene.exchange
  const fields = parsed.data as unknown as Fields
  if (typeof fields.dex === 'string' && dexIndex(x, fields.dex) < 0) return NOTHING
  const vault = x.accounts[x.vaults[0]?.account ?? 0]!.address
  const builder = x.accounts[BUILDERS[0]!]!.address
  const example = JSON.parse(
    JSON.stringify(query.example.response)
      .replaceAll(USER, fields.user ?? builder)
      .replaceAll(OTHER_USER, /vault/i.test(body.type) ? vault : builder)
      .replaceAll(String(TIME), String(x.block.timeMs)),
  )
  const adapt = ADAPTED[body.type]
  return adapt === undefined ? example : adapt(scene, fields, example)
}
