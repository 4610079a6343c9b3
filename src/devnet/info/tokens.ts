// One spot token: what there is of it, what it trades at, who got it first.

import { markPx, midPx } from '../exchange/exchange.ts'
import { formatAmount } from '../exchange/fixed-point.ts'
import { USDC } from '../exchange/market.ts'
import { ARBITRAGEURS, BUILDERS, SPOT_MAKERS, SPOT_TAKERS } from '../exchange/roles.ts'
import { NOTHING, type Scene, type SomeAnswers } from './answer.ts'
import { dayOf } from './context.ts'
import { spotMeta } from './market.ts'

const DEPLOY_GAS = '100.0'

type Token = ReturnType<typeof spotMeta>['tokens'][number]

/** What the token is worth; USDC is worth itself. */
function prices(scene: Scene, token: number) {
  const x = scene.exchange
  const market = x.scale.markets.find((each) => each.kind === 'spot' && each.token === token)
  if (market === undefined) return { midPx: '1.0', markPx: '1.0', prevDayPx: '1.0' }
  const mark = markPx(x, market.id)
  return {
    midPx: formatAmount(midPx(x, market.id) ?? mark),
    markPx: formatAmount(mark),
    prevDayPx: formatAmount(dayOf(scene, market).prevPx),
  }
}

/** As far as it is remembered. */
function genesis({ exchange, past }: Scene, name: string) {
  const userBalances = [...SPOT_MAKERS, ...ARBITRAGEURS, ...SPOT_TAKERS].flatMap((account) => {
    const { address } = exchange.accounts[account]!
    const rows = past.wallet(address)?.ledger.toArray() ?? []
    return rows
      .filter(({ delta }) => delta.type === 'spotGenesis' && delta.token === name)
      .map(({ delta }) => [address, delta.amount])
  })
  return { userBalances, existingTokenBalances: [], blacklistUsers: [] }
}

/** UTC to the millisecond, without a zone. */
const localTime = (timeMs: number) => new Date(timeMs).toISOString().slice(0, -1)

/** Nobody deployed USDC. */
function origin(scene: Scene, { index, name }: Token) {
  if (index === USDC) return { genesis: null, deployer: null, deployGas: null, deployTime: null }
  const { exchange: x } = scene
  return {
    genesis: genesis(scene, name),
    deployer: x.accounts[BUILDERS[0]!]!.address,
    deployGas: DEPLOY_GAS,
    // The first vault is as old as the exchange.
    deployTime: localTime(x.vaults[0]?.createdMs ?? x.block.timeMs),
  }
}

function details(scene: Scene, token: Token) {
  const { pools } = scene.exchange
  const usdc = pools.deposited - pools.withdrawn
  const supply = token.index === USDC ? usdc : pools.tokenSupply[token.index]!
  const total = formatAmount(supply > 0n ? supply : 0n)
  return {
    name: token.name,
    maxSupply: total,
    totalSupply: total,
    circulatingSupply: formatAmount(supply - (pools.tokenFees[token.index] ?? 0n)),
    szDecimals: token.szDecimals,
    weiDecimals: token.weiDecimals,
    ...prices(scene, token.index),
    ...origin(scene, token),
    seededUsdc: '0.0',
    nonCirculatingUserBalances: [],
    futureEmissions: '0.0',
  }
}

/** A token that does not exist is nothing. */
export const TOKEN_ANSWERS = {
  tokenDetails: (scene, { tokenId }) => {
    const token = spotMeta(scene.exchange).tokens.find((each) => each.tokenId === tokenId)
    return token === undefined ? NOTHING : details(scene, token)
  },
} satisfies SomeAnswers
