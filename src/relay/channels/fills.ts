// Channels of fills: everyone's, of wallets, of builders and of liquidations. A frame holds all fills of a block, as the
// node wrote them, or with the parts of an order within the block merged.

import * as z from 'zod'
import { aggregateFills } from '../../archive/fill-rows.ts'
import { dexOf } from '../../core/coin.ts'
import { Address, CoinName, Decimal, Fill, UserFill } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import {
  AggregateByTime,
  requireOneWalletForm,
  WALLET_FIELDS,
  WalletAddress,
  Wallets,
  walletsOf,
} from '../body-fields.ts'
import {
  defineEventChannel,
  EVERY,
  type EventChannel,
  type EventView,
  META_FIELDS,
  type Meta,
  metaText,
} from '../channel.ts'

interface FillsBody {
  /** What its fills are found by. */
  readonly names: readonly string[]
  readonly aggregate: boolean
  /** Names one wallet by `user`. */
  readonly isOfUser?: boolean
}

/** The fills of a block, and the same with the parts of an order merged. */
type FillViews = readonly [parts: EventView<UserFill>, merged: EventView<UserFill>]

function viewsOf(items: EventView<UserFill>['items']): FillViews {
  const text = JSON.stringify
  return [
    { items, text },
    { items: (block) => aggregateFills(items(block)), text },
  ]
}

export const FILL_VIEWS = viewsOf(({ fills }) => fills)

/** A fill with what only the node tells. */
export const NodeFill = PublicFill.extend({ builder: Address.optional(), deployerFee: Decimal.optional() })

/** `fills` are `[wallet, fill]`; `shown` is what is published of a fill. */
function fillsFrames<const Type extends string>(type: Type, shown: z.ZodType = NodeFill) {
  const frameOf = <Row extends z.ZodType>(row: Row) =>
    z.object({ channel: z.literal(type), fills: z.array(row), ...META_FIELDS })
  return {
    frame: frameOf(UserFill),
    published: frameOf(z.tuple([Address.describe('Wallet of the fill'), shown.describe('Fill')])),
  }
}

/** `pieces` are texts of `[wallet, fill]`, `more` the text of fields that follow them. */
function encodeFills(type: string, pieces: readonly string[], meta: Meta | null, more = ''): string {
  return `{"channel":"${type}","fills":[${pieces.join(',')}]${more}${metaText(meta)}}`
}

interface FillsDefinition<Type extends string>
  extends Pick<EventChannel<FillsBody, UserFill, unknown>, 'summary' | 'request' | 'by' | 'namesOf' | 'needs'> {
  readonly type: Type
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly fill: UserFill }
  readonly fillSchema?: z.ZodType
  readonly views?: FillViews
}

function fillsChannel<const Type extends string>({
  type,
  example,
  fillSchema,
  views = FILL_VIEWS,
  ...more
}: FillsDefinition<Type>) {
  return defineEventChannel({
    ...more,
    type,
    example: { request: example.request, frame: { channel: type, fills: [example.fill] } },
    ...fillsFrames(type, fillSchema),
    views,
    view: ({ aggregate }) => views[aggregate ? 1 : 0],
    names: ({ names }) => names,
    framing: 'per body',
    encode: (pieces, meta) => encodeFills(type, pieces, meta),
  })
}

const AGGREGATE = {
  aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged; absent: no'),
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
const { builder: BUILDER } = EXAMPLE_FILL[1]

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

export const allFills = fillsChannel({
  type: 'allFills',
  summary: 'Fills of everyone, in one market or in all',
  example: { request: { coin: 'BTC' }, fill: EXAMPLE_FILL },
  request: z
    .strictObject({
      type: z.literal('allFills'),
      coin: CoinName.optional().describe('One market; absent: all'),
      ...AGGREGATE,
    })
    .transform(({ coin, aggregateByTime = false }) => ({ names: [coin ?? EVERY], aggregate: aggregateByTime })),
  by: 'coin',
  namesOf: ([, { coin }]) => [coin, EVERY],
})

/** Fills of orders that came through the builders who are named. */
export const builderFills = fillsChannel({
  type: 'builderFills',
  summary: 'Fills of orders that came through one builder, or up to 1,000',
  example: { request: { builder: BUILDER }, fill: EXAMPLE_FILL },
  request: z
    .strictObject({
      type: z.literal('builderFills'),
      builder: WalletAddress.optional().describe('Builder address'),
      addresses: Wallets.optional().describe(
        'Builders, in any letter case; send exactly one of `addresses` and `builder`',
      ),
      ...AGGREGATE,
    })
    .refine(({ builder, addresses }) => (builder === undefined) !== (addresses === undefined), {
      path: ['builder'],
      message: 'send exactly one of builder (string), addresses (list)',
    })
    .transform(({ builder, addresses, aggregateByTime = false }) => ({
      names: [...new Set(addresses ?? (builder === undefined ? [] : [builder]))],
      aggregate: aggregateByTime,
    })),
  fillSchema: NodeFill.required({ builder: true }),
  by: 'address',
  namesOf: ([, { builder }]) => (typeof builder === 'string' ? [builder] : []),
})

/** Of everyone, and on both sides. */
export const liquidationFills = fillsChannel({
  type: 'liquidationFills',
  summary: 'Fills of liquidations, of everyone',
  example: { request: {}, fill: EXAMPLE_LIQUIDATION },
  request: z
    .strictObject({ type: z.literal('liquidationFills') })
    .transform(() => ({ names: [EVERY], aggregate: false })),
  fillSchema: NodeFill.required({ liquidation: true }),
  by: null,
  namesOf: ([, { liquidation }]) => (liquidation ? [EVERY] : []),
})

const MAIN_DEX = 'main'
/** Of one builder on one DEX. */
const dexKey = (builder: string, dex: string) => `${builder} ${dex}`

/**
 * Liquidations of positions that were last traded through a builder. The log knows which (block-log/position-builders.ts);
 * here the builder stands in the fill, which has none of its own.
 */
export const builderLiquidations = fillsChannel({
  type: 'builderLiquidations',
  summary: 'Liquidations of positions last traded through a builder',
  example: {
    request: { builder: BUILDER },
    fill: [EXAMPLE_LIQUIDATION[0], { ...EXAMPLE_LIQUIDATION[1], builder: BUILDER }],
  },
  request: z
    .strictObject({
      type: z.literal('builderLiquidations'),
      builder: WalletAddress.describe('Builder address'),
      dex: z
        .string()
        .regex(/^[\x21-\x7e]{1,64}$/, `must be the name of a DEX, or "${MAIN_DEX}"`)
        .optional()
        .describe('DEX to limit liquidations to: `main` or a name'),
      ...AGGREGATE,
    })
    .transform(({ builder, dex, aggregateByTime = false }) => ({
      dex: dex === MAIN_DEX ? '' : dex,
      names: [dex === undefined ? builder : dexKey(builder, dex)],
      aggregate: aggregateByTime,
    })),
  fillSchema: NodeFill.required({ builder: true, liquidation: true }),
  by: 'address',
  views: viewsOf(({ fills, through = [] }) =>
    through.flatMap(([index, builder]): UserFill[] => {
      const [user, fill] = fills[index] ?? []
      return user && fill ? [[user, { ...fill, builder }]] : []
    }),
  ),
  namesOf: ([, { builder, coin }]) => [String(builder), dexKey(String(builder), dexOf(coin) || MAIN_DEX)],
  needs: 'events',
})

/** Where the subscription has `user`: its fills once more. */
const userData = <Shown extends z.ZodType>(fill: Shown) => ({
  data: z.object({ user: Address, fills: z.array(fill) }).optional(),
})
const USER_FRAMES = fillsFrames('userFills')

/** Before and after the fill in a text of `[wallet, fill]`: wallets are of one length. */
const FILL_START = `["0x${'0'.repeat(40)}",`.length
const FILL_END = -1

/**
 * Who names one wallet by `user` has its fills in the public server's shape besides: its SDKs send `user`, read `data`, and
 * fail without it.
 */
export const userFills = defineEventChannel({
  type: 'userFills',
  summary: 'Fills of up to 1,000 wallets',
  example: { request: { addresses: [EXAMPLE_FILL[0]] }, frame: { channel: 'userFills', fills: [EXAMPLE_FILL] } },
  request: z
    .strictObject({ type: z.literal('userFills'), ...WALLET_FIELDS, ...AGGREGATE })
    .superRefine(requireOneWalletForm)
    .transform((sent): FillsBody => {
      const { user, aggregateByTime = false } = sent
      return { names: walletsOf(sent), aggregate: aggregateByTime, isOfUser: user !== undefined }
    }),
  frame: USER_FRAMES.frame.extend(userData(Fill)),
  published: USER_FRAMES.published.extend(userData(NodeFill)),
  by: 'address',
  views: FILL_VIEWS,
  view: ({ aggregate }) => FILL_VIEWS[aggregate ? 1 : 0],
  names: ({ names }) => names,
  namesOf: ([user]) => [user],
  framing: 'per body',
  encode: (pieces, meta, user, { isOfUser }) => {
    const fills = pieces.map((piece) => piece.slice(FILL_START, FILL_END)).join(',')
    return encodeFills('userFills', pieces, meta, isOfUser ? `,"data":{"user":"${user}","fills":[${fills}]}` : '')
  },
})
