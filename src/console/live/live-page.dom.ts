// The state of the live page as signals, and its actions: one connection, and one market at a time, live or replayed.
// Invariants: signals that are drawn change at most once per animation frame; leaving a market releases all of it.

import { computed, effect, signal } from '@preact/signals'
import type { ConnectionStatus } from '../../client/api.ts'
import { sendInfo } from '../../client/info.client.ts'
import { reasonOf } from '../../client/subscription.ts'
import type { WeirError } from '../../client/weir-error.ts'
import type { Interval } from '../../core/candle-interval.ts'
import { navigate, params, urlWith } from '../address.dom.ts'
import { visitor } from '../session.dom.ts'
import { isInterval } from './candles.ts'
import { dateTimeInputText, parseDateTimeInput } from './formats.ts'
import { pollGlance as lookAt } from './glance.dom.ts'
import { MarketBook } from './market-book.ts'
import { MarketReplay } from './market-replay.ts'
import { type Market, mergeListing, namedMarkets, perpMarkets, spotMarkets, withContext, withMids } from './markets.ts'
import { FrameScheduler, ServerClock } from './page-time.ts'
import { type ActivityEntry, addActivity, addTrades, type Trade } from './recent.ts'
import { browserRuntime, pageNow } from './runtime.dom.ts'
import { fetchStreamAccess } from './stream-access.dom.ts'
import { createStreamConnection } from './stream-connection.ts'
import * as strings from './strings.ts'
import { CONNECTION } from './strings.ts'

const INFO_TIMEOUT_MS = 15_000
const MARKETS_REFRESH_MS = 60_000
const MARKETS_RETRY_MS = 5_000
/** The page polls only if it is disconnected for longer than this. */
const GLANCE_AFTER_MS = 3_000
/** If a token allows only some coins, the list follows at most this many of them. */
const FOLLOWED_MAX = 8

export const clock = new ServerClock()
const frameScheduler = new FrameScheduler((run) => requestAnimationFrame(run))

export const connectionState = signal<ConnectionStatus>({ state: 'connecting', attempt: 0 })
/** Disconnected because the gateway asked to wait. */
export const isBusy = signal(false)
export const activity = signal<readonly ActivityEntry[]>([])
export const markets = signal<readonly Market[]>([])
export const trades = signal<readonly Trade[]>([])
/** Increases when the book changes, at most once per animation frame. */
export const bookVersion = signal(0)
/** Null while live. */
export const replay = signal<MarketReplay | null>(null)
const isReplaying = signal(false)
/** A new object for each start and each seek of a replay; null while live. */
export const replayRun = signal<{ readonly past: MarketReplay; readonly fromMs: number } | null>(null)

const topMarket = computed(() => markets.value.find(({ volume }) => volume > 0)?.coin ?? markets.value[0]?.coin ?? null)
export const coin = computed(() => params.value.get('coin') || topMarket.value)
export const market = computed(() => markets.value.find((one) => one.coin === coin.value))
export const interval = computed<Interval>(() => {
  const chosen = params.value.get('interval') ?? ''
  return isInterval(chosen) ? chosen : '1m'
})

let book: MarketBook | null = null
/** The latest values since the last animation frame. */
let mids: Readonly<Record<string, string>> = {}
let lastTrades: readonly Trade[] = []
const bookChanged = frameScheduler.deferred(() => void bookVersion.value++)
const midsChanged = frameScheduler.deferred(() => {
  markets.value = withMids(markets.value, mids, clock.now(pageNow()))
})
const tradesChanged = frameScheduler.deferred(() => {
  trades.value = lastTrades
})

export function logActivity(kind: ActivityEntry['kind'], text: string): void {
  activity.value = addActivity(activity.peek(), { atMs: clock.now(pageNow()), kind, text })
}

/** The live book; null during a replay, or while no market is selected. */
export const liveBook = () => book

/** The wait that the gateway requested; 0 if none. */
let retryAfterMs = 0

export const connection = createStreamConnection(
  browserRuntime,
  async (isFresh) => {
    const access = await fetchStreamAccess(isFresh, clock, subscribeMarkets)
    retryAfterMs = access.ok ? 0 : (access.waitMs ?? 0)
    return access
  },
  {
    onState: (state) => {
      const was = connectionState.peek().state
      connectionState.value = state
      if (state.state !== 'connecting') isBusy.value = state.state === 'waiting' && retryAfterMs > 0
      if (state.state === 'open') logActivity('good', CONNECTION.open)
      else if (state.state === 'waiting' && was !== 'waiting')
        logActivity('bad', strings.activityDisconnected(state.reason))
      else if (state.state === 'fatal') logActivity('bad', strings.activityRejected(state.reason))
    },
    onNotice: (text) => logActivity('wait', strings.activityNotice(text)),
  },
)

type InfoResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly isRetryable: boolean }

/** Sends an info request with the token of the stream. */
export async function requestInfo(body: object): Promise<InfoResult> {
  const endpoint = connection.endpoint()
  if (!endpoint) return { ok: false, reason: strings.infoNotConnected, isRetryable: true }
  const options = { ...browserRuntime, endpoint, timeoutMs: INFO_TIMEOUT_MS, retries: 0, maxRetryWaitMs: 0 }
  return sendInfo<unknown>(options, body).then(
    ({ data }) => ({ ok: true, value: data }),
    ({ message, status }: WeirError) => ({
      ok: false,
      reason: message,
      isRetryable: status === null || status === 429 || status >= 500,
    }),
  )
}

let marketsKey: string | null = null
let marketsRetry: ReturnType<typeof setTimeout> | undefined
let marketUnsubscribes: (() => void)[] = []

/** Subscribes to the markets that the token allows. */
function subscribeMarkets(coins: readonly string[] | null): void {
  const key = JSON.stringify(coins)
  if (marketsKey === key) return
  marketsKey = key
  for (const leave of marketUnsubscribes) leave()
  const refused = (reason: string) => logActivity('wait', strings.activityMarkets(reasonOf(reason)))
  if (coins !== null) {
    markets.value = namedMarkets(coins)
    marketUnsubscribes = coins.slice(0, FOLLOWED_MAX).map((name) =>
      connection.subscribe(
        { type: 'activeAssetCtx', coin: name },
        {
          refused,
          frame: (frame) => {
            if (frame.channel !== 'activeAssetCtx' && frame.channel !== 'activeSpotAssetCtx') return
            markets.value = withContext(markets.value, name, frame.data.ctx, clock.now(pageNow()))
          },
        },
      ),
    )
    return
  }
  const timer = setInterval(() => void loadMarkets(), MARKETS_REFRESH_MS)
  const leave = connection.subscribe(
    { type: 'allMids' },
    {
      live: () => void loadMarkets(),
      refused,
      frame: (frame) => {
        if (frame.channel !== 'allMids') return
        mids = frame.data.mids
        midsChanged()
      },
    },
  )
  marketUnsubscribes = [leave, () => clearInterval(timer), () => clearTimeout(marketsRetry)]
}

async function loadMarkets(): Promise<void> {
  if (document.visibilityState === 'hidden' && markets.value.length > 0) return
  const [perps, spots] = await Promise.all([
    requestInfo({ type: 'metaAndAssetCtxs' }),
    requestInfo({ type: 'spotMetaAndAssetCtxs' }),
  ])
  const found: Market[] = []
  try {
    if (perps.ok) found.push(...perpMarkets(perps.value as Parameters<typeof perpMarkets>[0]))
    if (spots.ok) found.push(...spotMarkets(spots.value as Parameters<typeof spotMarkets>[0]))
  } catch {
    logActivity('wait', strings.activityUnreadableMarkets)
  }
  const isComplete = perps.ok && spots.ok
  if (found.length > 0 && (isComplete || markets.value.length === 0)) markets.value = mergeListing(markets.value, found)
  if (![perps, spots].some((result) => !result.ok && result.isRetryable)) return
  // Right after the gateway started, its sources may not be ready.
  clearTimeout(marketsRetry)
  marketsRetry = setTimeout(() => void loadMarkets(), MARKETS_RETRY_MS)
}

function followMarket(name: string): () => void {
  lastTrades = []
  trades.value = lastTrades
  book = new MarketBook(connection, browserRuntime, name, {
    onChange: bookChanged,
    onActivity: logActivity,
    onBlock: (timeMs) => clock.observeBlock(timeMs, pageNow()),
  })
  const own = book
  const leave = connection.subscribe(
    { type: 'trades', coin: name },
    {
      refused: (reason) => logActivity('wait', strings.activityTrades(reasonOf(reason))),
      frame: (frame) => {
        if (frame.channel !== 'trades') return
        lastTrades = addTrades(lastTrades, frame.data)
        tradesChanged()
      },
    },
  )
  bookChanged()
  return () => {
    leave()
    own.close()
    if (book === own) book = null
  }
}

export function start(): void {
  startFromAddress()
  connection.start()
  effect(() => {
    const name = coin.value
    return name === null || isReplaying.value ? undefined : followMarket(name)
  })
  const isWaiting = computed(
    () => connectionState.value.state === 'waiting' || connectionState.value.state === 'connecting',
  )
  effect(() => (isWaiting.value && !isReplaying.value ? pollWhileDisconnected() : undefined))
  addEventListener('online', () => connection.start())
  addEventListener('offline', () => connection.interrupt(CONNECTION.offline))
}

const ADDRESS_SPEED = 10

/**
 * Starts the replay that the address names, once the page is connected and knows the time. Until then, nothing is followed.
 * An owner pays for a replay, so only a click starts it: anybody can send a link.
 */
function startFromAddress(): void {
  const fromMs = parseDateTimeInput(params.peek().get('replay') ?? '')
  if (Number.isNaN(fromMs)) return
  let isDue = true
  isReplaying.value = true
  effect(() => {
    if (!isDue || coin.value === null || connectionState.value.state !== 'open') return
    isDue = false
    if (fromMs >= clock.now(pageNow())) stopReplay()
    else if (visitor.peek() === null) startReplay(fromMs, ADDRESS_SPEED)
    else isReplaying.value = false
  })
}

/** Polls a book while disconnected, after a short delay. */
function pollWhileDisconnected(): () => void {
  let leave: () => void = () => {}
  const timer = setTimeout(() => {
    logActivity('wait', strings.statusReconnecting)
    leave = lookAt(
      () => coin.peek(),
      (came) => {
        const nowMs = clock.now(pageNow())
        if (markets.peek().length === 0) markets.value = namedMarkets(Object.keys(came))
        markets.value = withMids(markets.peek(), came, nowMs)
        bookChanged()
      },
    )
  }, GLANCE_AFTER_MS)
  return () => {
    clearTimeout(timer)
    leave()
  }
}

export function selectMarket(name: string): void {
  stopReplay()
  navigate(urlWith({ coin: name }))
}

export function selectInterval(name: Interval): void {
  navigate(urlWith({ interval: name }), 'replace')
}

export function startReplay(fromTime: number, speed: number): void {
  const name = coin.value
  if (name === null) return
  stopReplay()
  const toTime = Math.floor(clock.now(pageNow()))
  // The live market is released first, because a socket can hold each subscription only once.
  isReplaying.value = true
  const past = new MarketReplay(
    connection,
    name,
    { fromTime, toTime, speed },
    { onChange: bookChanged, onActivity: logActivity },
  )
  replay.value = past
  replayRun.value = { past, fromMs: fromTime }
  setReplayAddress(fromTime)
  logActivity('good', strings.activityReplayStarted)
  bookChanged()
}

/** NaN: no replay. */
function setReplayAddress(fromMs: number): void {
  navigate(urlWith({ replay: dateTimeInputText(fromMs) }), 'replace')
}

export function seekReplay(past: MarketReplay, fromMs: number): void {
  past.seek(fromMs)
  replayRun.value = { past, fromMs }
  setReplayAddress(fromMs)
}

/** Returns to live data. */
export function stopReplay(): void {
  replay.peek()?.close()
  replay.value = null
  replayRun.value = null
  isReplaying.value = false
  setReplayAddress(Number.NaN)
  bookChanged()
}
