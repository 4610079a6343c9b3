// What a wallet is to the exchange beyond its role: its rights, its builders, whether it exists at all.

import type { Exchange } from '../exchange/exchange.ts'
import { agentsOf, SUB_ACCOUNTS } from '../exchange/identities.ts'
import { isMaker, MAIN_MAKERS } from '../exchange/roles.ts'
import type { Scene, SomeAnswers } from './answer.ts'
import { approvedBuilder } from './user.ts'
import { perpState, spotState } from './wallet.ts'

/** USDC that the first transfer to a new wallet costs. */
const ACTIVATION_FEE = '1.0'

const indexOf = (x: Exchange, address: string) => x.byAddress.get(address) ?? -1
const exists = (x: Exchange, address: string) => x.byAddress.has(address)

function approved(x: Exchange, user: string): string[] {
  const builder = approvedBuilder(x, user)
  return builder === null ? [] : [x.accounts[builder.account]!.address]
}

/** With the states of every DEX; null for a wallet that is nobody's master. */
function subAccounts(x: Exchange, master: string) {
  const subs = SUB_ACCOUNTS.filter((sub) => sub.master === indexOf(x, master))
  if (subs.length === 0) return null
  return subs.map(({ account, name }) => {
    const wallet = x.accounts[account]!
    return {
      name,
      subAccountUser: wallet.address,
      master,
      dexToClearinghouseState: x.scale.dexes.map((dex, index) => [dex, perpState(x, wallet, index)]),
      spotState: spotState(x, wallet),
    }
  })
}

function transferCheck({ exchange, past }: Scene, user: string) {
  const userExists = exists(exchange, user)
  const userHasSentTx = (past.wallet(user)?.requests ?? 0) > 0
  return { fee: userExists ? '0.0' : ACTIVATION_FEE, isSanctioned: false, userExists, userHasSentTx }
}

/** The agent that a wallet named first, with the end of its right; nulls where it has none. */
export function firstAgent(x: Exchange, user: string) {
  const [agent] = agentsOf(x, indexOf(x, user))
  return { agentAddress: agent?.address ?? null, agentValidUntil: agent?.validUntil ?? null }
}

/** Who makes markets is a VIP, and keeps its DEXes apart; everybody else has never chosen. */
export const STANDING_ANSWERS = {
  isVip: ({ exchange: x }, { user }) => (exists(x, user) ? isMaker(indexOf(x, user)) : null),
  legalCheck: ({ exchange }, { user }) => ({
    acceptedTerms: exists(exchange, user),
    userAllowed: true,
    restrictions: 'n',
  }),
  approvedBuilders: ({ exchange }, { user }) => approved(exchange, user),
  userDexAbstraction: ({ exchange: x }, { user }) => (MAIN_MAKERS.includes(indexOf(x, user)) ? false : null),
  preTransferCheck: (scene, { user }) => transferCheck(scene, user),
  subAccounts2: ({ exchange }, { user }) => subAccounts(exchange, user),
  usdcRouting: () => ({ depositRoute: 'bridge', withdrawalRoute: 'bridge' }),
} satisfies SomeAnswers
