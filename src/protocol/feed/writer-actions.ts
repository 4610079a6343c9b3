// Actions on the exchange that a HyperEVM transaction caused: transfers by the system, and actions sent through
// CoreWriter. Rows are the node's events, unchanged.

import * as z from 'zod'
import { kindsBy } from '../../core/open-kinds.ts'
import { Address, TxHash } from './block.ts'

const Wei = z
  .union([z.int(), z.string().regex(/^\d+$/)])
  .describe("Amount in the token's smallest unit; a string if it is above 2^53")
const transfer = { destination: Address, token: z.int().describe('Token index'), wei: Wei }
const DexOrSpot = z.int().nullable().describe('Index of a DEX or of the spot balance')

/** Actions whose fields are known. Others have the fields of the exchange's own actions. */
const Action = kindsBy('type', {
  SystemSpotSendAction: transfer,
  SystemSendAssetAction: {
    ...transfer,
    sourceDexOrSpot: DexOrSpot,
    destinationDexOrSpot: DexOrSpot,
    fromSubAccount: Address.nullable(),
  },
})

/** Published shape. The feed accepts any event that a node writes. */
export const PublishedWriterAction = z.looseObject({
  user: Address.describe('Acting wallet; a system address for transfers of a token from HyperEVM'),
  nonce: z.int().describe('Event number'),
  evm_tx_hash: TxHash.describe('Hash of the HyperEVM transaction'),
  action: Action.describe('Action as the node wrote it, by `type`'),
})

export interface WriterAction {
  readonly user?: unknown
  readonly nonce?: unknown
  readonly evm_tx_hash?: unknown
  readonly action?: unknown
}

/** The actions of a block. Events that are not objects are skipped. */
export function writerActions(events: readonly unknown[] = []): WriterAction[] {
  return events.filter((event): event is WriterAction => typeof event === 'object' && event !== null)
}

/** Distinct wallets of an action in lower case: the acting one, and the recipient of a transfer. */
export function walletsOfAction({ user, action }: WriterAction): Address[] {
  const { destination } = Object(action) as { destination?: unknown }
  const wallets = [user, destination].map((name) => Address.safeParse(String(name).toLowerCase()))
  return [...new Set(wallets.flatMap((wallet) => (wallet.success ? [wallet.data] : [])))]
}
