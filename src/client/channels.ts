// How each channel's bodies and frames name coins and users. Written by hand, because the schemas would make
// up most of a browser bundle. test/client/channels.test.ts compares it with the catalogue.

import { dexOf } from '../core/coin.ts'

export interface ChannelFacts {
  readonly source: 'events' | 'books' | 'views' | 'states' | 'l4'
  /** Values of `channel` in its frames if they differ from its type. */
  readonly frameNames?: readonly string[]
  /** Earlier blocks can be requested with `fromBlock`. */
  readonly canReplay?: true
  /** Only frames of a body with `user` have `data`. */
  readonly hasUserForm?: true
  /** One frame shows all coins of a body. */
  readonly isJoint?: true
  /** Index names of a row. Bodies that want every row use `EVERY`. */
  readonly namesOf?: (row: unknown) => readonly string[]
}

/** Index name of bodies that want every row. */
const EVERY = ''
const MAIN_DEX = 'main'

interface Row {
  readonly coin?: unknown
  readonly s?: unknown
  readonly user?: unknown
  readonly builder?: unknown
}
const fieldsOf = (row: unknown): Row => Object(row) as Row
/** Parts of a `[user, fill]` row. */
const userIn = (row: unknown): string => String((row as unknown[] | null)?.[0])
const fillIn = (row: unknown): Row => fieldsOf((row as unknown[] | null)?.[1])
const everyRow = (): readonly string[] => [EVERY]

const STATE: ChannelFacts = { source: 'states' }
const REPLAYABLE = { source: 'events', canReplay: true } as const

/** By subscription type. */
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

/** Undefined for a channel that only a newer gateway knows. */
export function factsOf(type: string): ChannelFacts | undefined {
  return Object.hasOwn(FACTS, type) ? FACTS[type] : undefined
}

/** The body type of frames with this name; undefined if unknown. */
export function typeOfFrame(name: string): string | undefined {
  return TYPES.get(name)
}

/** True if the gateway can resend earlier blocks of the channel (`fromBlock`). */
export function canResume(type: string): boolean {
  return factsOf(type)?.canReplay === true
}

/** Index names of an event body. */
export function namesOfEvents(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { addresses, users, user, builder, dex, coin } = body
  if (builder !== undefined && dex !== undefined) return [`${builder} ${dex}`]
  return [addresses ?? users ?? user ?? builder ?? coin ?? EVERY].flat().map(String)
}
