// writerActions: actions on the exchange that HyperEVM transactions caused. A body without wallets gets all actions of a
// block in one frame; others get one frame per wallet.

import * as z from 'zod'
import { Address } from '../../protocol/feed/block.ts'
import {
  PublishedWriterAction,
  type WriterAction,
  walletsOfAction,
  writerActions as writerActionsOf,
} from '../../protocol/feed/writer-actions.ts'
import { USER } from '../../protocol/info/examples.ts'
import { rejectSeveralWalletForms, WALLET_FIELDS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, EVERY, type EventView, META_FIELDS, metaText } from '../channel.ts'

const TYPE = 'writerActions'

const ACTIONS: EventView<WriterAction> = { items: ({ writer }) => writerActionsOf(writer), text: JSON.stringify }

const frameOf = <Row extends z.ZodType>(row: Row) =>
  z.object({
    channel: z.literal(TYPE),
    data: z.object({
      user: Address.optional().describe('Wallet of the subscription; absent if it names none'),
      actions: z.array(row).describe('Actions of the block'),
      ...META_FIELDS,
    }),
  })

export const writerActions = defineEventChannel({
  type: TYPE,
  summary: 'Actions that HyperEVM transactions caused, of up to 1,000 wallets or all',
  example: {
    request: { addresses: [USER] },
    frame: {
      channel: TYPE,
      data: {
        user: USER,
        actions: [
          {
            user: `0x20${'0'.repeat(38)}`,
            nonce: 41,
            evm_tx_hash: `0x${'0c'.repeat(32)}`,
            action: { type: 'SystemSpotSendAction', destination: USER, token: 0, wei: 2500000000 },
          },
        ],
      },
    },
  },
  request: z
    .strictObject({ type: z.literal(TYPE), ...WALLET_FIELDS })
    .superRefine(rejectSeveralWalletForms)
    .transform((sent) => {
      const wallets = walletsOf(sent)
      return wallets.length === 0 ? [EVERY] : wallets
    }),
  frame: frameOf(z.looseObject({})),
  published: frameOf(PublishedWriterAction),
  by: 'address',
  views: [ACTIONS],
  view: () => ACTIONS,
  names: (wallets) => wallets,
  namesOf: (action) => [...walletsOfAction(action), EVERY],
  needs: 'events',
  framing: 'per name',
  encode: (pieces, meta, user) => {
    const wallet = user === EVERY ? '' : `"user":"${user}",`
    return `{"channel":"${TYPE}","data":{${wallet}"actions":[${pieces.join(',')}]${metaText(meta)}}}`
  },
})
