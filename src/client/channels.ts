// For each channel, how its bodies and frames name coins and users. This is written by hand, because the schemas would
// take up most of a browser bundle. test/client/channels.test.ts compares it with the catalogue.

import { dexOf } from '../core/coin.ts'

export interface ChannelFacts {
  readonly source: 'events' | 'books' | 'views' | 'states' | 'l4'
  /** The values of `channel` in its frames, if they differ from the type of the channel. */
  readonly frameNames?: readonly string[]
  /** Whether a body can request earlier blocks with `fromBlock`. */
  readonly canReplay?: true
  /** Whether frames have `data` only if their body has a `user`. */
  readonly hasUserForm?: true
  /** Whether one frame contains all coins of a body. */
  readonly isJoint?: true
  /** Returns the index names of a row. A body that wants every row has the name `EVERY`. */
  readonly namesOf?: (row: unknown) => readonly string[]
}

/** The index name of bodies that want every row. */
const EVERY = ''
const MAIN_DEX = 'main'

interface Row {
  readonly coin?: unknown
  readonly s?: unknown
  readonly user?: unknown
  readonly builder?: unknown
}
const fieldsOf = (row: unknown): Row => Object(row) as Row
/** The user and the fill of a `[user, fill]` row. */
const userIn = (row: unknown): string => String((row as unknown[] | null)?.[0])
const fillIn = (row: unknown): Row => fieldsOf((row as unknown[] | null)?.[1])
const everyRow = (): readonly string[] => [EVERY]

const STATE: ChannelFacts = { source: 'states' }
const REPLAYABLE = { source: 'events', canReplay: true } as const

/** The facts of each channel, by subscription type. */
const FACTS: Readonly<Record<string, ChannelFacts>> = {
  userFills: { ...REPLAYABLE, hasUserForm: true, namesOf: (row) => [userIn(row)] },
  userNonFundingLedgerUpdates: REPLAYABLE,
  allFills: { ...REPLAYABLE, namesOf: (row) => [String(fillIn(row).coin), EVERY] },
  l2BookDiff: { source: 'books' },
  l2BookDiff2: { source: 'books' },
  l4Book: { source: 'l4' },
  trades: { ...REPLAYABLE, namesOf: (row) => [String(fieldsOf(row).coin)] },
  builderFills: { ...REPLAYABLE, namesOf: (row) => [String(fillIn(row).builder)] },
  liquidationFills: { ...REPLAYABLE, namesOf: everyRow },
  builderLiquidations: {
    ...REPLAYABLE,
    namesOf: (row) => {
      const { builder, coin } = fillIn(row)
      return [String(builder), `${builder} ${dexOf(String(coin)) || MAIN_DEX}`]
    },
  },
  userEvents: { source: 'events', frameNames: ['user'] },
  userFundings: { source: 'events' },
  userTwapSliceFills: REPLAYABLE,
  userTwapHistory: REPLAYABLE,
  notification: REPLAYABLE,
  orderUpdates: { source: 'events', hasUserForm: true, namesOf: (row) => [String(fieldsOf(row).user)] },
  outcomeMetaUpdates: { source: 'events', namesOf: everyRow },
  oracleUpdates: {
    ...REPLAYABLE,
    namesOf: (row) => {
      const coin = String(fieldsOf(row).coin)
      return [coin, `dex ${dexOf(coin)}`, EVERY]
    },
  },
  // Frames for wallets have a `user`, and are not matched by their rows.
  writerActions: { ...REPLAYABLE, namesOf: everyRow },
  candle: { source: 'events', namesOf: (row) => [String(fieldsOf(row).s)] },
  bbo: { source: 'views' },
  l2Book: { source: 'views' },
  allMids: { source: 'views', isJoint: true },
  activeAssetCtx: { ...STATE, frameNames: ['activeAssetCtx', 'activeSpotAssetCtx'] },
  activeAssetData: STATE,
  allDexsAssetCtxs: STATE,
  allDexsClearinghouseState: STATE,
  assetCtxs: STATE,
  clearinghouseState: STATE,
  fastAssetCtxs: STATE,
  openOrders: STATE,
  spotAssetCtxs: STATE,
  spotState: STATE,
  twapStates: STATE,
  userHistoricalOrders: STATE,
  webData2: STATE,
  webData3: STATE,
}

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(FACTS).flatMap(([type, { frameNames = [type] }]) => frameNames.map((name) => [name, type] as const)),
)

/** The facts of a channel; undefined if only a newer gateway knows the channel. */
export function factsOf(type: string): ChannelFacts | undefined {
  return Object.hasOwn(FACTS, type) ? FACTS[type] : undefined
}

/** The subscription type of frames with this channel name; undefined if unknown. */
export function typeOfFrame(name: string): string | undefined {
  return TYPES.get(name)
}

/** Whether the gateway can resend earlier blocks of the channel (`fromBlock`). */
export function canResume(type: string): boolean {
  return factsOf(type)?.canReplay === true
}

/** The index names of a body that subscribes to events. */
export function namesOfEvents(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { addresses, users, user, builder, dex, coin } = body
  if (builder !== undefined && dex !== undefined) return [`${builder} ${dex}`]
  if (builder === undefined && dex !== undefined) return [`dex ${dex}`]
  return [addresses ?? users ?? user ?? builder ?? coin ?? EVERY].flat().map(String)
}
