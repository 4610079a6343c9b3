// Text of the live page, by panel.

export const pageTitle = 'Live'
export const pageSubtitle = 'live order book, candles and trades'
export const pagePaidBy = (account: string) => `Billed to ${account}`
export const pagePaidByHint = 'Streaming on this page is billed to this account'
export const pageSignIn = 'Sign in'
export const pageNotices = 'Notices'

export const statusLabel = 'Data status'
export const statusConnection = 'Connection'
export const statusBook = 'Order book'
export const statusHeight = 'Block'
export const statusTime = 'Time (UTC)'
export const statusAge = 'Data age'
export const statusEpoch = 'Epoch'
export const statusChecks = 'Checksums verified'
export const statusNoMarket = 'No market'
export const statusDisconnect = 'Simulate disconnect'
export const statusDisconnectHint = 'Closes the connection once, to show how this page recovers.'
export const statusDisconnected = 'simulated disconnect'
export const statusRetry = 'Try again'
export const statusUnknownMarket = (coin: string) => `Market ${coin} not found. Choose one from the list.`
export const statusRejected = (coin: string, reason: string) => `Order book of ${coin} rejected: ${reason}`
export const statusBusy = 'High demand: until capacity is free, this page shows a new order book every five seconds. '
export const statusBusySignIn = ' for live data.'
export const statusReconnecting = 'Reconnecting. Meanwhile, this page shows a new order book every five seconds.'
export const statusClockName = 'Device clock'
export const statusClock = (size: string, direction: 'fast' | 'slow') =>
  `The clock of this device is ${size} ${direction}. This page uses the gateway’s clock.`

export const CONNECTION = {
  connecting: 'Connecting',
  open: 'Connected',
  waiting: (reason: string, wait: string) => `Disconnected: ${reason}; reconnecting in ${wait}`,
  fatal: 'Rejected',
  closed: 'Closed',
  offline: 'this device is offline',
  noWebSocket: 'This browser has no WebSocket, which live data needs. Use a newer browser.',
  tokenExpired: 'the token expired; getting a new one',
  closedWith: (code: number | null) => (code === null ? 'connection lost' : `closed with code ${code}`),
  status: (status: number) => `status ${status}`,
} as const

export const BOOK_STATES = {
  syncing: 'Syncing',
  'in step': 'In sync',
  'out of step': 'Resyncing',
  gone: 'Not found',
  refused: 'Rejected',
} as const

/** Explanation of each state. */
export const HEALTH = {
  book: {
    syncing: 'The order book is being loaded.',
    'in step':
      'The order book on this page equals the gateway’s: no change is missing, and the checksums of both agree.',
    'out of step': 'A change is missing or a checksum differs, so the order book is being loaded again.',
    gone: 'The gateway has no market of this name. Choose one from the list.',
    refused: 'The gateway rejected the subscription to this order book.',
  },
  noMarket: { text: 'Connected', meaning: 'The list of markets is being loaded.' },
  connecting: { text: 'Connecting', meaning: 'The page is connecting to the gateway.' },
  waiting: { text: 'Reconnecting', meaning: 'The connection was lost. The page reconnects by itself.' },
  ended: { text: 'Not connected', meaning: 'The gateway does not accept this connection.' },
  replay: { meaning: 'The page shows the order book, trades and candles of an earlier time.' },
} as const

export const REPLAY_STATES = {
  waiting: 'Replay: waiting',
  playing: 'Replay: playing',
  paused: 'Replay: paused',
  over: 'Replay: ended',
} as const

export const healthHint = 'Show details'
export const menuLabel = 'More'
export const menuDocs = 'Get this data by API'

export const marketLabel = 'Market'
export const dayPeriod = '24 h '
export const dayChange = '24 h change'
export const dayHigh = '24 h high'
export const dayLow = '24 h low'
export const dayVolume = '24 h volume'
export const fundingRate = 'Funding, 1 h'
export const fundingHint = 'Hourly payment from long to short positions. Negative: from short to long positions.'

export const COPY_HINT = 'Copy price'
export const copied = (price: string) => `Copied ${price}`

export const TABS_LABEL = 'Panels'
export const TABS = { chart: 'Chart', book: 'Book', trades: 'Trades', markets: 'Markets' } as const

export const activityTitle = 'Activity'
export const activityList = 'Events, newest first'
export const activityTimes = (count: number) => ` (${count} times)`
export const activityDisconnected = (reason: string) => `Disconnected: ${reason}`
export const activityRejected = (reason: string) => `Connection rejected: ${reason}`
export const activityNotice = (text: string) => `Notice from the gateway: ${text}`
export const activityMarkets = (reason: string) => `Markets unavailable: ${reason}`
export const activityUnreadableMarkets = 'The list of markets could not be read'
export const activityTrades = (reason: string) => `Trades unavailable: ${reason}`
export const activityEpoch = (epoch: string) => `Order books restarted (epoch ${epoch})`
export const activityBook = (coin: string, state: string, detail: string) => `${coin} ${state.toLowerCase()}: ${detail}`
export const activityPosition = (height: number | undefined, seq: number | undefined) => `block ${height}, seq ${seq}`
export const activityBookDisconnected = 'disconnected'
export const activityNoMarket = 'the gateway has no such market'
export const activityReplayStarted = 'Replay started'
export const activityReplayEnded = (reason: string) => `Replay ended: ${reason}`
export const activityReplayFinished = 'Replay finished'
export const activityReplayGap = (from: number | undefined, to: number | undefined) =>
  `Replay: blocks ${from} to ${to} are missing`
export const activityReplayNoBooks = (from: number | undefined) => `Replay: no order books from block ${from}`

export const MARKETS = {
  title: 'Markets',
  live: ' live',
  filter: 'Filter markets',
  filterHint: 'Filter  /',
  table: 'Markets by volume, highest first',
  columns: { market: 'Market', price: 'Price', change: '24 h', volume: 'Vol. ($)', age: 'Age' },
  loading: 'Loading markets…',
  empty: 'No matching markets.',
} as const

export const bookTitle = 'Order book'
export const bookStep = 'Price step'
export const bookRowsPerSide = 'Rows per side'
export const bookRows = (count: number) => `${count} rows`
export const bookSpread = (size: string, basisPoints: string) => `Spread ${size} · ${basisPoints} bp`
export const bookOneSided = 'One side is empty'
export const bookSyncing = 'Syncing order book…'
export const bookLevels = (bids: string, asks: string) => `${bids} bid levels, ${asks} ask levels`
export const bookAsks = 'Asks, highest first'
export const bookBids = 'Bids, highest first'
export const bookColumnsPrice = 'Price'
export const bookColumnsSize = 'Size'
export const bookColumnsTotal = 'Total'

export const tradesTitle = 'Trades'
export const tradesTable = 'Latest trades, newest first; times are UTC'
export const tradesColumnsTime = 'Time (UTC)'
export const tradesBought = ' bought'
export const tradesSold = ' sold'
export const tradesEmpty = 'No trades yet.'

export const depthTitle = 'Depth'
export const depthRange = 'Distance from the mid price'
export const depthPercent = (share: number) => `±${share * 100}%`
export const depthChart = (low: string, high: string, max: string) => `Depth from ${low} to ${high}, up to ${max}`
export const depthNone = 'No depth data'
export const depthMax = (size: string) => `up to ${size}`

export const chartTitle = 'Candles'
export const chartInterval = 'Interval'
export const chartLabel = (coin: string, interval: string) => `Candles of ${coin}, ${interval}`
export const chartPrices = ([open, high, low, close]: readonly string[]) => `O ${open}  H ${high}  L ${low}  C ${close}`
export const chartVolume = (volume: string) => `  Vol ${volume}`
export const chartNoMarket = 'no market'
export const chartFailed = (reason: string) => `Candles unavailable: ${reason}`
export const chartNotLoaded = 'The chart could not be loaded. Reload the page.'

export const replayPill = 'Replay'
export const replayPillSpeed = (factor: number) => `UTC · ${factor}×`
export const replayLabel = 'Replay'
export const replayFrom = 'Replay from (UTC)'
export const replaySpeed = 'Speed'
export const replaySpeedText = (factor: number) => `${factor}×`
export const replayPlay = 'Play'
export const replaySeek = 'Seek'
export const replayPause = 'Pause'
export const replayResume = 'Resume'
export const replayLive = 'Back to live'
export const replayWaiting = 'Waiting for the archive, which stores blocks once a minute.'
export const replayNoTime = 'Choose a date and time (UTC).'
export const replayFuture = 'Choose a time in the past, by the gateway’s clock.'

export const infoNotConnected = 'not connected'
