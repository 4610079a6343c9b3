// Ledger updates as movements of assets into and out of a wallet.

// In your own project, import from '@weir/client'.
import type { HistoryRow } from '../../src/client/create-client.client.ts'

export type LedgerRow = HistoryRow<'userNonFundingLedgerUpdates'>
/**
 * `income`: received without a payment. `moved`: units that stay the wallet's, but leave or enter its spot balance, such
 * as staked ones. `amount` is signed; null if this program does not know the kind of the row.
 */
export type Movement = {
  kind: 'transfer' | 'income' | 'cost' | 'moved' | 'unknown'
  asset: string
  amount: string | null
  fee: string
  feeToken: string
  note: string
}

/** Movements of dollars that are always in one direction: the field with the amount, its sign and the kind. */
const DOLLARS: Readonly<Record<string, [field: string, sign: '' | '-', kind: Movement['kind']]>> = {
  deposit: ['usdc', '', 'transfer'],
  withdraw: ['usdc', '-', 'transfer'],
  vaultCreate: ['usdc', '-', 'transfer'],
  vaultDeposit: ['usdc', '-', 'transfer'],
  vaultWithdraw: ['netWithdrawnUsd', '', 'transfer'],
  vaultDistribution: ['usdc', '', 'transfer'],
  vaultLeaderCommission: ['usdc', '', 'income'],
}
const BETWEEN_WALLETS = new Set(['internalTransfer', 'subAccountTransfer', 'spotTransfer', 'send'])
const INCOME = new Set(['spotGenesis', 'rewardsClaim'])
const COSTS = new Set([
  'deployGasAuction',
  'accountActivationGas',
  'activateDexAbstraction',
  'gossipPriorityGasAuction',
])
/** Within a wallet, or repeated by fills. */
const IGNORED = new Set(['accountClassTransfer', 'perpDexClassTransfer', 'liquidation'])

/** Null if the row moves nothing into or out of the wallet. */
export function movementOf({ delta }: LedgerRow, wallet: string): Movement | null {
  const fields = delta as Record<string, unknown>
  const { type } = delta
  const text = (name: string, otherwise = '') =>
    typeof fields[name] === 'string' ? (fields[name] as string) : otherwise
  const fee = text('fee', '0')
  const common = { asset: text('token', 'USDC'), fee, feeToken: text('feeToken', 'USDC') || 'USDC', note: type }
  if (IGNORED.has(type)) return null
  const dollars = Object.hasOwn(DOLLARS, type) ? DOLLARS[type] : undefined
  if (dollars) {
    const [field, sign, kind] = dollars
    return { ...common, kind, asset: 'USDC', amount: sign + text(field, '0') }
  }
  const amount = text('amount', text('usdc', '0'))
  if (BETWEEN_WALLETS.has(type)) {
    const isReceiver = text('destination').toLowerCase() === wallet
    if (isReceiver && text('user').toLowerCase() === wallet) return null
    if (!isReceiver)
      return { ...common, kind: 'transfer', amount: `-${amount}`, note: `${type} to ${text('destination')}` }
    return { ...common, kind: 'transfer', amount, fee: '0', note: `${type} from ${text('user')}` }
  }
  if (INCOME.has(type)) return { ...common, kind: 'income', amount }
  if (COSTS.has(type)) return { ...common, kind: 'cost', amount: `-${amount}` }
  if (type === 'cStakingTransfer') return { ...common, kind: 'moved', amount: fields.isDeposit ? `-${amount}` : amount }
  const operation = text('operation')
  if (type === 'borrowLend' && ['supply', 'withdraw'].includes(operation))
    return {
      ...common,
      kind: 'moved',
      amount: operation === 'supply' ? `-${amount}` : amount,
      note: `${type} ${operation}`,
    }
  return { ...common, kind: 'unknown', asset: text('token'), amount: null }
}
