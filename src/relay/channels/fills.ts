// Channels of fills: all, by wallet, by builder, or liquidations. A frame holds all fills of a block as the node wrote
// them, optionally with the partial fills of an order merged.

import * as z from 'zod'
import { aggregateFills } from '../../archive/fill-rows.ts'
import { dexOf } from '../../core/coin.ts'
import { Address, CoinName, Decimal, Fill, UserFill } from '../../protocol/feed/block.ts'
import { PublicFill } from '../../protocol/feed/public-fill.ts'
import { USER } from '../../protocol/info/examples.ts'
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
  /** Index names of the fills that the body selects. */
  readonly names: readonly string[]
  readonly aggregate: boolean
  /** The body names one wallet in `user`. */
  readonly isOfUser?: boolean
}

/** The fills of a block, plain and with partial fills of an order merged. */
type FillViews = readonly [parts: EventView<UserFill>, merged: EventView<UserFill>]

function viewsOf(items: EventView<UserFill>['items']): FillViews {
  const text = JSON.stringify
  return [
    { items, text },
    { items: (block) => aggregateFills(items(block)), text },
  ]
}

export const FILL_VIEWS = viewsOf(({ fills }) => fills)

/** A fill with the fields that only nodes write. */
export const NodeFill = PublicFill.extend({ builder: Address.optional(), deployerFee: Decimal.optional() })

/** `fills` are `[wallet, fill]`; `shown` is the published schema of a fill. */
function fillsFrames<const Type extends string>(type: Type, shown: z.ZodType = NodeFill) {
  const frameOf = <Row extends z.ZodType>(row: Row) =>
    z.object({ channel: z.literal(type), fills: z.array(row), ...META_FIELDS })
  return {
    frame: frameOf(UserFill),
    published: frameOf(z.tuple([Address.describe('Wallet'), shown.describe('Fill')])),
  }
}

/** `pieces` are JSON strings of `[wallet, fill]`; `more` is appended after them. */
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
  aggregateByTime: AggregateByTime.describe('Whether partial fills of one order are merged. Default: false'),
}

export const EXAMPLE_FILL: UserFill = [
  USER,
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
/** The same position, closed by a liquidation. */
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
  summary: 'Fills of all wallets, in one market or all markets',
  example: { request: { coin: 'BTC' }, fill: EXAMPLE_FILL },
  request: z
    .strictObject({
      type: z.literal('allFills'),
      coin: CoinName.optional().describe('Market. Default: all markets'),
      ...AGGREGATE,
    })
    .transform(({ coin, aggregateByTime = false }) => ({ names: [coin ?? EVERY], aggregate: aggregateByTime })),
  by: 'coin',
  namesOf: ([, { coin }]) => [coin, EVERY],
})

export const builderFills = fillsChannel({
  type: 'builderFills',
  summary: 'Fills of orders sent through up to 1,000 builders',
  example: { request: { builder: BUILDER }, fill: EXAMPLE_FILL },
  request: z
    .strictObject({
      type: z.literal('builderFills'),
      builder: WalletAddress.optional().describe('Builder address'),
      addresses: Wallets.optional().describe(
        'Builder addresses in any letter case. Send exactly one of `addresses` and `builder`',
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

/** Includes both sides of each liquidation. */
export const liquidationFills = fillsChannel({
  type: 'liquidationFills',
  summary: 'Liquidation fills of all wallets',
  example: { request: {}, fill: EXAMPLE_LIQUIDATION },
  request: z
    .strictObject({ type: z.literal('liquidationFills') })
    .transform(() => ({ names: [EVERY], aggregate: false })),
  fillSchema: NodeFill.required({ liquidation: true }),
  by: null,
  namesOf: ([, { liquidation }]) => (liquidation ? [EVERY] : []),
})

const MAIN_DEX = 'main'
const dexKey = (builder: string, dex: string) => `${builder} ${dex}`

/** The log knows the builder of a position (block-log/position-builders.ts). Here the builder is added to the fill. */
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
        .regex(/^[\x21-\x7e]{1,64}$/, `must be a DEX name or "${MAIN_DEX}"`)
        .optional()
        .describe('DEX filter: `main` or a DEX name'),
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

/** The same fills again, for subscriptions with `user`. */
const userData = <Schema extends z.ZodType>(fill: Schema) => ({
  data: z.object({ user: Address, fills: z.array(fill) }).optional(),
})
const USER_FRAMES = fillsFrames('userFills')

/** Offsets of the fill in a JSON string of `[wallet, fill]`. All wallets have the same length. */
const FILL_START = `["0x${'0'.repeat(40)}",`.length
const FILL_END = -1

/** A subscription with `user` also gets the public server's shape in `data`, because its SDKs fail without it. */
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
