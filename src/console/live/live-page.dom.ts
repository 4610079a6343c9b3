// What the live page knows, as signals, and what it does: one link, one market at a time, of now or of the past. Laws: what
// is drawn changes once a frame of the screen; leaving a market frees all of it.

import { computed, effect, signal } from '@preact/signals'
import type { ConnectionStatus } from '../../client/api.ts'
import { askInfo } from '../../client/info.client.ts'
import { reasonOf } from '../../client/subscription.ts'
import type { WeirError } from '../../client/weir-error.ts'
import type { Interval } from '../../core/candle-interval.ts'
import { addressWith, go, params } from '../address.dom.ts'
import { isInterval } from './candles.ts'
import { look as lookAt } from './glance.dom.ts'
import { streamLink } from './link.ts'
import { MarketBook } from './market-book.ts'
import { type Market, namedMarkets, perpMarkets, relisted, spotMarkets, withContext, withMids } from './markets.ts'
import { FrameScheduler, ServerClock } from './page-time.ts'
import { fetchPass } from './pass.dom.ts'
import { PlayedMarket } from './played-market.ts'
import { type Happening, type Trade, withHappening, withTrades } from './recent.ts'
import { browserRuntime, pageNow } from './runtime.dom.ts'

const ANSWER_MS = 15_000
const LISTED_MS = 60_000
const LIST_AGAIN_MS = 5_000
/** A link that is only broken comes back sooner. */
const GLANCE_AFTER_MS = 3_000
/** Coins of a token for few that are followed in the list. */
const FOLLOWED = 8

export const clock = new ServerClock()
const frames = new FrameScheduler((run) => requestAnimationFrame(run))

export const linkState = signal<ConnectionStatus>({ state: 'connecting', attempt: 0 })
/** Without a link: the gateway said when to come back, and has not been reached since. */
export const isBusy = signal(false)
export const timeline = signal<readonly Happening[]>([])
export const markets = signal<readonly Market[]>([])
export const trades = signal<readonly Trade[]>([])
/** Counts changes of the book, one for each frame of the screen at most. */
export const bookTurn = signal(0)
/** Null: of now. */
export const played = signal<PlayedMarket | null>(null)
const isPast = signal(false)

const first = computed(() => markets.value.find(({ volume }) => volume > 0)?.coin ?? markets.value[0]?.coin ?? null)
export const coin = computed(() => params.value.get('coin') || first.value)
export const interval = computed<Interval>(() => {
  const wanted = params.value.get('interval') ?? ''
  return isInterval(wanted) ? wanted : '1m'
})

let book: MarketBook | null = null
/** What came since the last frame of the screen, of what each frame of the socket tells whole. */
let mids: Readonly<Record<string, string>> = {}
let lastTrades: readonly Trade[] = []
const bookChanged = frames.drawing(() => void bookTurn.value++)
const midsChanged = frames.drawing(() => {
  markets.value = withMids(markets.value, mids, clock.now(pageNow()))
})
const tradesChanged = frames.drawing(() => {
  trades.value = lastTrades
})

function happened(kind: Happening['kind'], text: string): void {
  timeline.value = withHappening(timeline.peek(), { atMs: clock.now(pageNow()), kind, text })
}

/** The live book; null while the past is played, or nothing is chosen. */
export const liveBook = () => book

/** How long the gateway asked to be left alone; 0: it did not. */
let askedToWaitMs = 0

export const link = streamLink(
  browserRuntime,
  async (isFresh) => {
    const pass = await fetchPass(isFresh, clock, listed)
    askedToWaitMs = pass.ok ? 0 : (pass.waitMs ?? 0)
    return pass
  },
  {
    onState: (state) => {
      const was = linkState.peek().state
      linkState.value = state
      if (state.state !== 'connecting') isBusy.value = state.state === 'waiting' && askedToWaitMs > 0
      if (state.state === 'open') happened('good', 'The link is up')
      else if (state.state === 'waiting' && was !== 'waiting') happened('bad', `No link: ${state.reason}`)
      else if (state.state === 'fatal') happened('bad', `Refused: ${state.reason}`)
    },
    onNotice: (text) => happened('wait', `The gateway says: ${text}`),
  },
)

/** What a question came to: `value`, or why there is none; `lost`: it may be asked again. */
type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly lost: boolean }

/** An info question. */
export async function ask(question: object): Promise<Answer> {
  const endpoint = link.endpoint()
  if (!endpoint) return { ok: false, reason: 'not connected', lost: true }
  const asking = { ...browserRuntime, endpoint, timeoutMs: ANSWER_MS, retries: 0, maxRetryWaitMs: 0 }
  return askInfo<unknown>(asking, question).then(
    ({ data }) => ({ ok: true, value: data }),
    ({ message, status }: WeirError) => ({
      ok: false,
      reason: message,
      lost: status === null || status === 429 || status >= 500,
    }),
  )
}

let listedFor: string | null = null
let listingAgain: ReturnType<typeof setTimeout> | undefined
let leaveList: (() => void)[] = []

/** The list of markets, of the coins that the token is for. */
function listed(coins: readonly string[] | null): void {
  const key = JSON.stringify(coins)
  if (listedFor === key) return
  listedFor = key
  for (const leave of leaveList) leave()
  const refused = (reason: string) => happened('wait', `The list of markets: ${reasonOf(reason)}`)
  if (coins !== null) {
    markets.value = namedMarkets(coins)
    leaveList = coins.slice(0, FOLLOWED).map((name) =>
      link.subscribe(
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
  const timer = setInterval(() => void list(), LISTED_MS)
  const leave = link.subscribe(
    { type: 'allMids' },
    {
      live: () => void list(),
      refused,
      frame: (frame) => {
        if (frame.channel !== 'allMids') return
        mids = frame.data.mids
        midsChanged()
      },
    },
  )
  leaveList = [leave, () => clearInterval(timer), () => clearTimeout(listingAgain)]
}

async function list(): Promise<void> {
  if (document.visibilityState === 'hidden' && markets.value.length > 0) return
  const [perps, spots] = await Promise.all([ask({ type: 'metaAndAssetCtxs' }), ask({ type: 'spotMetaAndAssetCtxs' })])
  const found: Market[] = []
  try {
    if (perps.ok) found.push(...perpMarkets(perps.value as Parameters<typeof perpMarkets>[0]))
    if (spots.ok) found.push(...spotMarkets(spots.value as Parameters<typeof spotMarkets>[0]))
  } catch {
    happened('wait', 'The list of markets could not be read')
  }
  const isWhole = perps.ok && spots.ok
  if (found.length > 0 && (isWhole || markets.value.length === 0)) markets.value = relisted(markets.value, found)
  if (![perps, spots].some((answer) => !answer.ok && answer.lost)) return
  // Sources may not be ready where the gateway has just begun.
  clearTimeout(listingAgain)
  listingAgain = setTimeout(() => void list(), LIST_AGAIN_MS)
}

function follow(name: string): () => void {
  lastTrades = []
  trades.value = lastTrades
  book = new MarketBook(link, browserRuntime, name, {
    changed: bookChanged,
    happened,
    block: (timeMs) => clock.came(timeMs, pageNow()),
  })
  const own = book
  const leave = link.subscribe(
    { type: 'trades', coin: name },
    {
      refused: (reason) => happened('wait', `Trades: ${reasonOf(reason)}`),
      frame: (frame) => {
        if (frame.channel !== 'trades') return
        lastTrades = withTrades(lastTrades, frame.data)
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
  link.start()
  effect(() => {
    const name = coin.value
    return name === null || isPast.value ? undefined : follow(name)
  })
  const isWaiting = computed(() => linkState.value.state === 'waiting' || linkState.value.state === 'connecting')
  effect(() => (isWaiting.value && !isPast.value ? lookWhile() : undefined))
  addEventListener('online', () => link.start())
  addEventListener('offline', () => link.interrupt('the link was broken here'))
}

/** Glances for as long as there is no link, from a moment after it went. */
function lookWhile(): () => void {
  let leave: () => void = () => {}
  const timer = setTimeout(() => {
    happened('wait', 'Without a link this page shows a book every few seconds')
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

export function choose(name: string): void {
  stopPast()
  go(addressWith({ coin: name }))
}

export function chooseInterval(name: Interval): void {
  go(addressWith({ interval: name }), 'replace')
}

export function playPast(fromTime: number, speed: number): void {
  const name = coin.value
  if (name === null) return
  stopPast()
  const toTime = Math.floor(clock.now(pageNow()))
  // The live market is left first: a socket has a body once.
  isPast.value = true
  played.value = new PlayedMarket(link, name, { fromTime, toTime, speed }, { changed: bookChanged, happened })
  bookChanged()
}

/** Back to now. */
export function stopPast(): void {
  played.peek()?.close()
  played.value = null
  isPast.value = false
  bookChanged()
}
