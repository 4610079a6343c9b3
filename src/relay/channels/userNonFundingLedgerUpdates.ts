// userNonFundingLedgerUpdates: balance movements except funding, one frame per wallet per block.

import * as z from 'zod'
import { Address, LedgerEvent } from '../../protocol/feed/block.ts'
import { LedgerUpdate } from '../../protocol/feed/ledger-update.ts'
import { USER } from '../../protocol/info/examples.ts'
import { requireOneWalletForm, WALLET_FIELDS, walletsOf } from '../body-fields.ts'
import { defineEventChannel, type EventView, META_FIELDS, metaText } from '../channel.ts'

const TYPE = 'userNonFundingLedgerUpdates'

/** Omits the affected wallets, because the envelope names the receiver's wallet. */
const LEDGER: EventView<LedgerEvent> = {
  items: ({ ledger }) => ledger,
  text: ({ time, hash, delta }) => JSON.stringify({ time, hash, delta }),
}

/** `isSnapshot` is always false today. Clients must handle true, for replays. */
const frameOf = <Update extends z.ZodType>(update: Update) =>
  z.object({
    channel: z.literal(TYPE),
    data: z.object({
      user: Address,
      isSnapshot: z.boolean().describe('Whether the entries are history; absent or false for new ones'),
      nonFundingLedgerUpdates: z.array(update).describe('Balance movements'),
      ...META_FIELDS,
    }),
  })

export const userNonFundingLedgerUpdates = defineEventChannel({
  type: TYPE,
  summary: 'Balance movements, except funding, of up to 1,000 wallets',
  example: {
    request: { addresses: [USER] },
    frame: {
      channel: TYPE,
      data: {
        user: USER,
        isSnapshot: false,
        nonFundingLedgerUpdates: [
          { time: 1790000000000, hash: `0x${'0c'.repeat(32)}`, delta: { type: 'deposit', usdc: '250.0' } },
        ],
      },
    },
  },
  request: z
    .strictObject({ type: z.literal(TYPE), ...WALLET_FIELDS })
    .superRefine(requireOneWalletForm)
    .transform(walletsOf),
  frame: frameOf(z.object(LedgerEvent.omit({ users: true }).shape)),
  published: frameOf(LedgerUpdate),
  by: 'address',
  views: [LEDGER],
  view: () => LEDGER,
  names: (addresses) => addresses,
  namesOf: ({ users }) => [...new Set(users)],
  needs: 'events',
  framing: 'per name',
  encode: (pieces, meta, user) =>
    `{"channel":"${TYPE}","data":{"user":"${user}","isSnapshot":false,"nonFundingLedgerUpdates":[${pieces.join(',')}]${metaText(meta)}}}`,
})
