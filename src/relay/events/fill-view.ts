// Fills as channels show them: as the node wrote them, or the parts of an order within a block put together.

import * as z from 'zod'
import { aggregateFills } from '../../archive/merged-fills.ts'
import { Address, Decimal, UserFill } from '../../protocol/feed/block.ts'
import { ShownFill } from '../../protocol/feed/shown-fill.ts'
import { type EventView, META_FIELDS, type Meta, metaText } from '../channel.ts'

const FILLS: EventView<UserFill> = { items: ({ fills }) => fills, text: JSON.stringify }
const MERGED_FILLS: EventView<UserFill> = { ...FILLS, items: ({ fills }) => aggregateFills(fills) }
export const FILL_VIEWS = [FILLS, MERGED_FILLS]

/** The view of a body with or without `aggregateByTime`. */
export function fillView({ aggregate }: { readonly aggregate: boolean }): EventView<UserFill> {
  return aggregate ? MERGED_FILLS : FILLS
}

/** With what only the node tells. */
export const NodeFill = ShownFill.extend({ builder: Address.optional(), deployerFee: Decimal.optional() })

/** `fills` are `[wallet, fill]`; `shown` is what is published of a fill. */
export function fillsFrames<const Type extends string>(type: Type, shown: z.ZodType = NodeFill) {
  const frameOf = <Row extends z.ZodType>(row: Row) =>
    z.object({ channel: z.literal(type), fills: z.array(row), ...META_FIELDS })
  return {
    frame: frameOf(UserFill),
    published: frameOf(z.tuple([Address.describe('Wallet of the fill'), shown.describe('Fill')])),
  }
}

/** `pieces` are texts of `[wallet, fill]`, `more` the text of fields that follow them. */
export function encodeFills(type: string, pieces: readonly string[], meta: Meta | null, more = ''): string {
  return `{"channel":"${type}","fills":[${pieces.join(',')}]${more}${metaText(meta)}}`
}

/** Before and after the fill in a text of `[wallet, fill]`: wallets are of one length. */
const BEFORE_FILL = `["0x${'0'.repeat(40)}",`.length
const AFTER_FILL = -1

/** Texts of the fills alone, of texts of `[wallet, fill]`. */
export function withoutWallets(pieces: readonly string[]): readonly string[] {
  return pieces.map((piece) => piece.slice(BEFORE_FILL, AFTER_FILL))
}

/** A made-up fill for examples. */
export const EXAMPLE_FILL: UserFill = [
  `0x${'a1'.repeat(20)}`,
  {
    coin: 'BTC',
    px: '81307.0',
    sz: '0.01',
    side: 'B',
    time: 1790000000000,
    startPosition: '0.0',
    dir: 'Open Long',
    closedPnl: '0.0',
    hash: `0x${'0c'.repeat(32)}`,
    oid: 90001,
    crossed: true,
    fee: '0.365881',
    tid: 118906512037719,
    feeToken: 'USDC',
    builder: `0x${'bb'.repeat(20)}`,
    builderFee: '0.08',
    twapId: null,
  },
]

const [LIQUIDATED, { builder: _, builderFee: __, ...LIQUIDATION }] = EXAMPLE_FILL
/** The same closed by a liquidation. */
export const EXAMPLE_LIQUIDATION: UserFill = [
  LIQUIDATED,
  {
    ...LIQUIDATION,
    side: 'A',
    startPosition: '0.01',
    dir: 'Close Long',
    closedPnl: '-12.5',
    liquidation: { liquidatedUser: LIQUIDATED, markPx: '81307.0', method: 'market' },
  },
]
